//! Digests the code of every crate of stage functions, so that an edited crate is run again and nothing else, and asks
//! git for the commit.
//!
//! A stage function is made of its own crate, the workspace crates below it, and the packages of `Cargo.lock`
//! that these reach. Test modules (`tests.rs`) and dev-dependencies are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use toml::Table;

struct Crate {
    folder: PathBuf,
    dependencies: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new("../..");
    let crates = workspace(root)?;
    let lock: Table = toml::from_str(&fs::read_to_string(root.join("Cargo.lock"))?)?;
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    println!("cargo::rerun-if-changed=../../Cargo.toml");
    let mut rows = String::new();
    for (name, member) in &crates {
        println!("cargo::rerun-if-changed={}", member.folder.display());
        if !member.folder.starts_with(root.join("stages")) {
            continue;
        }
        let below = closure(name, &crates);
        let mut code = blake3::Hasher::new();
        for part in &below {
            digest_crate(&crates[part].folder, &mut code)?;
        }
        let dependencies = reachable(&lock, &below, &crates);
        let code = short(&code);
        rows +=
            &format!("    CodeOfCrate {{ name: \"{name}\", code: \"{code}\", dependencies: \"{dependencies}\" }},\n");
    }
    let text = format!("const CODE: &[CodeOfCrate] = &[\n{rows}];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("code.rs"), text)?;
    println!("cargo::rustc-env=VEILGRAPH_COMMIT={}", commit(root));
    Ok(())
}

/// The commit of the working copy, and whether it has changes; `unknown` where there is no git.
fn commit(root: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // A commit or a checkout adds a line to this file.
    if let Some(log) =
        git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists())
    {
        println!("cargo::rerun-if-changed={log}");
    }
    let changes = git(&["status", "--porcelain", "--untracked-files=no"]).unwrap_or_default();
    let changed = if changes.is_empty() { "" } else { " with uncommitted changes" };
    git(&["rev-parse", "--short=12", "HEAD"])
        .map_or_else(|| "unknown".to_owned(), |commit| format!("{commit}{changed}"))
}

fn short(hasher: &blake3::Hasher) -> String {
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The crates of the workspace by name.
fn workspace(root: &Path) -> Result<BTreeMap<String, Crate>, Box<dyn Error>> {
    let manifest: Table = toml::from_str(&fs::read_to_string(root.join("Cargo.toml"))?)?;
    let members = manifest["workspace"]["members"].as_array().ok_or("the workspace has no members")?;
    let mut crates = BTreeMap::new();
    for member in members {
        let folder = root.join(member.as_str().ok_or("a member is no path")?);
        let manifest: Table = toml::from_str(&fs::read_to_string(folder.join("Cargo.toml"))?)?;
        let name = manifest["package"]["name"].as_str().ok_or("a crate has no name")?.to_owned();
        let dependencies = manifest.get("dependencies").and_then(|table| table.as_table());
        let dependencies = dependencies.map(|table| table.keys().cloned().collect()).unwrap_or_default();
        crates.insert(name, Crate { folder, dependencies });
    }
    Ok(crates)
}

/// A crate and the workspace crates below it.
fn closure(name: &str, crates: &BTreeMap<String, Crate>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(name) = open.pop() {
        if let Some(member) = crates.get(&name)
            && found.insert(name)
        {
            open.extend(member.dependencies.iter().cloned());
        }
    }
    found
}

fn digest_crate(folder: &Path, hasher: &mut blake3::Hasher) -> Result<(), Box<dyn Error>> {
    let mut files = vec![folder.join("Cargo.toml")];
    let mut open = vec![folder.join("src")];
    while let Some(folder) = open.pop() {
        for item in fs::read_dir(folder)? {
            let path = item?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|name| name != "tests.rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    for file in files {
        let bytes = fs::read(&file)?;
        let name = file.strip_prefix(folder)?.to_string_lossy().into_owned();
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(&bytes);
    }
    Ok(())
}

/// Digest of the packages of the lock file that these crates reach.
fn reachable(lock: &Table, below: &BTreeSet<String>, crates: &BTreeMap<String, Crate>) -> String {
    let packages: Vec<&Table> =
        lock["package"].as_array().into_iter().flatten().filter_map(|package| package.as_table()).collect();
    let text = |package: &Table, field: &str| {
        package.get(field).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    let mut open: Vec<String> = below.iter().flat_map(|name| crates[name].dependencies.clone()).collect();
    let mut found = BTreeSet::new();
    while let Some(wanted) = open.pop() {
        let mut words = wanted.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        if crates.contains_key(name) {
            continue;
        }
        for package in &packages {
            let this = (text(package, "name"), text(package, "version"), text(package, "checksum"));
            if this.0 == name && version.is_none_or(|version| version == this.1) && found.insert(this) {
                let needs = package.get("dependencies").and_then(|list| list.as_array()).into_iter().flatten();
                open.extend(needs.filter_map(|need| need.as_str()).map(str::to_owned));
            }
        }
    }
    let mut hasher = blake3::Hasher::new();
    for (name, version, checksum) in found {
        hasher.update(format!("{name} {version} {checksum}\n").as_bytes());
    }
    short(&hasher)
}
