use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Private, Public, take};

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use super::*;
use crate::shared::read_once;
use crate::{MemoryLimit, StoreSaver};
use veilgraph_contract::Output;

const MEMORY: MemoryLimit = MemoryLimit(1 << 20);

#[derive(Debug, PartialEq)]
struct Counts(Vec<u32>);
impl Public for Counts {}
impl Artifact for Counts {
    const NAME: &'static str = "counts";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("count", ColumnType::U32)];
    fn facts(&self) -> Facts {
        Facts::default().with("total", self.0.iter().sum::<u32>())
    }
    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(self.0.chunks(3).map(|rows| vec![Column::U32(rows.to_vec())]))
    }
    fn footprint(facts: &Facts, _: u64) -> Result<u64, Invalid> {
        facts.get("total")
    }
    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut counts = Vec::new();
        for block in blocks {
            counts.extend(take::<u32>(&mut block.into_iter())?);
        }
        let total: u32 = facts.get("total")?;
        if total == counts.iter().sum::<u32>() { Ok(Self(counts)) } else { Err(Invalid("the total is wrong".into())) }
    }
}

fn recipe(trial: u32) -> Recipe {
    Recipe {
        layout: crate::LAYOUT_VERSION,
        stage: "count".into(),
        task: Some("count".into()),
        side: "server".into(),
        code: "c".into(),
        dependencies: "d".into(),
        params: serde_json::json!({"a": 1}),
        seed: None,
        trial: Some(trial),
        inputs: BTreeMap::new(),
        deployment: false,
    }
}

fn save(artifact: &impl Output, draft: &mut crate::Draft) {
    artifact.write(&mut StoreSaver { draft, memory: MEMORY }).expect("written");
}

fn publish(store: &Store, trial: u32) -> Entry {
    let lock = store.lock(&recipe(trial), || {}).expect("lock");
    let mut draft = store.draft(recipe(trial), lock).expect("draft");
    save(&Counts(vec![5, 6, 7, 8]), &mut draft);
    draft.publish().expect("published")
}

#[test]
fn an_entry_is_found_read_and_removed() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path());
    let key = recipe(0).key();
    assert!(store.find("count", &key).expect("readable").is_none());
    publish(&store, 0);
    let entry = store.find("count", &key).expect("readable").expect("published");
    assert!(entry.is_complete());
    assert_eq!(store.entries(&["count"]).expect("readable").len(), 1);
    store.remove("count", &key).expect("removed");
    assert!(store.find("count", &key).expect("readable").is_none());
    assert!(!store.part(Part::Simulation).join("count").join(&key).exists());
}

#[test]
fn equal_artifacts_have_equal_bytes() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path());
    let digest = |trial| publish(&store, trial).manifest.outputs["counts"].digest.clone();
    assert_eq!(digest(0), digest(1));
}

/// A table that says nothing, beside which all values stand.
struct Weights(Vec<u8>);
impl Public for Weights {}
impl Artifact for Weights {
    const NAME: &'static str = "weights";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("shape", ColumnType::U32)];
    const ATTACHMENT: Option<&'static str> = Some("weights.bin");
    fn facts(&self) -> Facts {
        Facts::default()
    }
    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(std::iter::once(vec![Column::U32(vec![1])]))
    }
    fn from_blocks(_: &Facts, _: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        Err(Invalid("the values stand beside the table".into()))
    }
    fn attachment(&self) -> Option<Vec<u8>> {
        Some(self.0.clone())
    }
}

/// What reads an artifact is keyed by the digest of its table, so two artifacts must not share one.
#[test]
fn a_digest_covers_what_stands_beside_the_table() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::new(folder.path());
    let digest = |trial: u32, values: &[u8]| {
        let lock = store.lock(&recipe(trial), || {}).expect("lock");
        let mut draft = store.draft(recipe(trial), lock).expect("draft");
        save(&Weights(values.to_vec()), &mut draft);
        let manifest = draft.publish().expect("published").manifest;
        manifest.digest_of(&manifest.outputs["weights"])
    };
    assert_eq!(digest(0, &[1, 2]), digest(1, &[1, 2]));
    assert_ne!(digest(0, &[1, 2]), digest(2, &[1, 3]));
}

