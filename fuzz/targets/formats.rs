//! Fuzzes links, features and labels that are no text.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veilgraph_fuzz::formats(data));
