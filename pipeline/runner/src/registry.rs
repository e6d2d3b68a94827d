//! Every stage function by name: one line for each, here or, where one mechanism alone has it, in the file of that
//! mechanism. A worker that is told a name and parameters can run it.

use anyhow::Context;
use veilgraph_construct::{
    Construct, ConstructFromBits, ConstructFromCounts, ConstructFromEntries, ConstructWithoutLinks, CountKnownPairs,
    FindThreshold, MergeGraph, SelectPairs,
};
use veilgraph_estimate::features::{DegreeFeatures, PropagateFeatures, RectifyFeatures, SubstituteFeatures};
use veilgraph_estimate::{
    Estimate, EstimateWithBins, EstimateWithClasses, GroupAtRandom, GroupByCounts, MergeEvidence, PairReports, PairRows,
};
use veilgraph_evaluate::{
    EvaluateClasses, EvaluateFeatures, EvaluateGraph, EvaluateLinkPrediction, EvaluateLinks, EvaluateReleasedModel,
};
use veilgraph_ingest::Ingest;
use veilgraph_similarity::{BelieveClasses, SimilarGraph, Similarity};
use veilgraph_train::{
    AppendBeliefs, Blend, ChooseSetting, HalveSettings, LinkPrediction, PredictBeliefs, PredictMajority, SearchGrid,
    Train,
};

use crate::function::{Function, function};
use crate::systems;

/// Stage functions that belong to no single mechanism.
const SHARED: &[Function] = &[
    function::<Ingest>(),
    function::<Similarity>(),
    function::<SimilarGraph>(),
    function::<BelieveClasses>(),
    function::<RectifyFeatures>(),
    function::<PropagateFeatures>(),
    function::<SubstituteFeatures>(),
    function::<DegreeFeatures>(),
    function::<PairReports>(),
    function::<PairRows>(),
    function::<MergeEvidence>(),
    function::<Estimate>(),
    function::<EstimateWithBins>(),
    function::<EstimateWithClasses>(),
    function::<GroupAtRandom>(),
    function::<GroupByCounts>(),
    function::<Construct>(),
    function::<CountKnownPairs>(),
    function::<FindThreshold>(),
    function::<SelectPairs>(),
    function::<MergeGraph>(),
    function::<ConstructFromBits>(),
    function::<ConstructFromCounts>(),
    function::<ConstructFromEntries>(),
    function::<ConstructWithoutLinks>(),
    function::<Train>(),
    function::<SearchGrid>(),
    function::<ChooseSetting>(),
    function::<HalveSettings>(),
    function::<LinkPrediction>(),
    function::<PredictBeliefs>(),
    function::<PredictMajority>(),
    function::<Blend>(),
    function::<AppendBeliefs>(),
    function::<EvaluateLinks>(),
    function::<EvaluateGraph>(),
    function::<EvaluateFeatures>(),
    function::<EvaluateClasses>(),
    function::<EvaluateLinkPrediction>(),
    function::<EvaluateReleasedModel>(),
];

/// All stage functions.
fn all() -> impl Iterator<Item = &'static Function> {
    SHARED.iter().chain(systems::functions())
}

/// The function `name` of `stage`.
///
/// # Errors
/// When there is no such function.
pub fn find(stage: &str, name: &str) -> anyhow::Result<&'static Function> {
    let found = all().find(|function| function.stage == stage && function.name == name);
    found.with_context(|| {
        format!(
            "{stage} has no function `{name}`; register it in pipeline/runner/src/registry.rs or beside its mechanism"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_function_has_a_name_of_its_own() {
        let mut names: Vec<(&str, &str)> = all().map(|function| (function.stage, function.name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
