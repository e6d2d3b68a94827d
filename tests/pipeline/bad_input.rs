//! Whatever is wrong with input: one clear error that names the place and the remedy, a non-zero exit
//! status, no panic, and nothing written.

use std::io::Write;

use crate::support::Lab;

/// A case: what it is, the config, further files, the exit status, and words that the error must hold.
type Case<'a> = (&'a str, String, Vec<(&'a str, Vec<u8>)>, i32, Vec<&'a str>);

const EDGES: &str = "id_1,id_2\n0,1\n1,2\n2,3\n3,4\n4,5\n";
const LABELS: &str = "id,target\n0,0\n1,1\n2,0\n3,1\n4,0\n5,1\n";

/// A config with these tables beside a valid budget.
fn synthetic(rest: &str) -> String {
    let budget = if rest.contains("[privatize") { "" } else { "[privatize.links]\nepsilon = 4\n" };
    format!("{budget}{rest}\n")
}

/// A run of one's own files, with further `[ingest]` fields.
fn own(fields: &str) -> String {
    format!("[privatize.links]\nepsilon = 4\n[ingest]\nedges = \"e.csv\"\n{fields}\n")
}

fn text(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// Files of a run with links, and one more.
fn with<'a>(name: &'a str, content: &str) -> Vec<(&'a str, Vec<u8>)> {
    vec![("e.csv", text(EDGES)), (name, text(content))]
}

fn labelled<'a>(name: &'a str, content: &str) -> Vec<(&'a str, Vec<u8>)> {
    let mut files = with("l.csv", LABELS);
    if !name.is_empty() {
        files.push((name, text(content)));
    }
    files
}

fn config_cases<'a>() -> Vec<Case<'a>> {
    let case = |what, config: &str, words: Vec<&'a str>| (what, config.to_owned(), vec![], 2, words);
    vec![
        case("broken TOML", "[ingest\n", vec!["c.toml:1", "TOML"]),
        case("a table that does not exist", &synthetic("[trian]\nepochs = 3"), vec!["trian", "did you mean `train`"]),
        case(
            "a field that does not exist",
            &synthetic("[train]\nepoch = 3"),
            vec!["c.toml:4", "train.epoch", "did you mean `epochs`"],
        ),
        case(
            "a field that belongs above all tables",
            &synthetic("[train]\nextends = \"other.toml\""),
            vec!["c.toml:4", "`extends` belongs above the first table"],
        ),
        case(
            "a field of the privacy table",
            "[privatize.links]\nepsilon = 4\ndelta = 0.1\n",
            vec!["c.toml:3", "delta"],
        ),
        case(
            "a second mechanism table",
            &synthetic("[privatize.labels]\nepsilon = 1\n[privatize.links]\nepsilon = 1"),
            vec!["labels"],
        ),
        case("no budget", "[ingest]\ndataset = \"synthetic\"\n", vec!["privatize.links", "epsilon"]),
        case("a budget of zero", "[privatize.links]\nepsilon = 0\n", vec!["c.toml:2", "positive", "0"]),
        case("a negative budget", "[privatize.links]\nepsilon = -2.5\n", vec!["c.toml:2", "positive", "-2.5"]),
        case("a budget that is no number", "[privatize.links]\nepsilon = nan\n", vec!["c.toml:2", "positive"]),
        case("a budget in words", "[privatize.links]\nepsilon = \"four\"\n", vec!["c.toml:2", "epsilon"]),
        case("one bad budget of a sweep", "[privatize.links]\nepsilon = [1, -1]\n", vec!["c.toml:2", "positive"]),
        case("an empty sweep", "[privatize.links]\nepsilon = []\n", vec!["c.toml:2", "sweeps over nothing"]),
        case(
            "a fraction above one",
            "[privatize.links]\nepsilon = 4\ndegree_fraction = 1.1\n",
            vec!["c.toml:3", "[0, 1]", "1.1"],
        ),
        case(
            "a negative fraction",
            "[privatize.links]\nepsilon = 4\ndegree_fraction = -0.1\n",
            vec!["c.toml:3", "[0, 1]"],
        ),
        case(
            "an unknown mechanism",
            "[privatize.links]\nepsilon = 4\nmechanism = \"blnk\"\n",
            vec!["c.toml:3", "did you mean `blink`"],
        ),
        case(
            "an unknown noise",
            "[privatize.links]\nepsilon = 4\ndegree_noise = \"gauss\"\n",
            vec!["c.toml:3", "discrete-laplace"],
        ),
        case(
            "an unknown solver",
            &synthetic("[estimate]\nsolver = \"newtn\""),
            vec!["c.toml:4", "did you mean `newton`"],
        ),
        case("an unknown prior", &synthetic("[estimate]\nprior = \"flat\""), vec!["c.toml:4", "beta-model"]),
        case(
            "an unknown variant",
            &synthetic("[construct]\nvariant = \"hybird\""),
            vec!["c.toml:4", "did you mean `hybrid`"],
        ),
        case("an unknown model", &synthetic("[train]\nmodel = \"gnc\""), vec!["c.toml:4", "did you mean `gcn`"]),
        case(
            "an unknown metric",
            &synthetic("[evaluate]\nmetrics = [\"acuracy\"]"),
            vec!["c.toml:4", "did you mean `accuracy`"],
        ),
        case(
            "an unknown dataset",
            &synthetic("[ingest]\ndataset = \"citeser\""),
            vec!["c.toml:4", "did you mean `citeseer`"],
        ),
        case("an unknown format", &synthetic("[ingest]\nformat = \"graphml\""), vec!["c.toml:4", "planetoid"]),
        case("an unknown normalization", &synthetic("[ingest]\nnormalize = \"colum\""), vec!["c.toml:4", "row"]),
        case("a format without its fields", &synthetic("[ingest]\nformat = \"npz\""), vec!["archive"]),
        case("no trials", &format!("trials = 0\n{}", synthetic("")), vec!["c.toml:1", "not between 1"]),
        case("a negative seed", &format!("seed = -1\n{}", synthetic("")), vec!["c.toml:1", "seed"]),
        case("a name that is a path", &format!("name = \"../x\"\n{}", synthetic("")), vec!["c.toml:1", "letters"]),
        case("a learning rate of zero", &synthetic("[train]\nlearning_rate = 0"), vec!["learning_rate", "positive"]),
        case("a negative penalty", &synthetic("[train]\nweight_decay = -1"), vec!["weight_decay", "at least 0"]),
        case("dropping everything", &synthetic("[train]\ndropout = [0.1, 1.0]"), vec!["dropout", "[0, 1)"]),
        case("no epochs", &synthetic("[train]\nepochs = 0"), vec!["epochs", "at least 1"]),
        case("a key twice", "[privatize.links]\nepsilon = 1\nepsilon = 2\n", vec!["c.toml:3", "TOML"]),
        case("a text without end", "[privatize.links]\nepsilon = \"4\n", vec!["c.toml:2", "TOML"]),
        case("a table for a number", "[privatize.links]\nepsilon = { a = 1 }\n", vec!["c.toml:2", "epsilon"]),
        case("a budget beyond all numbers", "[privatize.links]\nepsilon = 1e999\n", vec!["c.toml:2"]),
        case("trials in words", &format!("trials = \"many\"\n{}", synthetic("")), vec!["c.toml:1", "trials"]),
        case("half a trial", &format!("trials = 1.5\n{}", synthetic("")), vec!["c.toml:1", "trials"]),
        case("an empty name", &format!("name = \"\"\n{}", synthetic("")), vec!["c.toml:1", "letters"]),
        case(
            "an unknown treatment of missing nodes",
            &synthetic("[estimate]\nmissing_nodes = \"guess\""),
            vec!["c.toml:4", "one-sided"],
        ),
        case(
            "an unknown source of randomness",
            &format!("[privacy]\nrandomness = \"dice\"\n{}", synthetic("")),
            vec!["c.toml:2", "seeded"],
        ),
        case(
            "a negative budget for all",
            &format!("[privacy]\nbudget = -1\n{}", synthetic("")),
            vec!["c.toml:2", "positive"],
        ),
        case("an empty grid", &synthetic("[train]\nlearning_rate = []"), vec!["learning_rate", "at least one"]),
    ]
}

