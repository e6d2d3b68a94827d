use super::*;
use crate::architecture::{Architecture, NetworkOptions, SageNorm, named};
use crate::grid::Setting;

const N_FEATURES: usize = 5;

/// Twelve models (so that `model10.` stands before `model2.` in the file), of which one failed.
fn weights(architecture: Architecture) -> ModelWeights {
    let options = NetworkOptions {
        layers: 3,
        hidden: 4,
        sage_norm: SageNorm::Clamp1,
        gat_double_weight: true,
        ..NetworkOptions::default()
    };
    let numbers: Vec<u32> = (0..12).filter(|&number| number != 7).collect();
    let parameters = |number: u32| -> Vec<Parameter> {
        let shapes = named(architecture.layers(options, N_FEATURES, 3)).into_iter();
        shapes
            .map(|(name, shape)| {
                let values = (0..shape[0] * shape[1]).map(|k| (k as f32 + 100.0 * number as f32) / 7.0).collect();
                Parameter { name, shape, values }
            })
            .collect()
    };
    let setting = Setting { learning_rate: 0.01, weight_decay: 1e-3, dropout: 0.5, initial_seed: 1 };
    let description = GridDescription {
        architecture,
        options,
        n_classes: 3,
        class_names: vec!["red".to_owned(), "green, light".to_owned(), String::new()],
        models: numbers.iter().map(|&number| (number, setting, 1.0 / f64::from(number + 1))).collect(),
    };
    ModelWeights { description, models: numbers.into_iter().map(|number| (number, parameters(number))).collect() }
}

fn read(table: &ModelWeights, attachment: Option<&[u8]>) -> Result<ModelWeights, Invalid> {
    ModelWeights::from_parts(&table.facts(), &mut table.blocks(), attachment)
}

const ARCHITECTURES: [Architecture; 4] =
    [Architecture::Gcn, Architecture::GraphSage, Architecture::Gat, Architecture::Mlp];

#[test]
fn weights_are_read_back_as_they_were_written() {
    for architecture in ARCHITECTURES {
        let weights = weights(architecture);
        let file = weights.attachment().expect("a file");
        let mut again = read(&weights, Some(&file)).expect("what was written");
        assert_eq!(again.models, weights.models, "bit for bit");
        for (found, written) in again.description.models.iter_mut().zip(&weights.description.models) {
            assert!((found.2 - written.2).abs() <= f64::EPSILON * written.2, "one unit in the last place");
            found.2 = written.2;
        }
        assert_eq!(again.description, weights.description);
        for number in [0, 6, 8, 11] {
            let saved = SavedModel::parse(&file, Some(number)).expect("it is there");
            assert_eq!(saved.parameters, again.model(number).expect("it is there").parameters);
        }
        again.model(7).expect_err("it failed in training");
    }
}

/// Names are public: whoever opens the file elsewhere finds parameters by them.
#[test]
fn parameters_are_listed_layer_by_layer_under_their_names() {
    let names = |architecture: Architecture| -> Vec<String> {
        let options = NetworkOptions {
            layers: 1,
            hidden: 4,
            sage_norm: SageNorm::Clamp1,
            gat_double_weight: true,
            ..NetworkOptions::default()
        };
        let shapes = named(architecture.layers(options, 2, 3)).into_iter();
        shapes.map(|(name, [rows, columns])| format!("{name} {rows} {columns}")).collect()
    };
    assert_eq!(names(Architecture::Gcn), ["layer1.weight 2 3", "layer1.bias 1 3"]);
    assert_eq!(names(Architecture::Mlp), names(Architecture::Gcn));
    assert_eq!(
        names(Architecture::GraphSage),
        ["layer1.weight_neighbours 2 3", "layer1.bias 1 3", "layer1.weight_self 2 3"]
    );
    assert_eq!(
        names(Architecture::Gat),
        ["layer1.weight 2 3", "layer1.bias 1 3", "layer1.attention_source 3 1", "layer1.attention_target 3 1"]
    );
}

/// A change after which weights are not what they say.
type Lie = fn(&mut ModelWeights);

#[test]
fn an_attachment_that_lies_is_refused() {
    for architecture in ARCHITECTURES {
        let good = weights(architecture);
        let lies: [(&str, Lie); 12] = [
            ("endless layers", |weights| weights.description.options.layers = usize::MAX),
            ("no layers", |weights| weights.description.options.layers = 0),
            ("fewer layers", |weights| weights.description.options.layers = 2),
            ("no hidden units", |weights| weights.description.options.hidden = 0),
            ("more hidden units", |weights| weights.description.options.hidden = 5),
            ("no classes", |weights| weights.description.n_classes = 0),
            ("more classes", |weights| weights.description.n_classes = 4),
            ("a model that is not there", |weights| weights.description.models[3].0 = 7),
            ("a model twice", |weights| weights.description.models[3].0 = 2),
            ("a model unlisted", |weights| weights.description.models.truncate(10)),
            ("a parameter lost", |weights| drop(weights.models[2].1.pop())),
            ("a parameter renamed", |weights| weights.models[2].1[0].name = "layer1.wait".to_owned()),
        ];
        for (lie, tell) in lies {
            let mut weights = good.clone();
            tell(&mut weights);
            let file = weights.attachment().expect("a file");
            assert!(read(&good, Some(&file)).is_err(), "{architecture:?}: {lie}");
            // The table lies in the same way, where it can.
            assert!(read(&weights, Some(&file)).is_err(), "{architecture:?}: {lie}, and so does the table");
        }
        let mut other = good.clone();
        other.description.architecture = match architecture {
            Architecture::Gat => Architecture::Gcn,
            _ => Architecture::Gat,
        };
        assert!(read(&good, other.attachment().as_deref()).is_err(), "{architecture:?}: another network");
    }
}

#[test]
fn a_table_and_a_file_that_differ_are_refused() {
    let good = weights(Architecture::Gcn);
    let file = good.attachment().expect("a file");
    let changes: [Lie; 5] = [
        |weights| weights.models.swap(0, 1),
        |weights| drop(weights.models.pop()),
        |weights| weights.models.push(weights.models[0].clone()),
        |weights| weights.models[1].1[0].shape = [4, 5],
        |weights| weights.models[1].1.swap(0, 1),
    ];
    for change in changes {
        let mut table = good.clone();
        change(&mut table);
        read(&table, Some(&file)).expect_err("another table");
    }
    read(&good, None).expect_err("no file");
    ModelWeights::from_blocks(&good.facts(), &mut good.blocks()).expect_err("shapes are no weights");
    for end in [0, 1, 8, 9, 100, file.len() / 2, file.len() - 1] {
        read(&good, Some(&file[..end])).expect_err("cut short");
    }
}
