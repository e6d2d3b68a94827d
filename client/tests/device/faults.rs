//! The program on a device whose disk fails, or that is switched off, at any moment.

use std::process::Command;
use std::thread;
use std::time::Duration;

use veilgraph_client::PublicParameters;

use crate::home::Home;

/// Whatever is there under this name is the report that the next call writes, and it was charged once.
fn is_one_report_for_one_charge(home: &Home, name: &str, spent: f64, fault: &str) {
    let left = home.exists(name).then(|| home.bytes(name));
    if left.is_some() {
        // Half a report cannot be decoded.
        home.decoded(name);
    }
    home.report("next.vgr", &["--budget", "2", "--spend"]).succeeds();
    assert!(left.is_none_or(|bytes| bytes == home.bytes("next.vgr")), "two reports for one charge after {fault}");
    assert_eq!(home.spent(), [spent], "after {fault}");
}

#[test]
fn a_kill_at_any_moment_leaves_one_report_for_one_charge() {
    for delay in 0..60 {
        let home = Home::new();
        let mut child = home.spawn("out.vgr", &["--budget", "1"]);
        thread::sleep(Duration::from_micros(150 * delay));
        child.kill().expect("killed");
        child.wait().expect("ended");
        is_one_report_for_one_charge(&home, "out.vgr", 1.0, &format!("{} microseconds", 150 * delay));
    }
}

/// Kill, full disk and broken disk at the k-th system call that may change the disk, for every k and every kind.
#[test]
fn a_fault_at_any_system_call_leaves_one_report_for_one_charge() {
    if Command::new("strace").arg("-V").output().is_err() {
        eprintln!("skipped: strace is not installed");
        return;
    }
    let mut faults = 0;
    for kind in ["mkdir", "openat", "write", "fsync", "rename", "link,linkat", "unlink", "flock", "getrandom"] {
        for fault in ["signal=KILL", "error=ENOSPC", "error=EIO"] {
            // Without randomness for its hash tables the standard library gives up by itself.
            if kind == "getrandom" && fault != "signal=KILL" {
                continue;
            }
            for is_second in [false, true] {
                faults += every_call(kind, fault, is_second);
            }
        }
    }
    assert!(faults > 100, "only {faults}");
}

/// A fault at each call of one kind, while a first report is drawn or a second one about a changed list. Returns the
/// number of faults.
fn every_call(kind: &str, fault: &str, is_second: bool) -> usize {
    for k in 1.. {
        let home = Home::new();
        if is_second {
            home.report("first.vgr", &["--budget", "1"]).succeeds();
            home.write("links", "3\n18\n");
        }
        let inject = format!("inject={kind}:{fault}:when={k}");
        let call = home.report_with(&inject, "out.vgr", &["--budget", "2", "--spend"]);
        assert!(!call.warned().contains("panicked"), "{inject}: {}", call.warned());
        let log = String::from_utf8_lossy(&home.bytes("strace.log")).into_owned();
        let was_injected = log.contains("(INJECTED)") || log.contains("+++ killed by SIGKILL +++");
        is_one_report_for_one_charge(&home, "out.vgr", if is_second { 2.0 } else { 1.0 }, &inject);
        if !was_injected {
            return k - 1;
        }
    }
    unreachable!("a program makes finitely many calls")
}

/// A report that was lost on its way is written again, also where the file was damaged on the way.
#[test]
fn a_lost_report_is_written_again() {
    let home = Home::new();
    home.report("out.vgr", &["--budget", "1"]).succeeds();
    let report = home.decoded("out.vgr");
    home.write("out.vgr", "damaged");
    assert!(home.report("out.vgr", &["--budget", "1"]).fails().contains("name another file"));
    is_one_report_for_one_charge(&home, "none.vgr", 1.0, "damage");
    assert_eq!(home.decoded("next.vgr"), report);
    assert_eq!(report.parameters(), PublicParameters::from_text(&home.parameters()).expect("usable").digest());
}
