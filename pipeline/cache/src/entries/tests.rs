use std::collections::BTreeMap;
use std::fs;

use tempfile::TempDir;
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Output, Private, Public, Zone, take};
use veilgraph_store::{LAYOUT_VERSION, Manifest, MemoryLimit, Recipe, ReleaseRecord, StoreSaver};

use super::*;

const MEMORY: MemoryLimit = MemoryLimit(1 << 30);

/// What a server may see.
#[derive(Debug, PartialEq)]
struct Counts(Vec<u32>);
impl Public for Counts {}

/// What it must not see.
#[derive(Debug, PartialEq)]
struct Secrets(Vec<u32>);

macro_rules! numbers {
    ($type:ident, $name:literal, $zone:ident) => {
        impl Artifact for $type {
            const NAME: &'static str = $name;
            const ZONE: Zone = Zone::$zone;
            const COLUMNS: &'static [(&'static str, ColumnType)] = &[("number", ColumnType::U32)];
            fn facts(&self) -> Facts {
                Facts::default()
            }
            fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
                Box::new(self.0.chunks(1 << 16).map(|rows| vec![Column::U32(rows.to_vec())]))
            }
            fn from_blocks(_: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
                let mut numbers = Vec::new();
                for block in blocks {
                    numbers.extend(take::<u32>(&mut block.into_iter())?);
                }
                Ok(Self(numbers))
            }
        }
    };
}
numbers!(Counts, "counts", Server);
numbers!(Secrets, "secrets", Owner);

fn recipe(stage: &str) -> Recipe {
    Recipe {
        layout: LAYOUT_VERSION,
        stage: stage.to_owned(),
        task: Some("count".to_owned()),
        side: "server".to_owned(),
        code: "c".to_owned(),
        dependencies: "d".to_owned(),
        params: serde_json::json!({"share": 0.1}),
        seed: Some(1),
        trial: None,
        inputs: BTreeMap::new(),
        deployment: false,
    }
}

fn made(store: &Store, numbers: Vec<u32>) -> Entry {
    let lock = store.lock(&recipe("count"), || {}).expect("a lock");
    let mut draft = store.draft(recipe("count"), lock).expect("a draft");
    let mut saver = StoreSaver { draft: &mut draft, memory: MEMORY };
    Counts(numbers).write(&mut saver).expect("written");
    Private(Secrets(vec![7])).write(&mut saver).expect("written");
    draft.publish().expect("published")
}

fn cache(folder: &TempDir, is_read_only: bool) -> Cache {
    Cache::open(&format!("file://{}", folder.path().display()), is_read_only).expect("a cache")
}

fn objects(folder: &TempDir) -> Vec<String> {
    let mut open = vec![folder.path().to_owned()];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        for item in fs::read_dir(path).expect("readable").flatten() {
            if item.path().is_dir() { open.push(item.path()) } else { found.push(item.path().display().to_string()) }
        }
    }
    found
}

