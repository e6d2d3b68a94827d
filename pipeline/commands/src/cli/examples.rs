//! One example for each command, below its help and in its manual page.

use clap::Command;

/// The command, what it is for, and the words after `veilgraph`.
const EXAMPLES: [(&str, &str, &str); 25] = [
    ("init", "A config for one's own files", "init edges.csv features.csv labels.csv --to mine.toml"),
    ("run", "One run of the demo at other budgets", "run configs/demo.toml --set privatize.links.epsilon=[1,4]"),
    (
        "exec",
        "What a worker does with a key that it is sent",
        "exec 0123456789abcdef0123456789abcdef --store /shared/store",
    ),
    ("plan", "What a change would run again, and cost", "plan configs/demo.toml --set privatize.links.epsilon=2"),
    ("config", "What a config says with all that is laid over it", "config configs/demo.toml --set trials=5"),
    (
        "advise",
        "A graph of ten thousand people with some twenty friends each",
        "advise --nodes 10000 --mean-degree 15-25 --classes 4",
    ),
    (
        "show",
        "The mean weight of the links that the server believes in",
        "show demo/construct/best,epsilon-4,variant-hybrid,trial-0/graph --sql 'SELECT AVG(weight) AS mean FROM artifact'",
    ),
    ("ls", "What the last run of the demo trained", "ls demo/train"),
    ("diff", "What another estimator changed", "diff cora cora-best"),
    ("watch", "How far a long run is, for a program", "watch --once --json"),
    ("verify", "Whether every file is as it was written", "verify"),
    ("gc", "What could go after a month", "gc --older-than 30 --dry-run"),
    ("ledger", "What was released, for a program", "ledger --json"),
    ("report", "A page of two experiments", "report configs/demo.toml configs/cora.toml --name both"),
    ("table", "A table for a paper", "table configs/demo.toml --format latex --score accuracy"),
    (
        "claims",
        "What this repository claims, on Cora",
        "claims claims.toml --quick --data-dir data --published published",
    ),
    ("predict", "The classes of the nodes of another graph", "predict cora/train/trial-0 mine.toml --to predictions"),
    ("export", "What the server may see of a deployment", "export deployment.toml --to for-the-server"),
    ("parameters", "What nodes need to report for themselves", "parameters collection.toml --to parameters.bin"),
    ("collect", "The server's store, from the reports of nodes", "collect reports collection.toml --to server-store"),
    ("fetch", "Cora, into the folder `data`", "fetch cora --data-dir data"),
    ("doctor", "For a report of an error", "doctor --data-dir data"),
    ("completions", "Words that Bash completes", "completions bash"),
    ("man", "Manual pages in the folder `man`", "man --to man"),
    ("", "The demo, and its page", "run configs/demo.toml"),
];

/// The command line with an example below the help of every command, and where to read more.
pub(crate) fn with_examples(mut command: Command) -> Command {
    for (name, about, words) in EXAMPLES {
        let text = format!(
            "Example. {about}:\n  veilgraph {words}\n\nMore in docs/ (`make book`), every field of a config in docs/config.md."
        );
        command = match name {
            "" => command.after_help(text),
            name => command.mut_subcommand(name, |command| command.after_help(text)),
        };
    }
    command
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_has_an_example_that_can_be_called() {
        let command = with_examples(Cli::command());
        for subcommand in command.get_subcommands() {
            let examples = EXAMPLES.iter().filter(|(name, ..)| *name == subcommand.get_name());
            assert_eq!(examples.count(), 1, "{}", subcommand.get_name());
        }
        for (name, _, words) in EXAMPLES {
            let words = words.replace("'SELECT AVG(weight) AS mean FROM artifact'", "query");
            let words: Vec<&str> = std::iter::once("veilgraph").chain(words.split(' ')).collect();
            let matched = command.clone().try_get_matches_from(&words);
            assert!(matched.is_ok(), "{name}: {}", matched.err().map(|error| error.to_string()).unwrap_or_default());
            assert!(name.is_empty() || words[1] == name, "{name}");
        }
    }
}
