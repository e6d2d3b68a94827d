use veilgraph_graph::Construction;
use veilgraph_nn::{Device, LinkLearning};

use super::*;
use crate::tests::inputs;
use crate::{LabelUse, OneOrMany};

/// Four settings that learn, and four that hardly move.
fn grid(search: Search) -> Params {
    Params {
        epochs: 60,
        learning_rate: OneOrMany::Many(vec![0.05, 1e-5]),
        dropout: OneOrMany::Many(vec![0.0, 0.2]),
        initial_seed: OneOrMany::Many(vec![0, 1]),
        search,
        ..Params::default()
    }
}

fn given(construction: Construction) -> <SearchGrid as Stage>::Inputs {
    let (nodes, features, labels, mut graph) = inputs();
    graph.construction = construction;
    (nodes, Some(features), None, Some(labels), None, graph, None, None, None)
}

fn searched(search: Search, trial: u32) -> Curves {
    let rng = StageRng::new(1, "train", trial);
    SearchGrid::run(given(Construction::Hard), &grid(search), &rng, &Progress::none()).expect("trains").0
}

fn choose(curves: Vec<Curves>) -> Result<(ChosenSettings,), Error> {
    ChooseSetting::run((curves,), &grid(Search::Racing), &StageRng::new(1, "train", 0), &Progress::none())
}

#[test]
fn a_race_chooses_what_the_full_search_chooses() {
    let of = |search| (0..3).map(|trial| searched(search, trial)).collect::<Vec<Curves>>();
    let (full, racing) = (of(Search::Full), of(Search::Racing));
    for (full, racing) in full.iter().zip(&racing) {
        assert_eq!((full.dropped.len(), full.epoch.len()), (0, 8 * 60));
        // Settings 4 to 7 hardly move. The first heat, which trains to the end, are the even ones.
        assert_eq!(racing.dropped, [5, 7]);
        assert!(racing.epoch.len() < full.epoch.len() * 7 / 8, "{} epochs", racing.epoch.len());
        assert!(racing.model.contains(&5), "the epochs before it was dropped are kept");
        let again = Curves::from_blocks(&racing.facts(), &mut racing.blocks()).expect("round trip");
        assert_eq!(again, *racing);
    }
    assert_eq!(choose(racing).expect("a choice"), choose(full).expect("a choice"));
}

fn halve(curves: &[Curves]) -> Result<ChosenSettings, Error> {
    let params = grid(Search::Full);
    HalveSettings::run((curves.to_vec(),), &params, &StageRng::new(1, "train", 0), &Progress::none())
        .map(|(kept,)| kept)
}

/// What goes on is trained as in a full search, bit for bit, and counts under its own number.
#[test]
fn halving_keeps_the_best_and_chooses_what_the_full_search_chooses() {
    let params = grid(Search::Full);
    let full: Vec<Curves> = (0..3).map(|trial| searched(Search::Full, trial)).collect();
    let mut halving: Vec<Curves> = vec![searched(Search::Racing, 0)];
    for (trial, n_kept) in [(1, 4), (2, 2)] {
        let kept = halve(&halving).expect("some are left");
        assert_eq!(kept.models.len(), n_kept);
        let loss = |model: u32| full[..trial].iter().map(|curve| curve.kept_validation_loss(model)).sum::<f64>();
        let worst_kept = kept.models.iter().map(|&model| loss(model)).fold(0.0, f64::max);
        let is_trained = |curve: &Curves, model: u32| curve.kept_validation_loss(model).is_finite();
        let left_out = (0..8).filter(|&model| halving.iter().all(|curve| is_trained(curve, model)));
        let left_out = left_out.filter(|model| !kept.models.contains(model));
        assert!(left_out.into_iter().all(|model| loss(model) >= worst_kept), "{:?}", kept.models);
        let again = ChosenSettings::from_blocks(&kept.facts(), &mut kept.blocks()).expect("round trip");
        assert_eq!(again, kept);
        let mut inputs = given(Construction::Hard);
        inputs.8 = Some(kept.clone());
        let rng = StageRng::new(1, "train", trial as u32);
        let (curves,) = SearchGrid::run(inputs, &params, &rng, &Progress::none()).expect("trains");
        let mut trained = curves.model.clone();
        trained.dedup();
        assert_eq!(trained, kept.models);
        for &model in &kept.models {
            assert_eq!(curves.kept_validation_loss(model), full[trial].kept_validation_loss(model), "{model}");
        }
        halving.push(curves);
    }
    assert_eq!(choose(halving).expect("a choice"), choose(full).expect("a choice"));
}

