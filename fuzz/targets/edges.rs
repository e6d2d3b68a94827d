//! Fuzzes links, features and labels as text.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veilgraph_fuzz::edges(data));
