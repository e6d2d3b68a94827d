//! Fuzzes columns of an artifact that a stranger wrote.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veilgraph_fuzz::artifact(data));