#[test]
fn private_files_live_apart_and_have_keyed_digests() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path());
    let lock = store.lock(&recipe(0), || {}).expect("lock");
    let mut draft = store.draft(recipe(0), lock).expect("draft");
    save(&Private(Counts(vec![1])), &mut draft);
    let entry = draft.publish().expect("published");
    let output = &entry.manifest.outputs["counts"];
    let bytes = fs::read(entry.path(output)).expect("owner file");
    assert!(entry.path(output).starts_with(folder.path().join("owner")));
    assert_ne!(output.digest, blake3::hash(&bytes).to_hex().to_string(), "a plain hash could be guessed");
    let mode = fs::metadata(folder.path().join("owner")).expect("folder").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// Every byte of the file, one flipped bit each.
#[test]
fn every_flipped_bit_is_noticed() {
    let folder = tempfile::tempdir().expect("folder");
    let entry = publish(&Store::new(folder.path()), 0);
    let path = entry.path(&entry.manifest.outputs["counts"]);
    let whole = fs::read(&path).expect("file");
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, &flipped).expect("written");
        assert!(matches!(entry.read::<Counts>("counts", MEMORY), Err(StoreError::Corrupt { .. })), "byte {at}");
    }
    fs::write(&path, &whole[..whole.len() - 1]).expect("written");
    assert!(matches!(entry.read::<Counts>("counts", MEMORY), Err(StoreError::Corrupt { .. })), "truncated");
    fs::remove_file(&path).expect("removed");
    assert!(matches!(entry.read::<Counts>("counts", MEMORY), Err(StoreError::Missing { .. })));
    assert!(!entry.is_complete());
}

#[test]
fn an_artifact_too_large_for_the_memory_is_neither_written_nor_read() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path());
    let entry = publish(&store, 0);
    let read = |limit| entry.read::<Counts>("counts", MemoryLimit(limit));
    assert!(matches!(read(25), Err(StoreError::TooLarge { needed: 26, limit: 25, .. })));
    assert_eq!(read(26).expect("fits"), Counts(vec![5, 6, 7, 8]));
    let mut draft = store.draft(recipe(1), store.lock(&recipe(1), || {}).expect("lock")).expect("draft");
    let error = Counts(vec![30]).write(&mut StoreSaver { draft: &mut draft, memory: MemoryLimit(29) });
    assert!(matches!(error, Err(StoreError::TooLarge { .. })));
}

/// Lists of numbers whose facts say nothing of their size.
#[derive(Debug, PartialEq)]
struct Listed(Vec<Vec<u32>>);
impl Public for Listed {}
impl Artifact for Listed {
    const NAME: &'static str = "listed";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("length", ColumnType::U16), ("numbers", ColumnType::ListU32), ("mean", ColumnType::F64)];
    fn facts(&self) -> Facts {
        Facts::default()
    }
    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let lengths = self.0.iter().map(|row| row.len() as u16).collect();
        Box::new(std::iter::once(vec![
            Column::U16(lengths),
            Column::ListU32(self.0.clone()),
            Column::F64(vec![0.5; self.0.len()]),
        ]))
    }
    fn from_blocks(_: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let lists = blocks.map(|block| take::<Vec<u32>>(&mut block.into_iter().skip(1)));
        Ok(Self(lists.collect::<Result<Vec<_>, _>>()?.concat()))
    }
}

#[test]
fn what_facts_do_not_tell_is_counted_when_it_is_read() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path());
    let recipe = recipe(0);
    let mut draft = store.draft(recipe.clone(), store.lock(&recipe, || {}).expect("lock")).expect("draft");
    let listed = Listed(vec![vec![1; 100], vec![2; 50], vec![3]]);
    save(&listed, &mut draft);
    let entry = draft.publish().expect("published");
    let read = |limit| entry.read::<Listed>("listed", MemoryLimit(limit));
    let bytes = 3 * 2 + 151 * 4 + 3 * 8;
    assert_eq!(read(bytes).expect("fits"), listed);
    let error = read(bytes - 1).expect_err("too large").to_string();
    assert!(error.contains("634") && error.contains("--memory-limit"), "{error}");
}

