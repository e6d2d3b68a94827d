//! What a table says in words: its cells, its caption, and the meaning of its marks.

use veilgraph_evaluate::metric::{self, Better};
use veilgraph_statistics::ALPHA;

use super::costs::further_costs;
use super::pivot::{PivotCell, PivotLine, PivotTable};
use crate::comparison::Verdict;
use crate::partial::Lack;
use crate::protected::Standing;
use crate::summary::with_interval;

impl PivotTable {
    /// Number of trials of every cell, where all have the same.
    pub(crate) fn trials(&self) -> Option<usize> {
        let mut cells = self.lines.iter().flat_map(|line| line.cells.iter().flatten());
        let first = cells.next()?.summary.trials;
        cells.all(|cell| cell.summary.trials == first).then_some(first)
    }

    /// `mean ± half width`, and the number of trials where cells differ in it.
    pub(crate) fn text(&self, cell: &PivotCell) -> String {
        let number = if self.trials().is_some() { String::new() } else { format!(" ({})", cell.summary.trials) };
        with_interval(&cell.summary, self.metric) + &number
    }

    /// Cells that have no score although another budget of the method has one.
    fn missing(&self) -> usize {
        let is_private = |line: &&PivotLine| line.standing == Standing::Private;
        // Columns of floors and ceilings alone have no cell of a method.
        let has_private = |at: usize| self.lines.iter().filter(is_private).any(|line| line.cells[at].is_some());
        let columns: Vec<usize> = (0..self.columns.len()).filter(|&at| has_private(at)).collect();
        let lines = self.lines.iter().filter(is_private);
        let is_silent = |line: &PivotLine, at: usize| line.cells[at].is_none() && line.lacks[at].is_none();
        lines.map(|line| columns.iter().filter(|&&at| is_silent(line, at)).count()).sum()
    }

    /// The methods of which a cell has a cost that this program cannot vouch for.
    fn unsound(&self) -> Vec<String> {
        let is_unsound = |line: &&PivotLine| line.cells.iter().flatten().any(|cell| !cell.is_sound());
        let name = |line: &PivotLine| {
            let parts: Vec<&str> = line.method.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
            parts.join(", ")
        };
        self.lines.iter().filter(is_unsound).map(name).collect()
    }

    /// Cells that have no score for this reason.
    fn lacking(&self, lack: Lack) -> usize {
        let lacks = |line: &PivotLine, at: usize| line.cells[at].is_none() && line.lacks[at] == Some(lack);
        self.lines.iter().map(|line| (0..line.cells.len()).filter(|&at| lacks(line, at)).count()).sum()
    }

    /// How much an accuracy depends on which nodes are tested, in words; none where the score is not an accuracy, or
    /// where rows have different test nodes.
    ///
    /// The half width of an interval of 95 % is 1.96 √(p (1 − p) / n) for the accuracy p on n test nodes.
    fn error_of_test_nodes(&self) -> Option<String> {
        if *self.metric != metric::ACCURACY {
            return None;
        }
        let cells = || self.lines.iter().flat_map(|line| line.cells.iter().flatten());
        let nodes = cells().next()?.test_nodes?;
        let half_width = |cell: &PivotCell| {
            let accuracy = cell.summary.mean;
            (cell.test_nodes == Some(nodes)).then(|| 1.96 * (accuracy * (1.0 - accuracy) / nodes).sqrt())
        };
        let widths = cells().map(half_width).collect::<Option<Vec<f64>>>()?;
        let largest = self.metric.written(widths.into_iter().fold(0.0, f64::max));
        let covered = match &self.over {
            Some(field) if field.starts_with("ingest.split") => "the splits above have test nodes of their own",
            _ => "the intervals above do not cover that",
        };
        Some(format!(
            "Which nodes are tested makes an accuracy uncertain by up to {largest} more: 1.96 √(p (1 − p) / n) at 95 %, with \
             n = {}; {covered}.",
            nodes.round()
        ))
    }

    /// What the table shows, in one phrase.
    pub(crate) fn caption(&self) -> String {
        let over = if self.axis.is_empty() { String::new() } else { format!(" over {}", self.axis) };
        let at = self.budget.as_ref().map_or(String::new(), |budget| format!(" at {budget}"));
        format!("{}, {}: {}{over}{at}", self.experiment, self.dataset, self.metric.heading)
    }

