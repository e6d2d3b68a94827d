//! The graphs of `[ingest]`, each with its features, labels and splits.

use std::path::{Path, PathBuf};

use toml::Value;
use veilgraph_contract::{Artifact, HeldOut, Private};
use veilgraph_graph::{Features, Labels};
use veilgraph_ingest::{Ingest, Normalize, Params, SplitParams, SyntheticParams, WrongField};

use super::{central, features, labels};
use crate::config::{ConfigError, Holding};
use crate::datasets::{self, Dataset};
use crate::plan::{Absence, Branch, Plan, Run};
use crate::task::RawHandle;

/// One way for each dataset.
pub(super) fn ingest(plan: &mut Plan) -> Result<Vec<Branch>, ConfigError> {
    // An alternative that makes them private decides for all: ingest runs before alternatives differ.
    let is_private = |table: &str| plan.config.values_anywhere(table, "mechanism").iter().any(protects);
    // A curator holds everything.
    let is_central = central::is_asked_for_anywhere(plan);
    let withholds = is_central || plan.config.privacy.features == Holding::Withheld || is_private(features::TABLE);
    let withholds_labels = is_central || is_private(labels::TABLE);
    let is_deployment = plan.config.is_deployment();
    let declares_features = is_deployment && is_private(features::TABLE);
    // Only now is every dataset a name of its own: a sweep may list several.
    let config = plan.config.clone();
    let prepare = |table| {
        let resolved = datasets::resolved(table, config.published.as_deref());
        resolved.map_err(|problem| config.error("ingest.dataset", &problem))
    };
    let adjust = |params: &mut Params| {
        params.withhold_features = withholds;
        params.withhold_labels = withholds_labels;
        params.declared_features = declares_features;
        params.declared_classes = is_deployment && !is_known(params);
        *params = std::mem::take(params).with_what_is_read();
        Ok(())
    };
    // Declared classes belong together: they are no sweep.
    let cells = plan.prepared_cells::<Params>("ingest", &["classes"], prepare, adjust)?;
    let mut branches = Vec::new();
    for cell in &cells {
        let params = &cell.params;
        if is_deployment {
            nothing_public_follows_from_private(plan, params)?;
        }
        if params.withhold_features && params.has_features() && params.normalize == Normalize::MinMax {
            let problem = "min-max scales the features of a node by those of all others, which it does not know where features \
                           are private; set normalize = \"none\" (a mechanism for features has a field `range`)";
            return Err(plan.config.error("ingest.normalize", problem));
        }
        if let Some(Err(WrongField { field, problem })) = params.synthetic.as_ref().map(SyntheticParams::check) {
            return Err(plan.config.error(&format!("ingest.synthetic.{field}"), &problem));
        }
        let files = files(plan, params)?;
        let mut start = Branch::default().with(&cell.choices);
        start.dataset = params.dataset_name();
        start.population = plan.config.population(params.dataset.as_deref()).to_owned();
        let run = Run { table: "ingest", files: &files, ..Run::default() };
        let known = Sizes::of(params);
        (start.n_nodes, start.n_features, start.n_links) = (known.nodes, known.features, known.links);
        let mut branch = plan.run::<Ingest>(&[&start], params, run)?;
        one_zone::<Features>(&mut branch, params.has_features(), withholds);
        one_zone::<Labels>(&mut branch, params.has_labels(), withholds_labels);
        if !params.has_labels() {
            branch.absent(HeldOut::<Labels>::NAME, HeldOut::<Labels>::ZONE, Absence::NotInTheData);
        }
        branches.push(branch);
    }
    Ok(branches)
}

/// Refuses what would become public in a deployment though it follows from what only the owners know.
fn nothing_public_follows_from_private(plan: &Plan, params: &Params) -> Result<(), ConfigError> {
    if params.takes_nodes_from_links() {
        let problem = "in a deployment the set of nodes is public, so it must not be taken from private links; name all \
                       nodes in a file, `nodes = \"nodes.csv\"`, or give features or labels of all of them";
        return Err(plan.config.error("ingest.edges", problem));
    }
    if let Some(private) = private_data_of_split(params) {
        let problem = format!(
            "in a deployment the split is public, so it must not follow from private {private}; give shares without \
             `stratified`, or a file"
        );
        return Err(plan.config.error("ingest.split", &problem));
    }
    if params.withhold_labels && params.declared_classes && params.has_own_labels() && params.classes.is_none() {
        // Whoever asks for a curator is told that first.
        central::is_asked_for(plan)?;
        let problem = "in a deployment with private labels, the classes are public and must not follow from the labels; declare \
                       all of them, `classes = [\"a\", \"b\"]`";
        return Err(plan.config.error("ingest.classes", problem));
    }
    Ok(())
}