#[test]
fn a_quarter_goes_on_after_the_first_trial_and_a_half_after_the_others() {
    let kept =
        |n_settings: usize, n_trials: usize| (1..n_trials).map(move |n_done| HalveSettings::n_left(n_settings, n_done));
    assert_eq!(kept(48, 5).collect::<Vec<_>>(), [12, 6, 3, 2]);
    assert_eq!(kept(12, 4).collect::<Vec<_>>(), [4, 2, 1], "four, which are more than a quarter");
    assert_eq!(kept(5, 3).collect::<Vec<_>>(), [3, 2], "a half, which is less than four");
    assert_eq!(kept(1, 3).collect::<Vec<_>>(), [1, 1], "the last one stays");
}

#[test]
fn where_all_kept_settings_fail_the_error_names_the_full_search() {
    let params = Params { learning_rate: OneOrMany::Many(vec![f64::MAX, 0.01]), epochs: 5, ..Params::default() };
    let error = |params: &Params, chosen: Option<ChosenSettings>| {
        let mut inputs = given(Construction::Hard);
        inputs.8 = chosen;
        SearchGrid::run(inputs, params, &StageRng::new(1, "train", 0), &Progress::none()).expect_err("diverges")
    };
    let kept = ChosenSettings { models: vec![0] };
    assert!(error(&params, Some(kept)).to_string().contains("search = \"full\""));
    let all_fail = Params { learning_rate: OneOrMany::One(f64::MAX), ..params };
    assert!(!error(&all_fail, None).to_string().contains("full"), "a full search would not help");
}

#[test]
fn settings_that_failed_do_not_go_on() {
    let only = |models: &[u32]| Curves {
        model: models.to_vec(),
        epoch: vec![0; models.len()],
        train_loss: vec![1.0; models.len()],
        validation_loss: models.iter().map(|&model| 1.0 - 0.1 * f64::from(model)).collect(),
        validation_accuracy: vec![0.5; models.len()],
        ..Curves::default()
    };
    assert_eq!(
        halve(&[only(&[0, 1, 2, 5, 7])]).expect("some are left").models,
        [1, 2, 5, 7],
        "half of a grid of eight"
    );
    assert_eq!(halve(&[only(&[0, 3])]).expect("both are left").models, [0, 3]);
    assert_eq!(halve(&[only(&[0]), only(&[0])]).expect("the last one stays").models, [0]);
    let raced = Curves { dropped: vec![5, 7], ..only(&[0, 1, 2, 5, 7]) };
    assert_eq!(halve(&[raced]).expect("some are left").models, [0, 1, 2], "those with the lowest losses were dropped");
    let error = halve(&[only(&[0]), only(&[1])]).expect_err("each failed in one trial");
    assert!(error.to_string().contains("in every trial"), "{error}");
    assert!(error.to_string().contains("search = \"full\""), "{error}");
    let error = halve(&[only(&[])]).expect_err("each failed in the first trial, so that a full search would not help");
    assert!(!error.to_string().contains("full"), "{error}");
    let block = vec![Column::U32(vec![3, 1])];
    ChosenSettings::from_blocks(&Facts::default(), &mut std::iter::once(block)).expect_err("not ascending");
}

/// A loss that would win does not count where its model was dropped.
#[test]
fn what_was_dropped_is_never_chosen() {
    let curves = |dropped: &[u32]| Curves {
        model: vec![0, 1],
        epoch: vec![0, 0],
        train_loss: vec![1.0; 2],
        validation_loss: vec![0.1, 0.9],
        validation_accuracy: vec![0.5; 2],
        dropped: dropped.to_vec(),
        ..Curves::default()
    };
    assert_eq!(choose(vec![curves(&[]), curves(&[])]).expect("a choice").0.models, [0]);
    assert_eq!(choose(vec![curves(&[]), curves(&[0])]).expect("a choice").0.models, [1]);
    let error = choose(vec![curves(&[1]), curves(&[0])]).expect_err("none is left");
    assert!(error.to_string().contains("search = \"full\""), "{error}");
    // Where nothing was dropped, a full search would not help.
    let only =
        |model: u32| Curves { model: vec![model], epoch: vec![0], validation_loss: vec![0.1], ..Curves::default() };
    let error = choose(vec![only(0), only(1)]).expect_err("each failed in one trial");
    assert!(error.to_string().contains("in every trial") && !error.to_string().contains("full"), "{error}");
    let lists = Facts::default().with("dropped", "0 one");
    let error = Curves::from_blocks(&lists, &mut curves(&[]).blocks()).expect_err("no number");
    assert!(error.to_string().contains("`one`"), "{error}");
}