#[test]
fn a_forged_manifest_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path());
    let key = publish(&store, 0).manifest.key;
    let path = store.part(Part::Simulation).join("count").join(&key).join(MANIFEST);
    let text = fs::read_to_string(&path).expect("manifest").replace("\"trial\": 0", "\"trial\": 1");
    fs::write(&path, text).expect("written");
    assert!(matches!(store.find("count", &key), Err(StoreError::Manifest { .. })));
}

/// A server could otherwise name a file of the auditor's, to which a readable name would then lead.
#[test]
fn a_manifest_names_files_of_its_own_folder() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path());
    let entry = publish(&store, 0);
    let with_file = |file: &str| {
        let mut manifest = entry.manifest.clone();
        manifest.outputs.get_mut("counts").expect("an output").file = file.to_owned();
        fs::write(entry.folder().join(MANIFEST), manifest.to_bytes()).expect("written");
        store.find("count", &entry.manifest.key)
    };
    for file in ["/home/auditor/current", "../other/counts.parquet", "..", ".", "", "a/", "a/b", "manifest.json"] {
        assert!(matches!(with_file(file), Err(StoreError::Manifest { .. })), "{file:?}");
    }
    assert!(with_file("other.parquet").expect("a name").is_some());
}

#[test]
fn an_abandoned_draft_leaves_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path());
    let lock = store.lock(&recipe(0), || {}).expect("lock");
    let mut draft = store.draft(recipe(0), lock).expect("draft");
    save(&Counts(vec![1]), &mut draft);
    drop(draft);
    assert!(names(&folder.path().join("tmp")).expect("readable").is_empty());
    assert!(store.find("count", &recipe(0).key()).expect("readable").is_none());
}

struct Told(Counts);
impl Public for Told {}
impl Artifact for Told {
    const NAME: &'static str = "told";
    const ZONE: Zone = Zone::Server;
    const IS_REPORT: bool = true;
    const COLUMNS: &'static [(&'static str, ColumnType)] = Counts::COLUMNS;
    fn facts(&self) -> Facts {
        self.0.facts()
    }
    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        self.0.blocks()
    }
    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        Counts::from_blocks(facts, blocks).map(Self)
    }
}

#[test]
fn a_report_is_written_by_a_release_alone() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path());
    let release = crate::ReleaseRecord {
        population: "members".to_owned(),
        statement: "count: 1".to_owned(),
        number: 1,
        charged_as: "x".to_owned(),
        collected: false,
    };
    for release in [None, Some(release)] {
        let mut draft = store.draft(recipe(0), store.lock(&recipe(0), || {}).expect("lock")).expect("draft");
        draft.set_release(release.clone());
        let written = Told(Counts(vec![1])).write(&mut StoreSaver { draft: &mut draft, memory: MEMORY });
        assert_eq!(matches!(written, Err(StoreError::Uncharged { .. })), release.is_none(), "{written:?}");
    }
}

#[test]
fn an_artifact_is_read_as_what_it_is() {
    let folder = tempfile::tempdir().expect("folder");
    let mut entry = publish(&Store::new(folder.path()), 0);
    let refused = |entry: &Entry, name: &str| {
        let error = entry.read::<Counts>(name, MEMORY).expect_err("it is something else").to_string();
        assert!(error.contains("was asked for"), "{error}");
    };
    let counts = entry.manifest.outputs["counts"].clone();
    entry.manifest.outputs.insert("others".to_owned(), counts.clone());
    refused(&entry, "others");
    for (zone, file) in [("public", "counts.parquet"), ("server", "../counts.parquet"), ("server", "other.parquet")] {
        let record = OutputRecord { zone: zone.to_owned(), file: file.to_owned(), ..counts.clone() };
        entry.manifest.outputs.insert("counts".to_owned(), record);
        refused(&entry, "counts");
    }
}

