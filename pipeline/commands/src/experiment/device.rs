//! The device that the command line asks for.

use std::sync::Once;

use veilgraph_train::{Device, DeviceError};

use crate::cli::DeviceChoice;

/// The device of this choice; `Auto` is CUDA where a kernel runs on it, else the processor.
pub(super) fn chosen(choice: DeviceChoice) -> Device {
    match choice {
        DeviceChoice::Cuda => Device::Cuda,
        DeviceChoice::Vulkan => Device::Vulkan,
        DeviceChoice::Cpu => Device::Cpu,
        DeviceChoice::Auto => match Device::Cuda.check() {
            Ok(()) => Device::Cuda,
            Err(error) => {
                warn_of(&error);
                Device::Cpu
            }
        },
    }
}

/// Says once, though every config of the command comes here, that there is a GPU which cannot run a kernel.
fn warn_of(error: &DeviceError) {
    static WARNED: Once = Once::new();
    if matches!(error, DeviceError::CannotRun { .. }) {
        WARNED.call_once(|| tracing::warn!("networks train on the processor, because {error}"));
    }
}