/// What a split follows from, if that is private. No cost of any release covers it.
fn private_data_of_split(params: &Params) -> Option<&'static str> {
    let follows_from_labels = match &params.split {
        SplitParams::OfParts(_) => return Some("links"),
        SplitParams::PerClass(_) => true,
        SplitParams::Random(ratios) => ratios.stratified == Some(true),
        _ => false,
    };
    match (follows_from_labels, params.withhold_labels, params.declared_classes) {
        (true, true, _) => Some("labels"),
        (true, false, true) => Some("labels of test nodes"),
        _ => None,
    }
}

/// Whether a mechanism of this name needs data that only their owners hold.
fn protects(mechanism: &Value) -> bool {
    !matches!(mechanism.as_str(), Some("public" | "feature-free"))
}

/// Says in which zone an artifact of the ingest is: with the server or with its owners, never in both.
fn one_zone<A: Artifact>(branch: &mut Branch, is_in_the_data: bool, is_withheld: bool) {
    if !is_in_the_data || is_withheld {
        branch.absent(A::NAME, A::ZONE, if is_in_the_data { Absence::Withheld } else { Absence::NotInTheData });
    }
    if !is_in_the_data || !is_withheld {
        branch.absent(A::NAME, Private::<A>::ZONE, Absence::NotInTheData);
    }
}

/// The dataset that the program knows by this name, if there is one.
fn known(params: &Params) -> Option<Dataset> {
    params.dataset.as_deref().and_then(|name| datasets::named(name).ok())
}

/// Whether everybody knows the labels, because the dataset is one that the program knows. A file without a checksum may be anybody's.
fn is_known(params: &Params) -> bool {
    known(params).is_some_and(|dataset| dataset.files.values().all(|file| file.sha256.is_some()))
}

/// How large a graph is, as far as that is known before any file is read.
#[derive(Default)]
struct Sizes {
    nodes: Option<usize>,
    features: Option<usize>,
    links: Option<usize>,
}

impl Sizes {
    fn of(params: &Params) -> Self {
        if let Some(model) = &params.synthetic {
            return Self { nodes: Some(model.nodes), features: Some(model.features), links: None };
        }
        let Some(Dataset { n_nodes: nodes, n_features: features, statistics, .. }) = known(params) else {
            return Self::default();
        };
        let links = nodes.zip(statistics).map(|(nodes, known)| (nodes as f64 * known.mean_degree / 2.0) as usize);
        Self { nodes, features, links }
    }
}

/// The files of a dataset, with their checksums where they are known.
fn files(plan: &Plan, params: &Params) -> Result<Vec<RawHandle>, ConfigError> {
    let names = params.files().map_err(|error| plan.config.error("ingest", &error.to_string()))?;
    let known = known(params);
    let file = |name: String| {
        let known = known.as_ref().and_then(|dataset| dataset.files.get(&name));
        let dataset = known.and(params.dataset.clone());
        let sha256 = known.and_then(|file| file.sha256.clone());
        RawHandle { dataset, sha256, ..file_in(places_of(plan, &name, params), name) }
    };
    let files: Vec<RawHandle> = names.into_iter().map(file).collect();
    // Where the folder is mistyped, files of the same names elsewhere are not those that were meant.
    if let Some(data_dir) = plan.options.data_dir.filter(|_| files.iter().any(|file| file.path.exists())) {
        datasets::check_data_dir(data_dir)?;
    }
    Ok(files)
}

/// A file of the user that is no part of a dataset, in the data folder or beside the config.
///
/// # Errors
/// When the data folder is none.
pub(super) fn own_file(plan: &Plan, name: &str) -> Result<RawHandle, ConfigError> {
    plan.options.data_dir.map_or(Ok(()), datasets::check_data_dir)?;
    let folders = plan.options.data_dir.into_iter().chain([plan.config.folder()]);
    Ok(file_in(folders.map(|folder| folder.join(name)).collect(), name.to_owned()))
}

/// A file at the first of these places that has one, else at the first.
fn file_in(mut places: Vec<PathBuf>, name: String) -> RawHandle {
    // Folders may be the same.
    places.dedup();
    let path = places.iter().find(|path| path.exists()).unwrap_or(&places[0]).clone();
    RawHandle { name, path, places, dataset: None, sha256: None }
}

/// Where a data file may be: in the dataset's folder, in the data folder, beside the config, or beside published figures.
fn places_of(plan: &Plan, name: &str, params: &Params) -> Vec<PathBuf> {
    let data = plan.options.data_dir.map_or_else(|| plan.config.folder().to_owned(), Path::to_owned);
    let folder = data.join(params.folder.as_deref().unwrap_or(""));
    let published = plan.config.published.as_ref().map(|folder| folder.join(name));
    let mut places = vec![folder.join(name), data.join(name), plan.config.folder().join(name)];
    places.extend(published);
    places
}
