//! `advise`: which epsilon a graph can afford, from public knowledge alone.

mod asked;
mod chart;
mod page;
mod questions;
mod recommendation;
mod released;
mod surrogates;
mod words;
mod worth_words;

use rayon::prelude::*;
use serde_json::json;
use veilgraph_runner::belief::{Answer, Knowledge, sentence};
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::output;
use veilgraph_runner::systems::GRID;
use veilgraph_store::Store;

use crate::cli::AdviseArguments;
use recommendation::recommendations;
use released::Released;
use surrogates::{Worth, worths};

/// Everything that was found out.
struct Advice {
    knowledge: Knowledge,
    answers: Vec<Answer>,
    /// What was asked beside that, where it differs from what is usual.
    asked: Vec<String>,
    /// One for each origin of the graphs that networks were trained on.
    worths: Vec<Worth>,
}

/// Says what every budget lets a server believe and do, and what it is worth.
pub(crate) fn advise(store: &Store, arguments: &AdviseArguments) -> anyhow::Result<()> {
    check(arguments)?;
    let released = arguments.released.as_deref().map(|artifact| Released::read(store, artifact)).transpose()?;
    let knowledge = asked::asked(arguments, released)?;
    let models = knowledge.models()?;
    let answers: Vec<Answer> = questions::questions(arguments, &knowledge)?
        .into_par_iter()
        .map(|question| Answer::of(question, &knowledge, &models, arguments.at_most_belief))
        .collect();
    let questions: Vec<_> = answers.iter().map(|answer| &answer.question).collect();
    let worths = worths(store, arguments, &knowledge, &questions)?;
    let advice = Advice { knowledge, answers, asked: asked(arguments), worths };
    if arguments.json {
        output::data(&serde_json::to_string_pretty(&advice.json())?);
    } else {
        advice.print();
    }
    if let Some(path) = &arguments.report {
        page::write(&advice, path)?;
        output::error_line(&format!("{}: the page of this advice", path.display()));
    }
    Ok(())
}

/// What is laid over the usual question, as it was written.
fn asked(arguments: &AdviseArguments) -> Vec<String> {
    let mut asked: Vec<String> = arguments.sets.iter().map(|set| format!("--set {set}")).collect();
    asked.push(format!("--at-most-belief {}", arguments.at_most_belief));
    if arguments.surrogates > 0 || arguments.public_graphs > 0 {
        asked.push(format!("--training-share {}", arguments.training_share));
    }
    asked
}

/// Tables of which `--set` may change a field.
const TABLES: [&str; 5] = ["privatize.links", "similarity", "estimate", "construct", "train"];

fn check(arguments: &AdviseArguments) -> Result<(), ConfigError> {
    if !(arguments.at_most_belief > 0.0 && arguments.at_most_belief < 1.0) {
        let problem = format!("--at-most-belief: {} does not lie between 0 and 1", arguments.at_most_belief);
        return Err(ConfigError(problem));
    }
    if !(0.01..=0.98).contains(&arguments.training_share) {
        let problem = format!("--training-share: {} does not lie between 0.01 and 0.98", arguments.training_share);
        return Err(ConfigError(problem));
    }
    if let Some(epsilon) = arguments.epsilon.iter().find(|epsilon| !(0.001..=100.0).contains(*epsilon)) {
        return Err(ConfigError(format!("--epsilon: {epsilon} does not lie between 0.001 and 100 nats")));
    }
    for set in &arguments.sets {
        let (key, value) = set.split_once('=').unwrap_or((set, ""));
        let key = key.trim();
        let own = [
            ("privatize.links.epsilon", "--epsilon"),
            ("privatize.links.mechanism", "--mechanism"),
            ("privatize.links.degree_fraction", "--degree-fraction"),
        ];
        if let Some((_, argument)) = own.iter().find(|(field, _)| *field == key) {
            return Err(ConfigError(format!("--set {key}: ask about it with {argument}")));
        }
        if !TABLES.iter().any(|table| key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))) {
            let problem = format!(
                "--set {key}: only fields of {} can be laid over what is asked about; what is known about the graph has \
                 arguments of its own",
                TABLES.map(|table| format!("[{table}]")).join(", ")
            );
            return Err(ConfigError(problem));
        }
        if value.contains('[') && !GRID.iter().any(|field| key == format!("train.{field}")) {
            return Err(ConfigError(format!(
                "--set {key}: a list asks about several networks at once; give one value"
            )));
        }
    }
    if let Some(path) = &arguments.report {
        if path.exists() {
            return Err(ConfigError(format!("{}: exists already; name a page that does not", path.display())));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(ConfigError(format!("{}: there is no such folder; make it first", path.display())));
        }
    }
    Ok(())
}

impl Advice {
    fn print(&self) {
        words::preamble(self).iter().for_each(|line| output::line(line));
        output::line("");
        output::line(&words::table_text(self));
        for worth in &self.worths {
            output::line("");
            output::line(&worth_words::worth_text(worth, &self.answers));
        }
        let base = self.knowledge.base_rate();
        for answer in &self.answers {
            output::line("");
            output::line(&sentence(answer, base));
        }
        output::line("");
        recommendations(&self.answers, &self.worths).iter().for_each(|line| output::line(line));
        output::line(words::ASSUMPTIONS);
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "knowledge": self.knowledge.json(),
            "asked": self.asked,
            "answers": self.answers.iter().map(Answer::json).collect::<Vec<_>>(),
            "surrogates": self.worths.iter().map(Worth::json).collect::<Vec<_>>(),
            "recommendations": recommendations(&self.answers, &self.worths),
        })
    }
}