/// Mistakes about private features and labels, and about what is learned from them.
fn attribute_cases<'a>() -> Vec<Case<'a>> {
    let small = "[ingest.synthetic]\nnodes = 60\nclasses = 3\nfeatures = 20\nwords = 4\n[train]\nepochs = 3\n";
    let of = |what, tables: String, status, words: Vec<&'a str>| (what, synthetic(&tables), vec![], status, words);
    let features = |what, fields: &str, status, words| {
        of(what, format!("{small}[privatize.features]\n{fields}\n[privatize.links]\nepsilon = 4"), status, words)
    };
    let labels = |what, fields: &str, words| {
        of(what, format!("{small}[privatize.labels]\n{fields}\n[privatize.links]\nepsilon = 4"), 2, words)
    };
    let train = |what, fields: &str, words| of(what, format!("{small}{fields}"), 2, words);
    let bit = "mechanism = \"one-bit\"\nepsilon = 1\n";
    let multi = "mechanism = \"multi-bit\"\nepsilon = 1\n";
    let averaged = format!("{small}[privatize.features]\n{bit}[estimate.features]\nhops = 2\n");
    let response = "mechanism = \"randomized-response\"\nepsilon = 1";
    let solitude = "mechanism = \"solitude\"\nepsilon = 4";
    let rr = "[privatize.links]\nmechanism = \"rr\"\nepsilon = 4\n";
    let free = "[ingest.synthetic]\nnodes = 60\n[privatize.features]\nmechanism = \"feature-free\"\n";
    let attack = |what, name: &str, words| {
        let canaries = if name.starts_with("canary") { "canaries = 50\n" } else { "" };
        of(what, format!("{averaged}{rr}[audit]\nattacks = [\"{name}\"]\n{canaries}"), 2, words)
    };
    vec![
        features("an empty range", &format!("{bit}range = [1, 0]"), 2, vec!["range = [1, 0] is empty"]),
        features("a range of three", &format!("{bit}range = [0, 1, 2]"), 2, vec!["range", "two numbers"]),
        features("no budget for features", "mechanism = \"one-bit\"\nepsilon = 0", 2, vec!["positive", "not 0"]),
        features("no coordinate", &format!("{multi}coordinates = 0"), 2, vec!["coordinates = 0"]),
        features("too many coordinates", &format!("{multi}coordinates = 21"), 2, vec!["at most 20"]),
        features(
            "a delta that is none",
            "mechanism = \"gaussian\"\nepsilon = 1\ndp_delta = 2",
            2,
            vec!["dp_delta = 2", "between 0 and 1"],
        ),
        features("a slip in a mechanism", "mechanism = \"onebit\"\nepsilon = 1", 2, vec!["did you mean `one-bit`"]),
        features("a budget without a mechanism", "epsilon = 1", 2, vec!["set `mechanism`"]),
        features(
            "a field of another mechanism",
            &format!("{multi}budget = \"per-node\""),
            2,
            vec!["`budget` is not read by the chosen mechanism"],
        ),
        labels("labels without a mechanism", "epsilon = 1", vec!["set `mechanism`"]),
        labels(
            "a negative budget for labels",
            "mechanism = \"randomized-response\"\nepsilon = -1",
            vec!["positive", "-1"],
        ),
        of(
            "a slip in a table",
            format!("{small}[privatize.label]\nepsilon = 1\n[privatize.links]\nepsilon = 4"),
            2,
            vec!["did you mean `privatize.labels`"],
        ),
        of(
            "features that are private in one alternative",
            format!(
                "{small}[[compare]]\nname = \"a\"\nprivatize.features.mechanism = \"one-bit\"\n\
                     privatize.features.epsilon = 1\n[[compare]]\nname = \"b\""
            ),
            2,
            vec!["non-private", "private in another part"],
        ),
        of(
            "a scale that looks at all nodes",
            format!(
                "{small}[ingest]\nnormalize = \"min-max\"\n[privatize.features]\n{bit}\n[privatize.links]\nepsilon = 4"
            ),
            2,
            vec!["normalize = \"none\"", "`range`"],
        ),
        of(
            "features averaged over links that are learned",
            format!("{averaged}[privatize.links]\nmechanism = \"solitude\"\nepsilon = 4"),
            2,
            vec!["c.toml:12: estimate.features.hops", "(2 hops)"],
        ),
        of(
            "labels averaged over links that are learned",
            format!("{small}labels = \"drop\"\n[privatize.labels]\n{response}\n[privatize.links]\n{solitude}"),
            2,
            vec!["c.toml:8: train.labels", "`drop`", "leave one out"],
        ),
        of(
            "a substitute averaged over links that are learned",
            format!("{free}[privatize.links]\n{solitude}"),
            2,
            vec!["estimate.features.hops", "(8 hops)"],
        ),
        of(
            "an influence of averaged substitutes",
            format!(
                "{free}[estimate.features]\nsubstitute = \"one-hot-degree\"\n{rr}[audit]\nattacks = [\"linkteller\"]"
            ),
            2,
            vec!["`linkteller`", "8 hops"],
        ),
        of(
            "beliefs beside averaged substitutes",
            format!("{free}[estimate]\nmethod = \"best\"\n[train]\nbeliefs = true\n[privatize.links]\nepsilon = 4"),
            2,
            vec!["train.beliefs", "hops averages all of them"],
        ),
        of(
            "an influence of rescaled features",
            format!(
                "{small}[estimate.features]\nrescale = \"root-mean-square\"\n{rr}[audit]\nattacks = [\"linkteller\"]"
            ),
            2,
            vec!["`linkteller`", "leave `rescale` out"],
        ),
        of(
            "random features without a column",
            format!("{free}[estimate.features]\nsubstitute = \"random\"\ndimension = 0\n{rr}"),
            2,
            vec!["dimension must lie between 1"],
        ),
        attack("an influence of averaged features", "linkteller", vec!["`linkteller`", "single nodes", "hops = 0"]),
        attack("neighbourhoods with averaged features", "inductive", vec!["`inductive`", "single nodes", "hops = 0"]),
        attack("canaries behind averaged features", "canary-network", vec!["`canary-network`", "hops = 0"]),
        of(
            "a split that the graph does not come with",
            "[ingest]\nsplit = \"planetoid\"".to_owned(),
            1,
            vec!["comes without a split"],
        ),
        of(
            "as many steps of features",
            averaged.replace("hops = 2", "hops = 1001") + rr,
            2,
            vec!["hops = 1001 is more than 1000"],
        ),
        train(
            "steps without end",
            "labels = \"drop\"\nlabel_hops = 4000000000",
            vec!["label_hops must be at most 1000"],
        ),
        train("Drop without a hop", "labels = \"drop\"\nlabel_hops = 0", vec!["label_hops must be at least 1"]),
        train("links to predict that the graph has", "task = \"link-prediction\"", vec!["hold_out_links"]),
        train("an unknown task", "task = \"links\"", vec!["classify, link-prediction"]),
        of(
            "links held out of which none is left",
            "[privatize.links]\nmechanism = \"public\"\nhold_out_links = { validation = 0.5, test = 0.5 }".to_owned(),
            2,
            vec!["validation = 0.5", "leave links to train on"],
        ),
        of(
            "a budget for no relation",
            "[privacy]\nbudget = { links = 3 }".to_owned(),
            2,
            vec!["budget", "node-features = 1"],
        ),
    ]
}

