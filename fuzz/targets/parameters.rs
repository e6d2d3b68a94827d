//! Fuzzes the file of parameters that a collector gives to nodes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veilgraph_fuzz::parameters(data));
