//! What a person reads who interrupts a command that runs tasks.

use veilgraph_runner::output;

use crate::cli::Command;

/// What shells report of a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Lets whoever interrupts a command that runs tasks know that nothing is lost.
pub(super) fn tell_of_interruptions(command: &Command) {
    let runs_tasks = match command {
        Command::Run { .. } | Command::Claims(_) | Command::Predict { .. } => true,
        Command::Advise(arguments) => arguments.surrogates > 0 || arguments.public_graphs > 0,
        _ => false,
    };
    if !runs_tasks {
        return;
    }
    // A second handler in one process is refused, and without one the process just ends.
    let _ = ctrlc::set_handler(|| {
        output::error_line(
            "interrupted; what is finished and the checkpoints are kept, and the same command goes on from there",
        );
        std::process::exit(INTERRUPTED);
    });
}
