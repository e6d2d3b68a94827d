//! Fuzzes eight Planetoid files.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veilgraph_fuzz::planetoid(data));
