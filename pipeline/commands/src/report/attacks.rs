//! Figures about attacks: what an attacker finds by budget, by belief and by false alarms, and what accuracy that buys.

use std::collections::BTreeSet;

use veilgraph_bounds::largest_true_positive_rate;
use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};

use super::figure::{Axis, Figure, Line, Point};
use super::figures::{Drawn, Part};
use super::lines::is_level;
use crate::protected::{Standing, draws_no_noise_on_links};
use crate::summary::Row;

/// What a figure is about: one attack on one kind of network (none for reports), of targets of one pool.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Topic {
    attack: String,
    pool: String,
    model: String,
}

impl Topic {
    fn of(cell: &Cell) -> Self {
        let choice = |field: &str| cell.choice(field).unwrap_or_default().to_owned();
        // References without a network stand beside every network.
        Self { attack: choice("audit.attack"), pool: choice("audit.pool"), model: cell.model.clone() }
    }

    /// Whether a row belongs into the figure: the perceptron, which reads no link, belongs beside every network.
    fn has(&self, cell: &Cell) -> bool {
        let other = Self::of(cell);
        other == *self || (other.model == "mlp" && Self { model: self.model.clone(), ..other } == *self)
    }

    /// Whether figures of this topic show the perceptron's rows of another.
    fn has_mlp(&self, other: &Self) -> bool {
        self.model != "mlp" && Self { model: self.model.clone(), ..other.clone() } == *self
    }

    /// As a part of the name of a file.
    fn name(&self) -> String {
        let parts = [&self.attack, &self.pool, &self.model];
        parts.into_iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("-")
    }

    /// As people read it.
    fn words(&self) -> String {
        let on = if self.model.is_empty() { "the reports".to_owned() } else { format!("networks ({})", self.model) };
        let targets = if self.pool.is_empty() { String::new() } else { format!(", targets: {}", self.pool) };
        format!("attack {} on {on}{targets}", self.attack)
    }
}

/// Part of the name of a figure's files, and of its title.
struct Named {
    name: String,
    words: String,
}

/// Whether a score is about an attack.
pub(super) fn is_about(cell: &Cell) -> bool {
    cell.choice("audit.attack").is_some()
}

/// Whether an attack is about features, labels or members, or about all that a curator's model was trained on.
fn is_about_attributes(cell: &Cell) -> bool {
    matches!(cell.choice("audit.attack"), Some("attributes" | "membership" | "canary-model"))
}

/// Every figure about attacks on links; none where no link was attacked.
pub(super) fn figures(part: &Part) -> Vec<Figure> {
    let mut figures = Vec::new();
    // Budgets of links, over which everything is drawn here, say nothing about features, labels and members.
    let is_about_links = |row: &&&Row| row.cell.epsilon > 0.0 || is_level(row);
    let attacked: Vec<&Row> =
        part.attacked.iter().filter(is_about_links).filter(|row| !is_about_attributes(&row.cell)).copied().collect();
    let topics: BTreeSet<Topic> = attacked.iter().map(|row| Topic::of(&row.cell)).collect();
    for topic in &topics {
        let is_reference = topic.model == "mlp" && topics.iter().any(|other| *other != *topic && other.has_mlp(topic));
        if is_reference {
            continue;
        }
        let rows: Vec<&Row> = attacked.iter().copied().filter(|row| topic.has(&row.cell)).collect();
        let named = |row: &Row| name(&rows, row);
        let topic_named = Named { name: topic.name(), words: topic.words() };
        let Named { name: end, words } = &topic_named;
        for (kind, title, metric) in [
            ("attack-auc", "Links told from other pairs, area under the ROC curve", &metric::ATTACK_AUC),
            ("epsilon-lower-bound", "Lower bounds of a link's cost from canaries", &metric::EPSILON_LOWER_BOUND),
        ] {
            let drawn = [Drawn { metric, suffix: "" }];
            let (name, title) = (format!("{kind}-{end}"), format!("{title}: {words}"));
            part.by_budget(&mut figures, &rows, (&name, &title), &drawn, false, &named);
        }
        for figure in figures.iter_mut().filter(|figure| figure.name.starts_with(&format!("attack-auc-{end}"))) {
            let is_per_link = figure.name.ends_with("-per-link");
            figure.lines.extend(caps(part, &rows, is_per_link));
        }
        let budgets: BTreeSet<u64> =
            rows.iter().filter(|row| !is_level(row)).map(|row| row.cell.epsilon.to_bits()).collect();
        for budget in budgets.into_iter().map(f64::from_bits) {
            let at: Vec<&Row> =
                rows.iter().copied().filter(|row| is_level(row) || row.cell.epsilon == budget).collect();
            let named = Named { name: format!("{end}-epsilon-{budget}"), words: format!("{words}, epsilon {budget}") };
            figures.extend([roc(part, &at, &named), by_belief(part, &at, &named)]);
        }
        if topic.attack == "linkteller" {
            figures.push(frontier(part, &rows, &topic_named));
        }
    }
    figures
}

