//! Fuzzes links, features and labels that are neither text nor Parquet.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veilgraph_fuzz::formats(data));
