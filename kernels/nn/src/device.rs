//! Where networks train.

use serde::{Deserialize, Serialize};

/// Where networks train.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// The processor: reproducible bit for bit.
    #[default]
    Cpu,
    /// An NVIDIA GPU, through the cargo feature `cuda`.
    Cuda,
}

/// Why a device cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// Compiled without CUDA.
    #[error(
        "this binary was built without CUDA; build with `cargo build --release --features cuda`, or use --device cpu"
    )]
    NotCompiled,
    /// No GPU or no driver.
    #[error("no CUDA device was found; check `nvidia-smi`, or use --device cpu")]
    NoGpu,
}

impl Device {
    /// Whether it can be used here.
    ///
    /// # Errors
    /// When it was not compiled in, or no such device is there.
    pub fn check(self) -> Result<(), DeviceError> {
        match self {
            Self::Cpu => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda => {
                // Asked before any tensor exists: without a driver, the first tensor would panic.
                let devices = <cubecl::cuda::CudaRuntime as cubecl::Runtime>::enumerate_devices(0, &());
                if devices.is_empty() { Err(DeviceError::NoGpu) } else { Ok(()) }
            }
            #[cfg(not(feature = "cuda"))]
            Self::Cuda => Err(DeviceError::NotCompiled),
        }
    }
}
