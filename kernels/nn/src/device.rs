//! Where networks train.

#[cfg(any(feature = "cuda", feature = "vulkan"))]
use std::sync::{
    Once,
    atomic::{AtomicUsize, Ordering},
};

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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// Compiled without its feature.
    #[error(
        "this binary was built without {0}; build with `cargo build --release --features {0}`, or use --device cpu"
    )]
    NotCompiled(&'static str),
    /// No GPU or no driver.
    #[error("no {0} device was found; check `{1}`, or use --device cpu")]
    NoGpu(&'static str, &'static str),
    /// A GPU that cannot run a kernel.
    #[error("the {device} device cannot run a kernel: {reason}; {remedy}, or use --device cpu")]
    CannotRun {
        /// The device.
        device: &'static str,
        /// What its driver or its compiler said.
        reason: String,
        /// What to do about it.
        remedy: &'static str,
    },
}

impl Device {
    /// Whether it can be used here.
    ///
    /// # Errors
    /// When it was not compiled in, no such device is there, or it cannot run a kernel.
    pub fn check(self) -> Result<(), DeviceError> {
        match self {
            Self::Cpu => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda => remembered::<cubecl::cuda::CudaRuntime, burn::backend::Cuda>(&CUDA),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda => Err(DeviceError::NotCompiled("cuda")),
            #[cfg(feature = "vulkan")]
            Self::Vulkan => remembered::<cubecl::wgpu::WgpuRuntime, burn::backend::Wgpu>(&VULKAN),
            #[cfg(not(feature = "vulkan"))]
            Self::Vulkan => Err(DeviceError::NotCompiled("vulkan")),
        }
    }
}

/// A kind of GPU, and how to find out what is wrong with it.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
struct Gpu {
    device: &'static str,
    /// Command that lists such devices.
    command: &'static str,
    /// What to do where a kernel does not run.
    remedy: &'static str,
}

#[cfg(feature = "cuda")]
const CUDA: Gpu = Gpu {
    device: "cuda",
    command: "nvidia-smi",
    remedy: "check that the CUDA toolkit, which compiles kernels, is in /usr/local/cuda or where CUDA_PATH says",
};

#[cfg(feature = "vulkan")]
const VULKAN: Gpu = Gpu { device: "vulkan", command: "vulkaninfo --summary", remedy: "update its driver" };

/// Whether the GPU can be used. The answer is kept for the next call.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
fn remembered<R: cubecl::Runtime, B: burn::tensor::backend::Backend>(gpu: &Gpu) -> Result<(), DeviceError> {
    type Answer = (&'static str, Result<(), DeviceError>);
    static ANSWERS: std::sync::Mutex<Vec<Answer>> = std::sync::Mutex::new(Vec::new());
    let mut answers = ANSWERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, answer)) = answers.iter().find(|(asked, _)| *asked == gpu.device) {
        return answer.clone();
    }
    let answer = try_out::<R, B>(gpu);
    answers.push((gpu.device, answer.clone()));
    answer
}

/// Looks for a driver and a device, and runs a kernel there.
///
/// The driver's library is loaded at the first use, and the loader panics where it is missing: that panic
/// is the answer, so nobody needs to read it.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
fn try_out<R: cubecl::Runtime, B: burn::tensor::backend::Backend>(gpu: &Gpu) -> Result<(), DeviceError> {
    let &Gpu { device, command, remedy } = gpu;
    quietly(|| R::client(&R::Device::default())).map_err(|_| DeviceError::NoGpu(device, command))?;
    let run = || burn::tensor::Tensor::<B, 1>::ones([1], &Default::default()).add_scalar(1.0).try_into_data();
    let message = match quietly(run) {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic,
    };
    Err(DeviceError::CannotRun { device, reason: line_of_error(&message).to_owned(), remedy })
}

/// The line that says what went wrong, without the kernel that `CubeCL` prints beside it.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
fn line_of_error(message: &str) -> &str {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.clone().find(|line| line.contains("error: ")).or_else(|| lines.next()).unwrap_or("it gave no reason")
}

/// Runs what may panic, without printing the panic.
///
/// While any thread does so, panics of all threads go to the log alone, because a device may work on a thread of its own.
///
/// # Errors
/// The panic's message.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
pub(crate) fn quietly<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static QUIET: AtomicUsize = AtomicUsize::new(0);
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if QUIET.load(Ordering::Relaxed) == 0 {
                print(panic);
            } else {
                tracing::debug!("{panic}");
            }
        }));
    });
    QUIET.fetch_add(1, Ordering::Relaxed);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    QUIET.fetch_sub(1, Ordering::Relaxed);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
        text.unwrap_or("it gave no reason").to_owned()
    })
}

#[cfg(all(test, any(feature = "cuda", feature = "vulkan")))]
mod tests {
    use super::*;

    #[test]
    fn of_a_kernel_that_does_not_compile_one_line_is_shown() {
        let line = "default_program(1): catastrophic error: cannot open source file \"cuda_runtime.h\"";
        let message =
            format!("\nAn error happened\n  [Compilation Error]\n    {line}\n[Source]\n #include <cuda_runtime.h>");
        assert_eq!(line_of_error(&message), line);
        assert_eq!(line_of_error("\nno such library"), "no such library");
    }
}
