//! Our figures beside published ones.

use veilgraph_evaluate::metric::{self, Metric};

use super::figure::{Figure, Point};

/// Both, line by line, and what they say on the whole.
pub(crate) struct Differences {
    pub lines: Vec<Vec<String>>,
    pub summary: Vec<String>,
}

/// Where methods are apart by more than this many points as published, ours should be in the same order.
const APART: f64 = 3.0;

/// Every score that was published too and found by the same protocol; each once, although several figures may show it.
pub(crate) fn all(figures: &[Figure]) -> Differences {
    let mut points: Vec<&Point> = Vec::new();
    for figure in figures.iter().filter(|figure| !figure.name.ends_with("-per-link")) {
        let drawn = figure.lines.iter().flat_map(|line| &line.points);
        for point in drawn.filter(|point| point.published.is_some() && point.is_comparable) {
            if !points.iter().any(|other| is_same(other, point)) {
                points.push(point);
            }
        }
    }
    let lines = points.iter().map(|point| line(point)).collect();
    Differences { lines, summary: summary(&points) }
}

fn is_same(a: &Point, b: &Point) -> bool {
    let key = |point: &Point| {
        let cell = &point.cell;
        let names = [&cell.dataset, &cell.mechanism, &cell.variant, &cell.model, &cell.estimate()].map(Clone::clone);
        (names, [cell.epsilon, cell.degree_fraction, point.mean].map(f64::to_bits), point.metric.name)
    };
    key(a) == key(b)
}

fn line(point: &Point) -> Vec<String> {
    let (mean, deviation) = point.published.unwrap_or_default();
    let cell = &point.cell;
    let number =
        |value: f64| if *point.metric == metric::ACCURACY { format!("{value:.1}") } else { format!("{value:.4e}") };
    let difference = point.mean - mean;
    let relative = if *point.metric == metric::ACCURACY {
        format!("{difference:+.1}")
    } else {
        format!("{:+.1} %", 100.0 * difference / mean)
    };
    vec![
        cell.dataset.clone(),
        point.metric.name.to_owned(),
        cell.mechanism.clone(),
        cell.estimate(),
        cell.variant.clone(),
        cell.model.clone(),
        cell.epsilon.to_string(),
        cell.degree_fraction.to_string(),
        format!("{} ± {}", number(point.mean), number(point.standard_deviation)),
        format!("{} ± {}", number(mean), number(deviation)),
        relative,
        if deviation > 0.0 { format!("{:+.1}", difference / deviation) } else { String::new() },
    ]
}

fn summary(points: &[&Point]) -> Vec<String> {
    let mut found = Vec::new();
    let of = |metric: &Metric| points.iter().copied().filter(|point| point.metric == metric).collect::<Vec<&Point>>();
    let difference = |point: &Point| point.mean - point.published.map_or(f64::NAN, |(mean, _)| mean);
    let accuracy = of(&metric::ACCURACY);
    if !accuracy.is_empty() {
        let within = accuracy.iter().filter(|point| difference(point).abs() <= 3.0).count();
        let mean = accuracy.iter().map(|point| difference(point)).sum::<f64>() / accuracy.len() as f64;
        found.push(format!(
            "accuracy: {within} of {} cells within 3 points of the published mean; mean difference {mean:+.2} points",
            accuracy.len()
        ));
        found.extend(order(&accuracy));
    }
    for metric in [&metric::MAE, &metric::GRAPH_MAE, &metric::GRAPH_ENTRIES, &metric::GRAPH_TRUE_POSITIVES] {
        let mine = of(metric);
        let within = |point: &&&Point| {
            let deviation = point.published.map_or(0.0, |(_, deviation)| deviation);
            difference(point).abs() <= 4.0 * deviation
        };
        if !mine.is_empty() {
            let inside = mine.iter().filter(within).count();
            found.push(format!(
                "{}: {inside} of {} cells within 4 published standard deviations",
                metric.name,
                mine.len()
            ));
        }
    }
    found
}

/// Whether methods come in the published order, over pairs that are well apart there.
fn order(points: &[&Point]) -> Option<String> {
    let place = |point: &Point| (point.cell.dataset.clone(), point.cell.model.clone(), point.cell.epsilon.to_bits());
    let published = |point: &Point| point.published.map_or(f64::NAN, |(mean, _)| mean);
    let (mut same, mut all) = (0, 0);
    for (at, a) in points.iter().enumerate() {
        for b in points[at + 1..].iter().filter(|b| place(a) == place(b)) {
            let gap = published(a) - published(b);
            if gap.abs() > APART {
                all += 1;
                same += usize::from((a.mean - b.mean) * gap > 0.0);
            }
        }
    }
    let text = format!(
        "order of methods: {same} of {all} pairs that are more than {APART} points apart as published come in the same order"
    );
    (all > 0).then_some(text)
}
