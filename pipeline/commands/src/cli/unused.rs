//! Options of `run` that other commands about experiments take and do not use: their help leaves them out.

use clap::Command;

/// The commands, each with the options that change nothing there.
const UNUSED: [(&str, &[&str]); 6] = [
    ("report", &["jobs", "memory_limit", "checkpoint_seconds", "spend", "accept_belief", "json"]),
    ("table", &["jobs", "memory_limit", "checkpoint_seconds", "spend", "accept_belief", "json"]),
    ("predict", &["until", "checkpoint_seconds", "json"]),
    (
        "export",
        &[
            "until",
            "device",
            "jobs",
            "memory_limit",
            "checkpoint_seconds",
            "spend",
            "accept_belief",
            "side",
            "simulation",
            "json",
        ],
    ),
    ("parameters", &["until", "device", "jobs", "checkpoint_seconds", "side", "simulation", "json"]),
    ("collect", &["until", "device", "jobs", "checkpoint_seconds", "accept_belief", "side", "simulation", "json"]),
];

/// The command line without these options in the help of these commands.
pub(crate) fn without_unused_options(command: Command) -> Command {
    UNUSED.into_iter().fold(command, |command, (name, options)| {
        command.mut_subcommand(name, |command| {
            options.iter().fold(command, |command, option| command.mut_arg(*option, |arg| arg.hide(true)))
        })
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn help_leaves_out_what_a_command_does_not_use() {
        let command = without_unused_options(Cli::command());
        let hidden = |name: &str| -> Vec<String> {
            let arguments = command.find_subcommand(name).expect(name).get_arguments();
            arguments.filter(|arg| arg.is_hide_set()).map(|arg| arg.get_id().to_string()).collect()
        };
        for (name, options) in UNUSED {
            let (mut found, mut wanted) = (hidden(name), options.to_vec());
            found.sort();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{name}");
        }
        assert_eq!(hidden("run"), Vec::<String>::new());
    }
}