/// The largest areas that the costs of a link allow, by budget: one line for each cost of a link beside that of a list bit,
/// and one in all where the axis is the cost of a link.
fn caps(part: &Part, rows: &[&Row], is_per_link: bool) -> Vec<Line> {
    let private: Vec<&Row> = rows.iter().copied().filter(|row| !is_level(row)).collect();
    let name = |row: &Row| {
        let ratio = row.cell.epsilon_edge / row.cell.epsilon;
        if is_per_link {
            "the most that a link's own reports allow".to_owned()
        } else {
            format!("the most that a link's own reports allow at {ratio} ε")
        }
    };
    let x = |row: &Row| if is_per_link { row.cell.epsilon_edge } else { row.cell.epsilon };
    let mut lines = part.lines(&private, &[Drawn { metric: &metric::ATTACK_AUC_CAP, suffix: "" }], &x, &name);
    lines.iter_mut().for_each(|line| line.points.dedup_by(|next, kept| next.x == kept.x));
    lines
}

/// What tells a row from the others of a figure: the mechanism, and what differs beside it where that is not enough.
fn name(rows: &[&Row], row: &Row) -> String {
    let short = |cell: &Cell| {
        let name = match (cell.mechanism.as_str(), cell.variant.as_str()) {
            ("no-links", _) => "no links".to_owned(),
            ("non-private", _) => "true links".to_owned(),
            ("blink", "") => "blink, link probabilities".to_owned(),
            ("blink", variant) => format!("blink, {variant} graph"),
            (mechanism, _) => mechanism.to_owned(),
        };
        if draws_no_noise_on_links(cell) { format!("{name}, without noise") } else { name }
    };
    let rest = |cell: &Cell| {
        // The mechanism has said already what a reference of its name is.
        let is_named = cell.alternative == cell.mechanism;
        let alternative = if is_named { String::new() } else { cell.alternative.clone() };
        Cell { alternative, ..cell.clone() }
            .told_apart_by(|choice| !["audit.attack", "audit.pool", "audit.belief"].contains(&choice.field.as_str()))
    };
    let own = short(&row.cell);
    let alike = || rows.iter().map(|other| &other.cell).filter(|other| short(other) == own);
    let mut parts = vec![own.clone()];
    if alike().any(|other| rest(other) != rest(&row.cell)) {
        parts.push(rest(&row.cell));
    }
    if alike().any(|other| rest(other) == rest(&row.cell) && other.degree_fraction != row.cell.degree_fraction) {
        parts.push(format!("{} of the budget for degrees", row.cell.degree_fraction));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Links found over false alarms, on logarithmic axes: an attack that matters finds links where few others are taken.
fn roc(part: &Part, rows: &[&Row], named: &Named) -> Figure {
    let mut lines = Vec::new();
    for row in rows {
        let drawn = |(rate, metric): (f64, &'static Metric)| {
            let found = part.lines(&[*row], &[Drawn { metric, suffix: "" }], &|_| rate, &|row| name(rows, row));
            found.into_iter().flat_map(|line| line.points).find(|point| point.mean > 0.0)
        };
        let points: Vec<Point> = metric::ROC_CURVE.into_iter().filter_map(drawn).collect();
        if !points.is_empty() {
            lines.push(Line { name: name(rows, row), points, standing: part.standing(row), is_level: false });
        }
    }
    lines.extend(roc_caps(part, rows));
    Figure {
        name: format!("roc-{}", named.name),
        title: format!("Links found over other pairs taken for links: {}", named.words),
        x: Axis { label: "false positive rate".to_owned(), is_log: true },
        y: Axis { label: "true positive rate".to_owned(), is_log: true },
        x_above: None,
        lines,
    }
}

/// The largest shares of links that the costs of a link allow at each rate: one line for each cost.
fn roc_caps(part: &Part, rows: &[&Row]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in rows.iter().filter(|row| !is_level(row)) {
        let cost = row.cell.epsilon_edge;
        let name = format!("the most that a link's own reports allow at {cost} nats");
        let drawn = [Drawn { metric: &metric::ATTACK_TPR_AT_1E_3_CAP, suffix: "" }];
        let known = part.lines(&[*row], &drawn, &|_| 0.0, &|_| name.clone());
        let Some(point) = known.into_iter().flat_map(|line| line.points).next() else { continue };
        if lines.iter().all(|line| line.name != name) {
            let at = |(rate, _)| Point { x: rate, mean: largest_true_positive_rate(cost, 0.0, rate), ..point.clone() };
            let points = metric::ROC_CURVE.into_iter().map(at).collect();
            lines.push(Line { name, points, standing: Standing::Private, is_level: false });
        }
    }
    lines
}

/// Precision over the number of links that the attacker believes in.
fn by_belief(part: &Part, rows: &[&Row], named: &Named) -> Figure {
    let belief = |row: &Row| row.cell.choice("audit.belief").and_then(|value| value.parse().ok()).unwrap_or(f64::NAN);
    let believing: Vec<&Row> = rows.iter().copied().filter(|row| row.cell.choice("audit.belief").is_some()).collect();
    let drawn = [Drawn { metric: &metric::ATTACK_PRECISION, suffix: "" }];
    let mut lines = part.lines(&believing, &drawn, &belief, &|row| name(&believing, row));
    // What stands for all budgets has another share at every belief.
    lines.iter_mut().for_each(|line| line.is_level = false);
    Figure {
        name: format!("claims-{}", named.name),
        title: format!("Share of claimed pairs that are links, by belief: {}", named.words),
        x: Axis { label: "believed links / true links".to_owned(), is_log: true },
        y: Axis { label: metric::ATTACK_PRECISION.heading.to_owned(), is_log: false },
        x_above: None,
        lines,
    }
}

/// Accuracy over what an attacker on the network finds: one line for each mechanism, one point for each budget, between the
/// floors and ceilings of the figures of accuracy.
fn frontier(part: &Part, attacked: &[&Row], named: &Named) -> Figure {
    let mut lines: Vec<Line> = Vec::new();
    for row in attacked {
        let (Some(area), Some(accuracy)) = (row.summary(metric::ATTACK_AUC.name), accurate(part, row)) else {
            continue;
        };
        let drawn = [Drawn { metric: &metric::ACCURACY, suffix: "" }];
        let name = name(attacked, row);
        let found = part.lines(&[accuracy], &drawn, &|_| area.mean, &|_| name.clone());
        for line in found {
            match lines.iter_mut().find(|known| known.name == name) {
                // A level is one value, wherever the attack on it stands.
                Some(known) if known.is_level => {}
                Some(known) => add_apart(&mut known.points, line.points),
                None => lines.push(line),
            }
        }
    }
    lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    lines.sort_by_key(|line| line.is_level);
    Figure {
        name: format!("accuracy-and-{}", named.name),
        title: format!("Accuracy over what is found, up and to the left is better: {}", named.words),
        x: Axis { label: "ROC AUC of the attack".to_owned(), is_log: false },
        y: Axis { label: metric::ACCURACY.heading.to_owned(), is_log: false },
        x_above: None,
        lines,
    }
}

/// Adds points at other places: two budgets at which the attack finds equally much are one point of the frontier.
fn add_apart(points: &mut Vec<Point>, further: Vec<Point>) {
    for point in further {
        if points.iter().all(|known| known.x != point.x) {
            points.push(point);
        }
    }
}

/// The accuracy of the network that a row attacks.
fn accurate<'a>(part: &Part<'a>, attacked: &Row) -> Option<&'a Row> {
    let told = |cell: &Cell| {
        let choices = cell.choices.iter().filter(|choice| choice.stage() != "audit");
        let names = [&cell.alternative, &cell.mechanism, &cell.variant, &cell.model].map(Clone::clone);
        (names, cell.epsilon.to_bits(), choices.cloned().collect::<Vec<_>>())
    };
    let is_it = |row: &&&Row| row.scores.contains_key(metric::ACCURACY.name) && told(&row.cell) == told(&attacked.cell);
    part.rows.iter().find(is_it).copied()
}