    /// What the marks of the table mean, and what it lacks.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let interval = "Mean ± half width of the 95 % interval of the mean (Student's t)";
        notes.push(match (&self.over, self.trials()) {
            (None, Some(1)) => "One trial in every cell, so there is no interval and nothing is compared.".to_owned(),
            (None, Some(trials)) => format!("{interval}, {trials} trials in every cell."),
            (None, None) => {
                format!("{interval}; the number of trials stands in parentheses, and one trial has no interval.")
            }
            (Some(field), Some(1)) => {
                format!("`{field}` has one value in every cell, so there is no interval and nothing is compared.")
            }
            (Some(field), Some(values)) => {
                format!("{interval} over {values} values of `{field}`: each counts as one trial, by its mean over trials. A row \
                     that does not depend on `{field}` keeps its own trials, and is compared with none that does.")
            }
            (Some(field), None) => format!(
                "{interval} over the values of `{field}`, whose number stands in parentheses: each counts as one trial, by its \
                 mean over trials. A row that does not depend on `{field}` keeps its own trials, and is compared with none that does."
            ),
        });
        notes.extend(self.error_of_test_nodes());
        let has_bold = self.lines.iter().flat_map(|line| line.cells.iter().flatten()).any(|cell| cell.is_among_best);
        if self.metric.better != Better::Neither && has_bold {
            notes.push(
                "Bold: the best of its column among private methods on the same graph at the same other costs, and all that the \
                 shared trials do not separate from it."
                    .to_owned(),
            );
        }
        if self.metric.name == metric::ATTACK_AUC.name && (has_bold || self.against.is_some()) {
            notes.push(
                "An area below 0.5 is compared as that of the reversed attack, because who takes the least likely pairs for linked \
                 knows as much."
                    .to_owned(),
            );
        }
        if let Some(against) = &self.against
            && self.trials() != Some(1)
        {
            notes.push(format!(
                "+ better, − worse, ≈ not separable from {against}: paired t-tests over shared trials at {} %, Holm's correction \
                 over the table; “worse” than the best of several is also corrected for their number.",
                100.0 * ALPHA
            ));
        }
        notes.extend(further_costs(self));
        let unsound = self.unsound();
        if !unsound.is_empty() {
            notes.push(format!(
                "The cost does not hold as executed, or the config states it and nobody has checked it, for {}.",
                unsound.join("; ")
            ));
        }
        match self.missing() {
            0 => {}
            1 => notes.push("– one cell is missing: the experiment did not score it.".to_owned()),
            missing => notes.push(format!("– {missing} cells are missing: the experiment did not score them.")),
        }
        match self.lacking(Lack::Failed) {
            0 => {}
            1 => notes.push("1 cell failed.".to_owned()),
            failed => notes.push(format!("{failed} cells failed.")),
        }
        match self.lacking(Lack::Missing) {
            0 => {}
            1 => notes.push("1 cell has not run.".to_owned()),
            missing => notes.push(format!("{missing} cells have not run.")),
        }
        notes
    }

    /// What has not run, as comments of a language in which `mark` begins one. Errors are for the author, and belong into no
    /// caption.
    pub(super) fn comments(&self, mark: &str) -> Vec<String> {
        self.gaps.iter().map(|gap| format!("{mark} {}.", gap.replace(['\r', '\n'], " "))).collect()
    }
}

impl PivotCell {
    /// The mark that says how the cell compares; empty where it is not compared.
    pub(crate) fn mark(&self) -> &'static str {
        match self.compared.map(|compared| compared.verdict) {
            Some(Verdict::Better) => "+",
            Some(Verdict::Worse) => "−",
            Some(Verdict::NotSeparable) => "≈",
            Some(Verdict::OneTrial) | None => "",
        }
    }

    /// How the cell compares, in words; empty where it is not compared.
    pub(crate) fn words(&self, table: &PivotTable) -> String {
        let Some(compared) = self.compared else { return String::new() };
        let number = |value: f64| table.metric.written(value);
        let difference = compared.difference;
        let against = table.against.as_deref().unwrap_or_default();
        let p = compared.corrected.map_or(String::new(), |p| format!(", p = {p:.2e} after correction"));
        format!(
            "{} than {against}: difference {} ± {} over {} shared trials{p}",
            compared.verdict.words(),
            number(difference.mean),
            number(difference.half_width),
            difference.trials
        )
    }
}
