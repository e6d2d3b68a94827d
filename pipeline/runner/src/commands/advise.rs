//! `advise`: which epsilon a graph can afford, from public knowledge alone.

mod answer;
mod chart;
mod deployment;
mod knowledge;
mod page;
mod range;
mod recommendation;
mod released;
mod surrogates;
mod verdict;
mod words;

use rayon::prelude::*;
use serde_json::json;
use veilgraph_store::Store;

use crate::cli::AdviseArguments;
use crate::config::ConfigError;
use crate::output;
use answer::Answer;
pub(crate) use deployment::{believed, check_belief, sentences};
pub(crate) use knowledge::{Knowledge, StatedKnowledge};
pub(crate) use range::Range;
use recommendation::recommendations;
use released::Released;
use surrogates::Worth;

/// Everything that was found out.
struct Advice {
    knowledge: Knowledge,
    answers: Vec<Answer>,
    worth: Option<Worth>,
}

/// Says what every budget lets a server believe and do, and what it is worth.
pub(crate) fn advise(store: &Store, arguments: &AdviseArguments) -> anyhow::Result<()> {
    check(arguments)?;
    let released = arguments.released.as_deref().map(|artifact| Released::read(store, artifact)).transpose()?;
    let knowledge = Knowledge::asked(arguments, released)?;
    let models = knowledge.models()?;
    let answers: Vec<Answer> = answer::questions(arguments, &knowledge)?
        .into_par_iter()
        .map(|question| Answer::of(question, &knowledge, &models, arguments.at_most_belief))
        .collect();
    let questions: Vec<_> = answers.iter().map(|answer| &answer.question).collect();
    let is_worth_asked = arguments.surrogates > 0 || arguments.public_graphs > 0;
    let worth = is_worth_asked.then(|| Worth::of(store, arguments, &knowledge, &questions)).transpose()?;
    let advice = Advice { knowledge, answers, worth };
    if arguments.json {
        output::line(&serde_json::to_string_pretty(&advice.json())?);
    } else {
        advice.print();
    }
    if let Some(path) = &arguments.report {
        page::write(&advice, path)?;
        output::error_line(&format!("{}: the page of this advice", path.display()));
    }
    Ok(())
}

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
        let key = set.split('=').next().unwrap_or_default().trim();
        let own = [("privatize.links.epsilon", "--epsilon"), ("privatize.links.mechanism", "--mechanism")];
        if let Some((_, argument)) = own.iter().find(|(field, _)| *field == key) {
            return Err(ConfigError(format!("--set {key}: ask about it with {argument}")));
        }
        if ["ingest", "privacy", "compare", "name"].iter().any(|table| key.split('.').next() == Some(table)) {
            return Err(ConfigError(format!("--set {key}: what is known about the graph has arguments of its own")));
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
        words::preamble(&self.knowledge).iter().for_each(|line| output::line(line));
        output::line("");
        output::line(&words::table_text(&self.answers));
        if let Some(worth) = &self.worth {
            output::line("");
            output::line(&words::worth_text(worth, &self.answers));
        }
        let base = self.knowledge.base_rate();
        for answer in &self.answers {
            output::line("");
            output::line(&words::sentence(answer, base));
        }
        output::line("");
        recommendations(&self.answers, self.worth.as_ref()).iter().for_each(|line| output::line(line));
        output::line(words::ASSUMPTIONS);
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "knowledge": self.knowledge.json(),
            "answers": self.answers.iter().map(Answer::json).collect::<Vec<_>>(),
            "surrogates": self.worth.as_ref().map(Worth::json),
            "recommendations": recommendations(&self.answers, self.worth.as_ref()),
        })
    }
}