fn synthetic_cases<'a>() -> Vec<Case<'a>> {
    let case = |what, field: &str, words: Vec<&'a str>| {
        (what, synthetic(&format!("[ingest.synthetic]\n{field}")), vec![], 2, words)
    };
    vec![
        case("two nodes", "nodes = 2", vec!["c.toml:4", "ingest.synthetic.nodes", "2"]),
        case("one class", "classes = 1", vec!["classes", "between 2"]),
        case("no links", "mean_degree = 0", vec!["mean_degree", "positive"]),
        case("a steep power law", "exponent = 2", vec!["exponent", "above 2"]),
        case("more homophily than links", "homophily = 1.5", vec!["homophily", "[0, 1]"]),
        case("more words than there are", "words = 2000", vec!["words", "half the features"]),
        case("more words than numbers of 32 bits", "features = 100000000000", vec!["features", "4294967295"]),
        (
            "a graph of no machine",
            synthetic("[ingest.synthetic]\nnodes = 4294967295"),
            vec![],
            1,
            vec!["nodes", "--memory-limit"],
        ),
        (
            "more trials than can be planned",
            format!("trials = 4294967295\n{}", synthetic("")),
            vec![],
            2,
            vec!["trials", "10000"],
        ),
        ("a network of no machine", synthetic("[train]\nlayers = 100000000000"), vec![], 2, vec!["layers", "1000"]),
        ("a share above one", synthetic("[similarity]\nshare = 1.5"), vec![], 2, vec!["share", "(0, 1]"]),
        ("no pair at all", synthetic("[similarity]\nmost_pairs = 0"), vec![], 2, vec!["most_pairs", "at least 1"]),
        ("a ridge below zero", synthetic("[estimate]\nridge = -1"), vec![], 2, vec!["ridge", "at least 0"]),
        (
            "a degree budget that integers cannot represent",
            "[privatize.links]\nepsilon = 1e-6\ndegree_fraction = 0.1\n".into(),
            vec![],
            2,
            vec!["a budget of 0.0000001 nats", "degree_fraction"],
        ),
        (
            "shares above one",
            synthetic("[ingest]\nsplit = { train = 0.8, validation = 0.3, test = 0.3 }"),
            vec![],
            2,
            vec!["split", "more than 1"],
        ),
        (
            "a share of another name",
            synthetic("[ingest]\nsplit = { train = 0.5, validation = 0.25, tests = 0.25 }"),
            vec![],
            2,
            vec!["c.toml:", "split", "unknown field `tests`"],
        ),
        (
            "a budget one table too high",
            "[privatize]\nepsilon = 1.0\n".into(),
            vec![],
            2,
            vec![
                "c.toml:2: privatize.epsilon: unknown field `epsilon`, because [privatize] has tables alone; it is a field of \
                 [privatize.links], [privatize.features], [privatize.labels]",
            ],
        ),
        (
            "fields of a table that is none",
            "[privatize]\nlinks = \"blink\"\n".into(),
            vec![],
            2,
            vec!["c.toml:2: privatize.links: `links` is a table; write its fields below [privatize.links]"],
        ),
        (
            "a negative share",
            synthetic("[ingest]\nsplit = { train = -0.5, validation = 0.5, test = 0.5 }"),
            vec![],
            2,
            vec!["-0.5"],
        ),
        (
            "no training nodes",
            synthetic("[ingest]\nsplit = { train = 0, validation = 0.5, test = 0.5 }"),
            vec![],
            1,
            vec!["training"],
        ),
    ]
}

