#!/bin/sh
# A RUSTC_WORKSPACE_WRAPPER: compiles our own crates with the counters that libFuzzer reads, by flags of
# stable Rust. Dependencies stay as the tests build them, so nothing but our crates is compiled again.
# Build scripts run without libFuzzer and get no counters.
for argument in "$@"; do
  case $argument in build_script_*) exec "$@" ;; esac
done
exec "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares
