#!/usr/bin/env bash
# Runs both commands as a new user would: a fresh clone of what is committed, an empty HOME, an empty cargo home, and a toolchain
# without the target of guests. Rustup's toolchains alone are shared with this machine (RUSTUP_HOME). Prints how long each took.
#
#   tests/external/fresh/run.sh [--demo | --test] [FOLDER]
#
# Works in FOLDER, which must not exist; without one, in a temporary folder that it removes. With --demo it runs the demo alone, with
# --test the tests alone, and those a second time, as who changes nothing finds them.
set -euo pipefail

source=$(cd "$(dirname "$0")/../../.." && pwd)
demo=yes
tests=yes
case "${1:-}" in
  --demo) tests=no; shift ;;
  --test) demo=no; shift ;;
esac
if [ $# -gt 0 ]; then
  work=$1
  mkdir "$work"
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

export RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" HOME="$work/home" CARGO_HOME="$work/cargo"
unset CARGO_TARGET_DIR XDG_CACHE_HOME YEARBOOK_XTASK
mkdir "$HOME" "$CARGO_HOME"
git clone --quiet "$source" "$work/yearbook"
cd "$work/yearbook"
rustup target remove wasm32-unknown-unknown || true

# Runs a command and says how long it took.
timed() {
  local started=$SECONDS
  "$@"
  printf '\n>> %s took %d min %02d s\n' "$*" $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)) | tee -a "$work/times"
}

run_demo() {
  timed cargo xtask demo --no-serve --data-dir "$work/data"

  # The program that the demo names serves the data, is of a bearable size, and installs from the same build, with its plugins.
  target="$HOME/.cache/yearbook/target"
  program="$target/xtask/demo/yearbook"
  bytes=$(stat --format %s "$program")
  printf '>> the program has %d MB\n' $((bytes / 1000000)) | tee -a "$work/times"
  [ "$bytes" -le 80000000 ] || { echo "the program is larger than 80 MB"; exit 1; }
  [ -n "$("$program" --data-dir "$work/data" datasets list --json | grep -o '"name"')" ]
  CARGO_TARGET_DIR="$target" timed cargo install --quiet --locked --path host/cli --root "$work/installed" --profile demo --no-default-features
  (cd / && "$work/installed/bin/yearbook" --data-dir "$work/other" openapi > "$work/openapi.json")
  grep --quiet application/vnd.apache.parquet "$work/openapi.json" || { echo "what was installed carries no plugins"; exit 1; }
}

if [ "$demo" = yes ]; then
  run_demo
fi
if [ "$tests" = yes ]; then
  timed cargo xtask test
  if [ "$demo" = no ]; then
    timed cargo xtask test
  fi
fi

printf '\n== times\n'
cat "$work/times"