fn file_cases<'a>() -> Vec<Case<'a>> {
    let links =
        |what, content: &[u8], words: Vec<&'a str>| (what, own(""), vec![("e.csv", content.to_vec())], 1, words);
    let features = |what, file: &'a str, content: &str, words: Vec<&'a str>| {
        (what, own(&format!("features = \"{file}\"")), with(file, content), 1, words)
    };
    let labels =
        |what, content: &str, words: Vec<&'a str>| (what, own("labels = \"l.csv\""), with("l.csv", content), 1, words);
    let nodes =
        |what, content: &str, words: Vec<&'a str>| (what, own("nodes = \"n.csv\""), with("n.csv", content), 1, words);
    let split = |what, content: &str, words: Vec<&'a str>| {
        (what, own("labels = \"l.csv\"\nsplit = \"s.txt\""), labelled("s.txt", content), 1, words)
    };
    let mut cases = vec![
        (
            "a missing file of links",
            own(""),
            vec![],
            1,
            vec!["e.csv", "cannot read", "looked for", "path", "--data-dir"],
        ),
        links("an empty file", b"", vec!["e.csv", "empty"]),
        links("only a header", b"source,target\n", vec!["e.csv", "no row"]),
        links("one column", b"id\n1\n2\n", vec!["e.csv", "line 2", "two ends"]),
        links("a link with one end", b"0,1\n1,\n", vec!["e.csv", "line 2", "empty end"]),
        links("rows of different lengths", b"0,1\n1,2,3\n", vec!["e.csv", "line 2", "3 fields"]),
        links("bytes that are no text", b"0,1\n\xff\xfe,2\n", vec!["e.csv", "line 2", "UTF-8"]),
        links("links from nodes to themselves", b"0,0\n1,1\n2,2\n", vec!["e.csv", "no link"]),
        links("two nodes", b"0,1\n", vec!["e.csv", "2 nodes", "at least 3"]),
        links("only comments", b"# a\n# b\n", vec!["e.csv"]),
        links("only blank lines", b"\n\n \n", vec!["e.csv"]),
        links("a quotation that never ends", b"0,1\n\"1,2\n2,3\n", vec!["e.csv", "line 2"]),
        links("a third column in the first row", b"0,1,9\n1,2,9\n2,3\n", vec!["e.csv", "line 3"]),
        links("a link without its first end", b"0,1\n,2\n", vec!["e.csv", "line 2", "empty end"]),
        links("a byte that begins no character", b"0,1\n1,2\n\x80,3\n", vec!["e.csv", "line 3", "UTF-8"]),
        links("a character cut short", b"0,1\n1,\xe2\x82", vec!["e.csv", "line 2", "UTF-8"]),
        links("one link many times", b"0,1\n1,0\n0,1\n0,1\n", vec!["e.csv", "2 nodes"]),
        links("a gzip without its name", b"\x1f\x8b\x08\0\0\0\0\0", vec!["e.csv"]),
        links("a number that is written twice", b"0,1\n1,2\n2,1.0\n", vec!["e.csv", "line 3", "`1.0`", "`1`"]),
        labels("labels without rows", "node,label\n", vec!["l.csv", "no row"]),
        features("an empty file of features", "f.csv", "", vec!["f.csv"]),
        features("features without values", "f.csv", "node\n0\n1\n", vec!["f.csv"]),
        features("a long row cut short", "f.csv", "node_id,feature_id,value\n0,1\n", vec!["f.csv", "line 2"]),
        features("a feature that is too large", "f.csv", "node,a\n0,1e39\n1,1\n", vec!["f.csv", "line 2"]),
        features("a feature without its node", "f.csv", "node,a\n,1\n1,1\n", vec!["f.csv", "line 2"]),
        features("an empty JSON file", "f.json", "", vec!["f.json"]),
        features("JSON with a second value", "f.json", "{\"0\": [1]} {\"1\": [2]}", vec!["f.json", "line 1"]),
        features("JSON with a text for a list", "f.json", "{\"0\": \"1, 2\"}", vec!["f.json", "line 1"]),
        features("JSON with a fraction for a feature", "f.json", "{\"0\": [0.5]}", vec!["f.json", "line 1"]),
        features("JSON beyond 64 bits", "f.json", "{\"0\": [99999999999999999999]}", vec!["f.json", "line 1"]),
        labels("an empty file of labels", "", vec!["l.csv"]),
        labels("labels cut short", "id,target\n0,0\n1\n", vec!["l.csv", "line 3"]),
        labels("one label beside an empty one", "id,target\n0,\n1,0\n2,\n3,\n4,\n5,\n", vec!["l.csv", "1 class only"]),
        features(
            "a feature that is not finite",
            "f.csv",
            "node,a\n0,1\n1,nan\n",
            vec!["f.csv", "line 3", "not finite"],
        ),
        features("an infinite feature", "f.csv", "node,a\n0,inf\n1,1\n", vec!["f.csv", "line 2", "not finite"]),
        features(
            "features that overflow",
            "f.csv",
            "node,a\n0,3e38\n1,-3e38\n2,0\n3,0\n4,0\n5,0\n",
            vec!["f.csv", "node 0", "scale the features"],
        ),
        features("a feature in words", "f.csv", "node,a\n0,1\n1,red\n", vec!["f.csv", "line 3", "`red`"]),
        features("a node with two rows of features", "f.csv", "node,a\n0,1\n0,2\n", vec!["f.csv", "node `0`", "twice"]),
        features(
            "a feature given twice",
            "f.csv",
            "node_id,feature_id,value\n0,5,1\n0,5,2\n",
            vec!["f.csv", "line 3", "twice"],
        ),
        features(
            "rows of features of different widths",
            "f.csv",
            "node,a,b\n0,1,2\n1,1\n",
            vec!["f.csv", "line 3", "2 fields"],
        ),
        features(
            "rows of one feature each under other names",
            "f.csv",
            "node,word,count\n0,3,1\n0,4,1\n",
            vec!["f.csv", "line 3", "comes twice", "`feature`"],
        ),
        features("broken JSON", "f.json", "{\"0\": [1, 2", vec!["f.json", "line 1"]),
        features("JSON that is no map", "f.json", "[1, 2]", vec!["f.json", "map"]),
        features("a negative feature number", "f.json", "{\"0\": [-1]}", vec!["f.json", "line 1"]),
        features("no feature at all", "f.json", "{\"0\": []}", vec!["f.json", "the file has 0 features"]),
        features("a feature number beyond reason", "f.json", "{\"0\": [4000000000]}", vec!["f.json", "at most"]),
        labels("a node with two labels", "id,target\n0,0\n0,1\n", vec!["l.csv", "line 3", "two labels"]),
        labels("one class", "id,target\n0,0\n1,0\n2,0\n3,0\n4,0\n5,0\n", vec!["l.csv", "at least two classes"]),
        labels(
            "measurements instead of classes",
            "id,target\n0,0.5\n1,1.5\n2,0.5\n3,1.5\n4,0.5\n5,0.5\n",
            vec!["l.csv", "no classes", "label_column"],
        ),
        labels("a class for every node", "id,target\n0,a\n1,b\n2,c\n3,d\n4,e\n5,f\n", vec!["l.csv", "no classes"]),
        labels("one column of labels", "id\n0\n1\n", vec!["l.csv", "node,label"]),
        labels("a label without node", "id,target\n,1\n1,0\n", vec!["l.csv", "line 2", "without a node"]),
        (
            "a label column that is not there",
            own("labels = \"l.csv\"\nlabel_column = \"kind\""),
            labelled("", ""),
            1,
            vec!["l.csv", "`kind`", "target"],
        ),
        ("an induced graph without features", own("induced = true"), with("x", ""), 1, vec!["induced", "features"]),
        ("a missing file of labels", own("labels = \"l.csv\""), with("x", ""), 1, vec!["l.csv", "cannot read"]),
        (
            "a missing split",
            own("labels = \"l.csv\"\nsplit = \"s.txt\""),
            labelled("", ""),
            1,
            vec!["s.txt", "cannot read"],
        ),
        nodes("an empty file of nodes", "", vec!["n.csv", "empty"]),
        nodes("a node listed twice", "node\n0\n1\n2\n1\n", vec!["n.csv", "line 5", "`1`", "line 3", "once"]),
        nodes("a row without its node", "node,age\n0,7\n,8\n", vec!["n.csv", "line 3", "name the node"]),
        nodes("nodes below an index", ",node\n0,1\n1,2\n", vec!["n.csv", "line 1", "no name", "node_column"]),
        nodes("other names of nodes", "node\nann\nbob\n", vec!["n.csv", "none of the 2 nodes", "`ann`", "same names"]),
        nodes(
            "a link of a node that is not listed",
            "node\n0\n1\n2\n3\n4\n",
            vec!["e.csv", "line 6", "`5`", "not in n.csv", "add the node to n.csv, or remove the link"],
        ),
        (
            "a label of a node that is not listed",
            own("nodes = \"n.csv\"\nlabels = \"l.csv\""),
            vec![
                ("e.csv", text("0,1\n1,2\n")),
                ("n.csv", text("0\n1\n2\n")),
                ("l.csv", text("id,target\n0,0\n1,1\n9,0\n")),
            ],
            1,
            vec!["l.csv", "line 4", "`9`", "not in n.csv"],
        ),
        ("a missing file of nodes", own("nodes = \"n.csv\""), with("x", ""), 1, vec!["n.csv", "cannot read"]),
        labels(
            "a link of a node without label",
            "id,target\n0,0\n1,1\n",
            vec!["e.csv", "line 3", "`2`", "not in l.csv", "name it in `nodes`"],
        ),
        features(
            "a link of a node without features",
            "f.csv",
            "node,a\n0,1\n1,2\n",
            vec!["e.csv", "line 3", "`2`", "not in f.csv", "`induced = true`"],
        ),
        split("too few letters", "TVE", vec!["s.txt", "3 letters for 6 nodes"]),
        split("a letter that is no split", "TVEXTT", vec!["s.txt", "letter 4", "`X`"]),
        split("a split of a node that is not there", "node,split\n9,train\n", vec!["s.txt", "line 2", "`9`"]),
        split("a word that is no split", "node,split\n0,practice\n", vec!["s.txt", "line 2", "`practice`"]),
        split("overlapping splits", "node,split\n0,train\n0,test\n", vec!["s.txt", "line 3", "two splits"]),
        split("a split with three fields", "node,split\n0,train,1\n", vec!["s.txt", "line 2", "3 fields"]),
        split("a split without test nodes", "TTVVTT", vec!["s.txt", "test"]),
        split("a split without training nodes", "VVVEEE", vec!["s.txt", "training"]),
        split("an empty split", "", vec!["s.txt"]),
        split("too many letters", "TVETVETVE", vec!["s.txt", "9 letters for 6 nodes"]),
        split(
            "a word that is no split among those of all nodes",
            "train\nval\npractice\ntest\ntest\nnone\n",
            vec!["s.txt", "word 3", "`practice`"],
        ),
        split("a row of three fields among tabs", "0\ttrain\n1\ttest\tx\n", vec!["s.txt", "line 2", "3 fields"]),
        (
            "a file that is no gzip",
            own("").replace("e.csv", "e.csv.gz"),
            vec![("e.csv.gz", text("plain"))],
            1,
            vec!["e.csv.gz", "gzip"],
        ),
        (
            "a gzip cut short",
            own("").replace("e.csv", "e.csv.gz"),
            vec![("e.csv.gz", cut_gzip())],
            1,
            vec!["e.csv.gz", "gzip"],
        ),
        (
            "a file that is no Zstandard",
            own("").replace("e.csv", "e.csv.zst"),
            vec![("e.csv.zst", text("plain"))],
            1,
            vec!["e.csv.zst", "Zstandard", "fetch it again"],
        ),
        (
            "a Zstandard file cut short",
            own("").replace("e.csv", "e.csv.zst"),
            vec![("e.csv.zst", CUT_ZSTANDARD.to_vec())],
            1,
            vec!["e.csv.zst", "Zstandard", "fetch it again"],
        ),
    ];
    let npz = |what, content: Vec<u8>, words: Vec<&'a str>| {
        (what, synthetic("[ingest]\narchive = \"a.npz\""), vec![("a.npz", content)], 1, words)
    };
    cases.extend([
        npz("an archive that is none", text("no zip"), vec!["a.npz", "npz"]),
        npz("an archive cut short", text("PK\x03\x04\x14\0\0\0"), vec!["a.npz", "npz"]),
    ]);
    cases.extend(planetoid_cases());
    cases
}

fn planetoid_cases<'a>() -> Vec<Case<'a>> {
    const PARTS: [&str; 8] =
        ["ind.x.x", "ind.x.y", "ind.x.tx", "ind.x.ty", "ind.x.allx", "ind.x.ally", "ind.x.graph", "ind.x.test.index"];
    let config = synthetic("[ingest]\nformat = \"planetoid\"\nname = \"x\"");
    let all = |content: &[u8], index: &str| -> Vec<(&'a str, Vec<u8>)> {
        PARTS.iter().map(|&part| (part, if part.ends_with("index") { text(index) } else { content.to_vec() })).collect()
    };
    let case = |what, files, words| (what, config.clone(), files, 1, words);
    vec![
        case("no Planetoid files", vec![], vec!["ind.x.", "cannot read"]),
        case(
            "a pickle that runs a program",
            all(b"\x80\x02cposix\nsystem\nU\x04true\x85R.", "3\n"),
            vec!["ind.x.allx", "posix.system", "refused"],
        ),
        case("a pickle of a later protocol", all(b"\x80\x04N.", "3\n"), vec!["ind.x.allx", "protocol 4"]),
        case("a pickle cut short", all(b"\x80\x02U\xff", "3\n"), vec!["ind.x.allx", "ends too early"]),
        case("a pickle of something else", all(b"\x80\x02K\x05.", "3\n"), vec!["ind.x.allx", "a number"]),
        case("an unknown opcode", all(b"\x80\x02\xfe.", "3\n"), vec!["ind.x.allx", "0xfe"]),
        case(
            "an index that is no number",
            all(b"\x80\x02N.", "3\nfour\n"),
            vec!["ind.x.test.index", "line 2", "`four`"],
        ),
    ]
}