/// Rows are found by their first value, in the row groups that may have them, and a file that changed is refused.
#[test]
fn rows_are_read_where_they_are_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::new(folder.path());
    let entry = publish(&store, 0);
    let stored = entry.open::<Counts>("counts", MEMORY).expect("whole");
    assert_eq!(stored.facts().get::<u32>("total").expect("a fact"), 26);
    let rows = |range| stored.rows(range).map(|block| block.expect("readable")).filter(|block| !block[0].is_empty());
    let column = |values: &[u32]| vec![Column::U32(values.to_vec())];
    assert_eq!(rows(6..9).collect::<Vec<_>>(), [column(&[6, 7]), column(&[8])]);
    assert_eq!(rows(8..u32::MAX).collect::<Vec<_>>(), [column(&[8])]);
    assert_eq!(stored.rows(9..20).count(), 0, "no row group can have these rows");
    assert_eq!(stored.load().expect("whole"), Counts(vec![5, 6, 7, 8]));
    assert!(
        entry.open::<Counts>("counts", MemoryLimit(1)).expect("open").load().is_err(),
        "the limit holds for the whole"
    );
    fs::write(entry.path(&entry.manifest.outputs["counts"]), b"other").expect("written");
    assert!(matches!(entry.open::<Counts>("counts", MEMORY), Err(StoreError::Corrupt { .. })));
}

/// Counts whose readers share one value, and how often they were decoded.
#[derive(Debug, PartialEq)]
struct SharedCounts(Arc<Vec<u32>>);
static DECODED: AtomicUsize = AtomicUsize::new(0);
impl Public for SharedCounts {}
impl Artifact for SharedCounts {
    const NAME: &'static str = "counts";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = Counts::COLUMNS;
    const IS_SHARED: bool = true;
    fn facts(&self) -> Facts {
        Facts::default().with("total", self.0.iter().sum::<u32>())
    }
    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(std::iter::once(vec![Column::U32(self.0.to_vec())]))
    }
    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        DECODED.fetch_add(1, Ordering::SeqCst);
        Ok(Self(Arc::new(Counts::from_blocks(facts, blocks)?.0)))
    }
    fn shared(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(self.0.clone())
    }
    fn from_shared(shared: Arc<dyn Any + Send + Sync>) -> Option<Self> {
        Some(Self(shared.downcast().ok()?))
    }
}

/// Readers at the same time hold one value, from whichever store and however they read it. It is gone once the last of them lets
/// go of it. Content that is damaged meanwhile is refused all the same.
#[test]
fn readers_at_the_same_time_share_a_value() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("folder"));
    let entries = folders.each_ref().map(|folder| publish(&Store::new(folder.path()), 77));
    let read = |at: usize| entries[at % 2].read::<SharedCounts>("counts", MEMORY).map_err(|error| error.to_string());
    let open = |at: usize| {
        let stored = entries[at % 2].open::<SharedCounts>("counts", MEMORY).expect("sound");
        stored.load().map_err(|error| error.to_string())
    };
    let start = Barrier::new(4);
    let together: Vec<SharedCounts> = std::thread::scope(|scope| {
        let reader = |at: usize| {
            start.wait();
            if at < 2 { read(at) } else { open(at) }
        };
        let readers: Vec<_> = (0..4).map(|at| scope.spawn(move || reader(at).expect("whole"))).collect();
        readers.into_iter().map(|reader| reader.join().expect("no panic")).collect()
    });
    assert_eq!(DECODED.load(Ordering::SeqCst), 1);
    assert!(together.iter().all(|counts| Arc::ptr_eq(&counts.0, &together[0].0)));
    assert_eq!(*together[0].0, [5, 6, 7, 8]);
    drop(together);
    let alone = read(0).expect("whole");
    assert_eq!(DECODED.load(Ordering::SeqCst), 2);
    std::fs::write(entries[0].path(&entries[0].manifest.outputs["counts"]), b"other").expect("writable");
    assert!(read(0).is_err_and(|error| error.contains("digest")));
    assert_eq!(*alone.0, [5, 6, 7, 8]);
}

/// A reader that panics or fails leaves nothing behind that another one could take for a value.
#[test]
fn a_reader_that_fails_holds_nothing() {
    let content = "the digest of nothing else";
    let failed = std::thread::spawn(move || read_once::<SharedCounts, Invalid>(content, || panic!("while it reads")));
    assert!(failed.join().is_err());
    let refused = read_once::<SharedCounts, Invalid>(content, || Err(Invalid("refused".into())));
    assert!(refused.is_err());
    let read = read_once::<SharedCounts, Invalid>(content, || Ok(SharedCounts(Arc::new(vec![1]))));
    assert_eq!(*read.expect("read").0, [1]);
}
