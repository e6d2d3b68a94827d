//! Fuzzes links, features and labels in Parquet files.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veilgraph_fuzz::parquet(data));