/// Predictions and weights hold what may be chosen, and a single setting is trained as ever.
#[test]
fn a_grid_that_is_scored_may_race_too() {
    let run = |params: &Params| {
        Train::run(given(Construction::Hard), params, &StageRng::new(1, "train", 0), &Progress::none()).expect("trains")
    };
    let (predictions, curves, weights) = run(&grid(Search::Racing));
    assert_eq!(curves, searched(Search::Racing, 0));
    assert_eq!(predictions.settings.len(), 8);
    let to_the_end: Vec<u32> = (0..8).filter(|model| !curves.dropped.contains(model)).collect();
    assert_eq!(predictions.models.iter().map(|model| model.model).collect::<Vec<_>>(), to_the_end);
    assert_eq!(weights.models.iter().map(|(model, _)| *model).collect::<Vec<_>>(), to_the_end);
    let one = |search| Params { epochs: 10, search, ..Params::default() };
    assert_eq!(run(&one(Search::Racing)), run(&one(Search::Full)));
}

#[test]
fn where_links_are_learned_no_setting_is_dropped() {
    let params = Params { epochs: 24, ..grid(Search::Racing) };
    let (rng, progress) = (StageRng::new(1, "train", 0), Progress::none());
    let (curves,) = SearchGrid::run(given(Construction::Learned), &params, &rng, &progress).expect("trains");
    assert_eq!((curves.dropped.len(), curves.epoch.len()), (0, 8 * 24));
}

/// A search reads no probabilities, so its networks are not asked for any; their curves are those of scored networks.
#[test]
fn a_search_has_the_curves_of_scored_networks() {
    for construction in [Construction::Hard, Construction::Learned] {
        let params = Params { epochs: 12, ..grid(Search::Full) };
        let (rng, progress) = (StageRng::new(1, "train", 0), Progress::none());
        let (curves,) = SearchGrid::run(given(construction), &params, &rng, &progress).expect("trains");
        let (predictions, of_scored, _) = Train::run(given(construction), &params, &rng, &progress).expect("trains");
        assert_eq!(curves, of_scored);
        assert!(predictions.models.iter().all(|model| !model.probabilities.is_empty()));
        let (unread, ..) = Train::run_for(given(construction), &params, &rng, &progress, Read::Curves).expect("trains");
        assert!(unread.models.iter().all(|model| model.probabilities.is_empty()));
    }
}

#[test]
fn a_race_needs_more_settings_than_its_first_heat() {
    let params = grid(Search::Racing);
    assert!(params.can_race());
    assert!(!Params { device: Device::Cuda, ..params.clone() }.can_race(), "all at once");
    assert!(!Params { links: Some(LinkLearning::default()), ..params.clone() }.can_race(), "learned links");
    assert!(!Params { labels: LabelUse::Forward, ..params.clone() }.can_race(), "corrected noisy labels");
    let two_seeds = OneOrMany::Many(vec![0, 1]);
    assert!(!Params { dropout: OneOrMany::One(0.0), initial_seed: two_seeds, ..params }.can_race(), "four settings");
}

/// Keys of networks that were trained before stay as they are.
#[test]
fn a_search_is_written_where_it_is_not_the_full_one() {
    let written = |params: &Params| toml::Value::try_from(params).expect("a table");
    assert_eq!(written(&grid(Search::Full)).get("search"), None);
    let racing = written(&grid(Search::Racing));
    assert_eq!(racing["search"].as_str(), Some("racing"));
    assert_eq!(racing.try_into::<Params>().expect("round trip"), grid(Search::Racing));
}
