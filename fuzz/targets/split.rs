//! Fuzzes a file of splits.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veilgraph_fuzz::split(data));
