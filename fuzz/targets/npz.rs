//! Fuzzes an npz archive.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veilgraph_fuzz::npz(data));
