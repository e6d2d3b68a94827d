//! What happens where a person interrupts a command.

use veilgraph_runner::output;

use crate::cli::Command;
use crate::new_files::remove_drafts_and_exit;

/// What shells report of a process that was interrupted.
const INTERRUPTED: i32 = 130;

/// Removes the drafts of an interrupted command, and lets whoever interrupts one that runs tasks know that nothing is lost.
pub(super) fn tell_of_interruptions(command: &Command) {
    let runs_tasks = match command {
        Command::Run { .. } | Command::Claims(_) | Command::Predict { .. } => true,
        Command::Advise(arguments) => arguments.surrogates > 0 || arguments.public_graphs > 0,
        _ => false,
    };
    let writes_a_folder = matches!(
        command,
        Command::Collect { .. } | Command::Parameters { .. } | Command::Export { .. } | Command::Report { .. }
    );
    if !runs_tasks && !writes_a_folder {
        return;
    }
    // A second handler in one process is refused, and without one the process just ends.
    let _ = ctrlc::set_handler(move || {
        output::error_line(if runs_tasks {
            "interrupted; what is finished and the checkpoints are kept, and the same command goes on from there"
        } else {
            "interrupted; what was not finished is removed"
        });
        remove_drafts_and_exit(INTERRUPTED);
    });
}
