#!/bin/sh
# Fuzzes every target for $1 seconds (default 600). Instrumentation by stable compiler flags: no nightly is needed.
set -eu
cd "$(dirname "$0")"
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks"
export CARGO_TARGET_DIR="${FUZZ_TARGET_DIR:-target}"
cargo build --quiet --release --locked --target x86_64-unknown-linux-gnu
python3 seeds.py
failed=""
for target in planetoid npz edges formats parquet split params parameters artifact report; do
    mkdir -p "corpus/$target"
    # The Parquet reader believes a page that declares two gibibytes. It also visits every element of a list that the header of a
    # page declares, even where the list has no bytes.
    case $target in parquet) memory=4096 seconds=120 ;; *) memory=1024 seconds=10 ;; esac
    echo "fuzzing $target for ${1:-600} s"
    "$CARGO_TARGET_DIR/x86_64-unknown-linux-gnu/release/$target" "corpus/$target" "seeds/$target" -max_total_time="${1:-600}" \
        -rss_limit_mb=$memory -malloc_limit_mb=$memory -timeout=$seconds -max_len=16384 -print_final_stats=1 -verbosity=0 2> "$target.log" || failed="$failed $target"
    grep -E "stat::|SUMMARY|panicked|ERROR|Base64|Test unit written" "$target.log" || true
done
# A failure of an early target would not be seen above the figures of the last ones. Short inputs are printed in Base64.
for target in $failed; do
    echo "fuzz target $target failed; $(pwd)/$target.log has the whole of it:" >&2
    grep -E "SUMMARY|panicked|ERROR|Base64|Test unit written" "$target.log" >&2 || tail -n 5 "$target.log" >&2
done
test -z "$failed"
