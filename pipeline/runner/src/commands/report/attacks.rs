//! Figures about attacks: what an attacker finds by budget, by belief and by false alarms, and what accuracy that buys.

use std::collections::BTreeSet;

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};

use super::figures::{Axis, Drawn, Figure, Line, Part, Point};
use crate::commands::summary::Row;

/// Shares of other pairs at which a ROC curve is drawn, each with the share of links found there.
const RATES: [(f64, &Metric); 4] = [
    (1e-4, &metric::ATTACK_TPR_AT_1E_4),
    (1e-3, &metric::ATTACK_TPR_AT_1E_3),
    (1e-2, &metric::ATTACK_TPR_AT_1E_2),
    (1e-1, &metric::ATTACK_TPR_AT_1E_1),
];

/// Every figure about attacks; none where nothing was attacked.
pub(super) fn figures(part: &Part) -> Vec<Figure> {
    let mut figures = Vec::new();
    let attacked = &part.attacked;
    let drawn = |metric: &'static Metric| [Drawn { metric, suffix: "" }];
    // Reports are attacked before there is a network.
    for model in attacked.iter().map(|row| row.cell.model.as_str()).collect::<BTreeSet<_>>() {
        let rows: Vec<&Row> = attacked.iter().copied().filter(|row| row.cell.model == model).collect();
        let (end, on) = if model.is_empty() { ("reports", "reports") } else { (model, model) };
        let title = format!("Links that an attacker on {on} tells from other pairs, area under the ROC curve");
        let name = format!("attack-auc-{end}");
        part.by_budget(&mut figures, &rows, (&name, &title), &drawn(&metric::ATTACK_AUC), false);
        let title = format!("Lower bounds of a link's cost from canaries, {on}");
        let name = format!("epsilon-lower-bound-{end}");
        part.by_budget(&mut figures, &rows, (&name, &title), &drawn(&metric::EPSILON_LOWER_BOUND), false);
    }
    for attack_and_pool in attacked.iter().map(|row| attack_and_pool(&row.cell)).collect::<BTreeSet<_>>() {
        let rows: Vec<&Row> =
            attacked.iter().copied().filter(|row| attack_and_pool == self::attack_and_pool(&row.cell)).collect();
        let named = |kind: &str| (format!("{kind}-{attack_and_pool}"), attack_and_pool.clone());
        figures.extend([roc(part, &rows, named("roc")), by_belief(part, &rows, named("claims"))]);
    }
    figures.push(frontier(part, attacked));
    figures
}

/// Whether a score is about an attack.
pub(super) fn is_about(cell: &Cell) -> bool {
    !attack(cell).is_empty()
}

fn attack(cell: &Cell) -> &str {
    cell.choice("audit.attack").unwrap_or_default()
}

fn attack_and_pool(cell: &Cell) -> String {
    let parts = [attack(cell), cell.choice("audit.pool").unwrap_or_default()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// What tells a row from others of one attack.
fn name(part: &Part, row: &Row) -> String {
    let of_attack = ["audit.attack", "audit.pool", "audit.belief"];
    let mut row = row.clone();
    row.cell.choices.retain(|choice| !of_attack.contains(&choice.field.as_str()));
    let model = row.cell.model.clone();
    let parts = [part.line_name(&row, true), model, format!("epsilon {}", row.cell.epsilon)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Links found over false alarms, on logarithmic axes: an attack that matters finds links where few others are taken.
fn roc(part: &Part, rows: &[&Row], (name, attack): (String, String)) -> Figure {
    let mut lines = Vec::new();
    for row in rows {
        let drawn = |(rate, metric): (f64, &'static Metric)| {
            let found = part.lines(&[*row], &[Drawn { metric, suffix: "" }], &|_| rate, &|row| self::name(part, row));
            found.into_iter().flat_map(|line| line.points).find(|point| point.mean > 0.0)
        };
        let points: Vec<Point> = RATES.into_iter().filter_map(drawn).collect();
        if !points.is_empty() {
            lines.push(Line { name: self::name(part, row), points, is_level: false });
        }
    }
    Figure {
        name,
        title: format!("Links found over other pairs taken for links, {attack}"),
        x: Axis { label: "false positive rate".to_owned(), is_log: true },
        y: Axis { label: "true positive rate".to_owned(), is_log: true },
        lines,
    }
}

/// Precision over the number of links that the attacker believes in.
fn by_belief(part: &Part, rows: &[&Row], (name, attack): (String, String)) -> Figure {
    let belief = |row: &Row| row.cell.choice("audit.belief").and_then(|value| value.parse().ok()).unwrap_or(f64::NAN);
    let believing: Vec<&Row> = rows.iter().copied().filter(|row| row.cell.choice("audit.belief").is_some()).collect();
    let drawn = [Drawn { metric: &metric::ATTACK_PRECISION, suffix: "" }];
    Figure {
        name,
        title: format!("Share of claimed pairs that are links, by belief, {attack}"),
        x: Axis { label: "believed links / true links".to_owned(), is_log: true },
        y: Axis { label: metric::ATTACK_PRECISION.heading.to_owned(), is_log: false },
        lines: part.lines(&believing, &drawn, &belief, &|row| self::name(part, row)),
    }
}

/// Accuracy over what an attacker on the network finds: one line for each mechanism and network.
fn frontier(part: &Part, attacked: &[&Row]) -> Figure {
    let is_first =
        |row: &&&Row| attack(&row.cell) == "linkteller" && matches!(row.cell.choice("audit.pool"), None | Some("all"));
    let mut lines: Vec<Line> = Vec::new();
    for row in attacked.iter().filter(is_first) {
        let (Some(area), Some(accuracy)) = (row.summary(metric::ATTACK_AUC.name), accurate(part, row)) else {
            continue;
        };
        let drawn = [Drawn { metric: &metric::ACCURACY, suffix: "" }];
        let mut named = row.cell.clone();
        named.choices.retain(|choice| choice.stage() != "audit");
        let name = [named.mechanism.as_str(), &named.model, &named.estimate(), &named.variant].join(" ");
        let found = part.lines(&[accuracy], &drawn, &|_| area.mean, &|_| name.clone());
        for point in found.into_iter().flat_map(|line| line.points) {
            match lines.iter_mut().find(|line| line.name == name) {
                // Two budgets at which the attack finds equally much are one point of the frontier.
                Some(line) if line.points.iter().any(|known| known.x == point.x) => {}
                Some(line) => line.points.push(point),
                None => lines.push(Line { name: name.clone(), points: vec![point], is_level: false }),
            }
        }
    }
    lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    Figure {
        name: "accuracy-and-attack".to_owned(),
        title: "Accuracy over what linkteller finds: up and to the left is better".to_owned(),
        x: Axis { label: "ROC AUC of the attack".to_owned(), is_log: false },
        y: Axis { label: metric::ACCURACY.heading.to_owned(), is_log: false },
        lines,
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
