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
    /// A GPU with Vulkan (or a software one), through the cargo feature `vulkan`.
    Vulkan,
}

/// Why a device cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// Compiled without its feature.
    #[error(
        "this binary was built without {0}; build with `cargo build --release --features {0}`, or use --device cpu"
    )]
    NotCompiled(&'static str),
    /// No GPU or no driver.
    #[error("no {0} device was found; check `{1}`, or use --device cpu")]
    NoGpu(&'static str, &'static str),
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
            Self::Cuda if is_there::<cubecl::cuda::CudaRuntime>() => Ok(()),
            Self::Cuda if cfg!(feature = "cuda") => Err(DeviceError::NoGpu("cuda", "nvidia-smi")),
            Self::Cuda => Err(DeviceError::NotCompiled("cuda")),
            #[cfg(feature = "vulkan")]
            Self::Vulkan if is_there::<cubecl::wgpu::WgpuRuntime>() => Ok(()),
            Self::Vulkan if cfg!(feature = "vulkan") => Err(DeviceError::NoGpu("vulkan", "vulkaninfo --summary")),
            Self::Vulkan => Err(DeviceError::NotCompiled("vulkan")),
        }
    }
}

/// Whether a driver and a device are there. The answer is kept for the next call.
///
/// The driver's library is loaded at the first use, and the loader panics where it is missing: that panic
/// is the answer, so nobody needs to read it.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
fn is_there<R: cubecl::Runtime>() -> bool {
    static ANSWERS: std::sync::Mutex<Vec<(&'static str, bool)>> = std::sync::Mutex::new(Vec::new());
    let mut answers = ANSWERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let name = std::any::type_name::<R>();
    if let Some(&(_, answer)) = answers.iter().find(|(asked, _)| *asked == name) {
        return answer;
    }
    let answer = quietly(|| R::client(&R::Device::default())).is_ok();
    answers.push((name, answer));
    answer
}

/// Runs what may panic, without printing the panic.
///
/// # Errors
/// The panic's message.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
pub(crate) fn quietly<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    std::panic::set_hook(hook);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
        text.unwrap_or("it gave no reason").to_owned()
    })
}