/// A frame of Zstandard that announces one block of eight bytes and has four of them.
const CUT_ZSTANDARD: &[u8] = b"\x28\xb5\x2f\xfd\x20\x08\x41\0\0a,b\n";

fn cut_gzip() -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(EDGES.as_bytes()).expect("in memory");
    let whole = encoder.finish().expect("in memory");
    whole[..whole.len() / 2].to_vec()
}

#[test]
fn every_bad_input_has_one_clear_error_and_writes_nothing() {
    let cases: Vec<Case> = [config_cases(), synthetic_cases(), file_cases(), attribute_cases()].concat();
    assert!(cases.len() >= 140, "{} kinds", cases.len());
    let mut problems = Vec::new();
    for (what, config, files, status, words) in cases {
        let lab = Lab::with("c.toml", config);
        files.iter().for_each(|(name, content)| lab.write(name, content));
        let answer = lab.call(&["--quiet", "run", "c.toml"]);
        let failed_late = answer.err.contains("ridge");
        let missing = words.iter().filter(|word| !answer.err.contains(**word)).count();
        let is_clear = answer.err.matches("error:").count() == 1 && !answer.err.contains("panicked");
        let wrote = !failed_late && lab.has_entries();
        if answer.status != status || missing > 0 || !is_clear || wrote {
            problems.push(format!("{what}: status {}, wrote {wrote}, wanted {words:?}: {}", answer.status, answer.err));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn wrong_usage_is_refused_before_anything_runs() {
    let lab = Lab::tiny();
    let wide = "\u{feff}name = \"wide\"\n".encode_utf16();
    lab.write("wide.toml", wide.clone().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    lab.write("unmarked.toml", wide.skip(1).flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    for (arguments, words) in [
        (vec!["run", "nowhere.toml"], vec!["nowhere.toml", "cannot read the config"]),
        (vec!["run", "wide.toml"], vec!["wide.toml", "save it as UTF-8"]),
        (vec!["run", "unmarked.toml"], vec!["unmarked.toml", "save it as UTF-8"]),
        (vec!["run", "/dev/zero"], vec!["/dev/zero", "are no config"]),
        (vec!["parameters", "config.toml", "--to", "p.toml", "--release", "0"], vec!["--release", "0"]),
        (vec!["collect", ".", "config.toml", "--to", "store", "--release", "0"], vec!["--release", "0"]),
        (vec!["run", "config.toml", "--set", "epsilon"], vec!["--set epsilon", "table.key=value"]),
        (
            vec!["run", "config.toml", "--set", "privatize.links.epsilon=-1"],
            vec!["--set privatize.links.epsilon", "positive"],
        ),
        (vec!["run", "config.toml", "--set", "train.epochs.x=1"], vec!["`epochs` is no table"]),
        (vec!["run", "config.toml", "--until", "trian"], vec!["trian"]),
        (vec!["run", "config.toml", "--device", "tpu"], vec!["tpu"]),
        (vec!["frobnicate"], vec!["frobnicate"]),
    ] {
        let answer = lab.call(&arguments);
        assert_eq!(answer.status, 2, "{arguments:?}: {}", answer.err);
        assert!(words.iter().all(|word| answer.err.contains(word)), "{arguments:?}: {}", answer.err);
        assert!(!lab.has_entries());
    }
}

#[test]
#[cfg(not(any(feature = "cuda", feature = "vulkan")))]
fn a_device_is_refused_where_it_is_not_compiled() {
    let lab = Lab::tiny();
    for device in ["cuda", "vulkan"] {
        let answer = lab.call(&["run", "config.toml", "--device", device]);
        let remedy = format!("--features {device}");
        assert!(answer.status == 1 && answer.err.contains(&remedy) && !lab.has_entries(), "{}", answer.err);
    }
    assert_eq!(lab.call(&["--quiet", "run", "config.toml", "--device", "auto"]).status, 0, "auto falls back");
}

/// A tiny budget clips half the degrees to the largest and half to the least: no graph is like that.
#[test]
fn degrees_without_a_fit_are_fitted_with_a_penalty_and_that_is_said() {
    let ring: String = (0..10).map(|i| format!("{i},{}\n", (i + 1) % 10)).collect();
    let lab = Lab::with("config.toml", own("").replace("epsilon = 4", "epsilon = 0.01\ndegree_fraction = 0.9"));
    lab.write("e.csv", ring);
    let published = ["--set", "estimate.method=published"];
    let answer = lab.call(&[&["run", "config.toml"], &published[..]].concat());
    let is_said = answer.err.contains("no beta model has these degrees") && answer.err.contains("ridge = ");
    assert!(answer.status == 0 && is_said, "{} {}", answer.status, answer.err);
    // A penalty that the config sets is used without a word.
    let answer = lab.call(&[&["run", "config.toml", "--set", "estimate.ridge=0.1"], &published[..]].concat());
    assert!(answer.status == 0 && !answer.err.contains("no beta model"), "{}", answer.err);
}

#[test]
fn a_named_dataset_with_another_checksum_is_refused() {
    let lab = Lab::with("c.toml", synthetic("[ingest]\ndataset = \"lastfm\""));
    lab.write("lastfm/edges.csv", EDGES);
    lab.write("lastfm/target.csv", LABELS);
    let answer = lab.call(&["run", "c.toml"]);
    assert!(
        answer.status == 1 && answer.err.contains("checksum mismatch") && answer.err.contains("edges.csv"),
        "{}",
        answer.err
    );
}

/// The line of a mistake is that of its own table, also where several tables have one name.
#[test]
fn a_mistake_in_one_of_several_tables_is_told_with_its_own_line() {
    let more = [
        "[[compare]]\nname = \"a\"\ntrain.epochs = 3\n",
        "[[compare]]\nname = \"b\"\nconstruct.variant = \"hard\"\ntrain.epochs = 4\n",
        "[[check]]\nscore = \"accuracy\"\nat_least = 0.1\n",
        "[[check]]\nscore = \"accuracy\"\nat_least = 0.2\n",
    ];
    let config = format!("{}{}", crate::support::TINY, more.concat());
    let line_of = |wanted: &str| config.lines().position(|line| line == wanted).expect("a line") + 1;
    for (from, to, line, words) in [
        ("train.epochs = 4", "train.epochs = \"x\"", line_of("train.epochs = 4"), "[[compare]] b: train.epochs"),
        ("train.epochs = 4", "train.depochs = 4", line_of("train.epochs = 4"), "[[compare]] b: train.depochs"),
        ("name = \"b\"\n", "", line_of("name = \"b\"") - 1, "every [[compare]] needs a name"),
        (
            "construct.variant = \"hard\"",
            "construct = 3",
            line_of("construct.variant = \"hard\""),
            "[[compare]] b: construct: ",
        ),
        ("at_least = 0.2", "at_leest = 0.2", line_of("at_least = 0.2"), "at_leest"),
        ("at_least = 0.2", "at_least = \"most\"", line_of("at_least = 0.2") - 2, "is no number and not \"floor\""),
    ] {
        let lab = Lab::with("c.toml", config.replace(from, to));
        let answer = lab.call(&["plan", "c.toml"]);
        assert_eq!(answer.status, 2, "{to}: {}", answer.out);
        let place = format!("c.toml:{line}:");
        assert!(answer.err.contains(&place) && answer.err.contains(words), "{to}: {place} {words}: {}", answer.err);
    }
    // `--set` gives the field for all tables.
    let lab =
        Lab::with("c.toml", config.replace("train.epochs = 4", "train.model = \"mlp\"").replace("epochs = 20\n", ""));
    let answer = lab.call(&["plan", "c.toml", "--set", "train.epochs=x"]);
    assert!(answer.status == 2 && answer.err.contains("--set train.epochs: "), "{}", answer.err);
    // A list takes the place of that of the file below.
    lab.write("base.toml", &config);
    let own = "extends = \"base.toml\"\n[train]\nepochs = \"x\"\n[[compare]]\nname = \"own\"\ntrain.model = \"mlp\"\n";
    lab.write("c.toml", own);
    let answer = lab.call(&["plan", "c.toml"]);
    assert!(answer.status == 2 && answer.err.contains("c.toml:3: train.epochs: "), "{}", answer.err);
}

#[test]
fn nothing_is_averaged_over_learned_links_where_labels_are_true() {
    let small = "[ingest.synthetic]\nnodes = 60\nclasses = 3\nfeatures = 20\nwords = 4\n[privatize.links]\n\
                 mechanism = \"solitude\"\nepsilon = 4\n";
    for fields in ["[train]\nlabels = \"drop\"", "[estimate.features]\nrescale = \"root-mean-square\""] {
        let lab = Lab::with("c.toml", synthetic(&format!("{small}{fields}")));
        let answer = lab.call(&["plan", "c.toml"]);
        assert_eq!(answer.status, 0, "{fields}: {}", answer.err);
    }
}

/// A full disk cuts what a program would read on, so it is no success.
#[test]
fn results_that_cannot_be_written_are_an_error() {
    let lab = Lab::new();
    let advise = ["advise", "--nodes", "1000", "--mean-degree", "4"];
    for arguments in [advise.to_vec(), [advise.as_slice(), &["--json"]].concat()] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
        let output = lab.command(&arguments).stdout(full).output().expect("the program starts");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && err.contains("standard output"), "{arguments:?}: {err}");
    }
}

/// It names files of the store, which would be refused after the run.
#[test]
fn names_that_are_too_long_for_a_file_are_refused_before_anything_runs() {
    let name = format!("name = \"{}\"", "x".repeat(260));
    let lab = Lab::with("config.toml", crate::support::TINY.replace("name = \"tiny\"", &name));
    let answer = lab.call(&["run", "config.toml"]);
    assert!(answer.status == 2 && answer.err.contains("at most 200 letters") && !lab.has_entries(), "{}", answer.err);
}
