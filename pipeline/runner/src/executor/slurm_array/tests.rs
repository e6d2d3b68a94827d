use tempfile::TempDir;

use super::*;

fn array(folder: &TempDir, experiment: &str) -> anyhow::Result<SlurmArray> {
    let store = folder.path().join("artifacts");
    let command = WorkerCommand {
        program: PathBuf::from("veilgraph"),
        store: store.clone(),
        cache: None,
        memory_limit: None,
        threads: 1,
    };
    SlurmArray::new(&folder.path().join("arrays"), 10, None, command, &Store::new(store), &[experiment.to_owned()])
}

/// Of two runs that begin together, the one that ends later leaves the tasks of the other where they wait.
#[test]
fn a_wave_that_was_written_meanwhile_stays() {
    let folder = TempDir::new().expect("a folder");
    let [alpha, beta, gamma] = ["alpha", "beta", "gamma"].map(|name| array(&folder, name).expect("nothing waits"));
    let key = "0123456789abcdef0123456789abcdef";
    alpha.send(key).expect("taken");
    beta.send(key).expect("taken");
    assert!(alpha.finish().expect("written").is_some());
    let refused = beta.finish().expect_err("alpha's tasks wait").to_string();
    assert!(refused.contains("(alpha in "), "{refused}");
    assert!(gamma.finish().expect("nothing to do").is_none());
    assert!(folder.path().join("arrays").join(WAVE).exists(), "the tasks of alpha still wait");
    let again = array(&folder, "alpha").expect("its own tasks");
    assert!(again.finish().expect("all is done").is_none());
    assert!(!folder.path().join("arrays").join(WAVE).exists());
}
