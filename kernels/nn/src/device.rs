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
            Self::Cuda if cuda_is_there() => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda => Err(DeviceError::NoGpu),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda => Err(DeviceError::NotCompiled),
        }
    }
}

/// Whether a CUDA driver and a device are there; asked once.
///
/// The driver's library is loaded at the first question, and the loader panics where it is missing:
/// that panic is the answer, so nobody needs to read it.
#[cfg(feature = "cuda")]
fn cuda_is_there() -> bool {
    static ANSWER: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *ANSWER.get_or_init(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let count = std::panic::catch_unwind(|| {
            <cubecl::cuda::CudaRuntime as cubecl::Runtime>::enumerate_devices(0, &()).len()
        });
        std::panic::set_hook(hook);
        count.is_ok_and(|count| count > 0)
    })
}