#[test]
fn an_entry_is_taken_over_with_its_bytes_and_without_private_files() {
    let [here, there, shared] = [(); 3].map(|()| TempDir::new().expect("a folder"));
    // Large enough to be sent in pieces, and without a pattern that would make the file small.
    let mixed = |number: u64| {
        let mixed = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 32) as u32
    };
    let numbers: Vec<u32> =
        (1..10_000_000_u64).map(|number| mixed(number.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    let entry = made(&Store::new(here.path().join("store")), numbers);
    let key = entry.manifest.key.clone();
    assert!(entry.manifest.outputs["counts"].bytes > 2 * (16 << 20), "it is sent in pieces");
    let cache = cache(&shared, false);
    assert!(!cache.has_entry("count", &key).expect("an answer"));
    cache.put_entry(&entry).expect("put");
    cache.put_entry(&entry).expect("a second time changes nothing");
    assert_eq!(objects(&shared).len(), 2, "one file and one manifest: the private file has not left");
    let store = Store::new(there.path().join("store"));
    let taken = cache.take_entry(&store, "count", &key).expect("taken").expect("it is there");
    assert_eq!(taken.manifest, entry.manifest);
    assert_eq!(taken.read::<Counts>("counts", MEMORY).expect("read"), entry.read("counts", MEMORY).expect("read"));
    assert!(!taken.is_complete() && taken.is_sound_for_server());
}

#[test]
fn files_without_their_entry_are_not_seen() {
    let [here, there, shared] = [(); 3].map(|()| TempDir::new().expect("a folder"));
    let entry = made(&Store::new(here.path().join("store")), vec![1, 2]);
    let cache = cache(&shared, false);
    cache.put_entry(&entry).expect("put");
    // As an upload that was interrupted before its last object leaves it.
    fs::remove_dir_all(shared.path().join("entries")).expect("removed");
    let store = Store::new(there.path().join("store"));
    assert!(cache.take_entry(&store, "count", &entry.manifest.key).expect("an answer").is_none());
}

#[test]
fn what_is_not_as_its_name_says_is_refused() {
    let [here, there, shared] = [(); 3].map(|()| TempDir::new().expect("a folder"));
    let entry = made(&Store::new(here.path().join("store")), vec![1, 2]);
    let key = &entry.manifest.key;
    let cache = cache(&shared, false);
    cache.put_entry(&entry).expect("put");
    let store = Store::new(there.path().join("store"));
    let file = shared.path().join("files").join(&entry.manifest.outputs["counts"].digest);
    let whole = fs::read(&file).expect("readable");
    let manifest = shared.path().join("entries/count").join(format!("{key}.json"));
    let text = fs::read_to_string(&manifest).expect("readable");
    let refused = |problem: &str| {
        let error = cache.take_entry(&store, "count", key).expect_err("refused").to_string();
        assert!(error.contains(problem), "{error}");
        assert!(store.find("count", key).expect("readable").is_none(), "nothing is taken over");
        assert!(cache.take_entry(&store, "count", key).expect("an answer").is_none(), "it is forgotten");
        cache.put_entry(&entry).expect("put anew");
        assert!(fs::read(&file).expect("there") == whole && fs::read_to_string(&manifest).expect("there") == text);
    };
    fs::write(&file, [&whole[..], b"x"].concat()).expect("written");
    refused("it is not what its manifest says");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    fs::write(&file, flipped).expect("written");
    refused("it is not what its manifest says");
    fs::remove_file(&file).expect("removed");
    refused("is gone; the cache has forgotten this entry");
    fs::write(&manifest, text.replace("0.1", "0.2")).expect("written");
    refused("its checksum is wrong");
    let released = Manifest {
        release: Some(ReleaseRecord {
            population: "members".to_owned(),
            statement: "count: 1".to_owned(),
            number: 1,
            charged_as: key.clone(),
            collected: false,
        }),
        ..entry.manifest.clone()
    };
    fs::write(&manifest, released.to_bytes()).expect("written");
    refused("it says that it holds a release, and its stage makes none");
    // The manifest of another entry, which is sound in itself.
    let other = shared.path().join("entries/other");
    fs::create_dir(&other).expect("made");
    fs::write(other.join(format!("{key}.json")), &text).expect("written");
    let error = cache.take_entry(&store, "other", key).expect_err("refused").to_string();
    assert!(error.contains("it is the manifest of another entry"), "{error}");
    let taken = cache.take_entry(&store, "count", key).expect("taken").expect("it is there");
    // What is damaged here is taken anew.
    fs::write(taken.path(&taken.manifest.outputs["counts"]), b"damaged").expect("written");
    let healed = cache.take_entry(&store, "count", key).expect("taken").expect("it is there");
    assert_eq!(healed.read::<Counts>("counts", MEMORY).expect("sound"), Counts(vec![1, 2]));
    // And what is gone from the cache is put again by whoever has it.
    fs::remove_file(&file).expect("removed");
    cache.put_entry(&entry).expect("put");
    assert_eq!(fs::read(&file).expect("there"), whole);
}

#[test]
fn a_file_with_another_digest_than_its_manifest_stays_out() {
    let [here, shared] = [(); 2].map(|()| TempDir::new().expect("a folder"));
    let entry = made(&Store::new(here.path().join("store")), vec![1, 2]);
    let path = entry.path(&entry.manifest.outputs["counts"]);
    fs::write(&path, b"damaged").expect("written");
    assert!(cache(&shared, false).put_entry(&entry).is_err());
    assert!(objects(&shared).is_empty(), "nothing was put");
}

#[test]
fn a_read_only_cache_takes_nothing() {
    let [here, shared] = [(); 2].map(|()| TempDir::new().expect("a folder"));
    let cache = cache(&shared, true);
    let entry = made(&Store::new(here.path().join("store")), vec![1]);
    cache.put_entry(&entry).expect("passed over");
    assert!(objects(&shared).is_empty());
}

/// Whoever may not write to a cache leaves damage as it is, and says who can mend it.
#[test]
fn a_read_only_cache_forgets_nothing() {
    let [here, there, shared] = [(); 3].map(|()| TempDir::new().expect("a folder"));
    let entry = made(&Store::new(here.path().join("store")), vec![1, 2]);
    cache(&shared, false).put_entry(&entry).expect("put");
    let file = shared.path().join("files").join(&entry.manifest.outputs["counts"].digest);
    fs::remove_file(&file).expect("removed");
    let before = objects(&shared);
    let store = Store::new(there.path().join("store"));
    let taken = cache(&shared, true).take_entry(&store, "count", &entry.manifest.key);
    let error = taken.expect_err("refused").to_string();
    assert!(error.contains(&format!("count/{}.json", entry.manifest.key)) && error.contains("ask somebody"), "{error}");
    assert_eq!(objects(&shared), before);
}

/// A manifest that somebody has put anew since it was read stays.
#[test]
fn what_was_put_anew_meanwhile_is_not_removed() {
    let shared = TempDir::new().expect("a folder");
    let cache = cache(&shared, false);
    cache.put("count/x.json", b"damaged".to_vec()).expect("put");
    let (_, read) = cache.get_with_meta("count/x.json").expect("readable").expect("there");
    cache.put("count/x.json", b"sound again".to_vec()).expect("put");
    cache.remove_if_unchanged("count/x.json", &read).expect("an answer");
    let (bytes, now) = cache.get_with_meta("count/x.json").expect("readable").expect("it stays");
    assert_eq!(bytes, b"sound again");
    cache.remove_if_unchanged("count/x.json", &now).expect("removed");
    assert!(cache.get("count/x.json").expect("an answer").is_none());
}

#[test]
fn an_address_that_is_none_is_refused() {
    for url in ["ftp://host/folder", "folder", "file:///no/such/folder"] {
        let error = Cache::open(url, false).map(|_| ()).expect_err(url).to_string();
        assert!(error.contains(url), "{error}");
    }
}

#[test]
fn an_order_is_put_replaced_and_removed() {
    let shared = TempDir::new().expect("a folder");
    let cache = cache(&shared, false);
    assert_eq!(cache.order("ab").expect("an answer"), None);
    cache.put_order("ab", b"first".to_vec()).expect("put");
    cache.put_order("ab", b"second".to_vec()).expect("put");
    assert_eq!(cache.order("ab").expect("an answer"), Some(b"second".to_vec()));
    cache.remove_order("ab").expect("removed");
    cache.remove_order("ab").expect("removed before");
    assert_eq!(cache.order("ab").expect("an answer"), None);
}
