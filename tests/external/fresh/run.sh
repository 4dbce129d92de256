#!/usr/bin/env bash
# Runs the three commands of the README as a new user would: a fresh clone of what is committed, an empty HOME, an empty cargo home, and a
# toolchain without the target of guests. Rustup's toolchains alone are shared with this machine (RUSTUP_HOME). Prints how long each took.
#
#   tests/external/fresh/run.sh [--demo | --test | --install] [FOLDER]
#
# Works in FOLDER, which must not exist; without one, in a temporary folder that it removes. With --demo it runs the demo alone, with
# --install the installation alone, with --test the tests alone, and those a second time, as who changes nothing finds them.
set -euo pipefail

source=$(cd "$(dirname "$0")/../../.." && pwd)
parts="demo test install"
case "${1:-}" in
  --demo | --test | --install) parts=${1#--}; shift ;;
esac
if [ $# -gt 0 ]; then
  mkdir "$1"
  # The commands below run in other folders.
  work=$(realpath "$1")
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

# Says how many megabytes a program has, and fails beyond the third argument.
weigh() {
  local megabytes
  megabytes=$(($(stat --format %s "$1") / 1000000))
  printf '>> %s has %d MB\n' "$2" "$megabytes" | tee -a "$work/times"
  [ "$megabytes" -lt "$3" ] || { echo "$2 has $3 MB or more"; exit 1; }
}

run_demo() {
  timed cargo xtask demo --no-serve --data-dir "$work/data"

  # The program that the demo names serves the data. Compiled in several units it is larger than what is installed.
  program="$HOME/.cache/yearbook/target/xtask/demo/yearbook"
  weigh "$program" "the demo's program" 100
  [ -n "$("$program" --data-dir "$work/data" datasets list --json | grep -o '"name"')" ]
}

# The line of the README as it stands, and what it installs: everything, plugins included.
run_install() {
  timed cargo install --locked --path host/cli
  installed="$CARGO_HOME/bin/yearbook"
  weigh "$installed" "the installed program" 80
  cd /
  "$installed" --data-dir "$work/other" openapi > "$work/openapi.json"
  grep --quiet application/vnd.apache.parquet "$work/openapi.json" || { echo "what was installed carries no plugins"; exit 1; }
  "$installed" --data-dir "$work/other" publish "$work/yearbook/datasets/co2_concentration_monthly/datapackage.json"
  cd "$work/yearbook"
}

run_test() {
  timed cargo xtask test
  [ "$parts" != test ] || timed cargo xtask test
}

grep --quiet '^    cargo install --locked --path host/cli$' README.md || { echo "the README names another command"; exit 1; }
for part in $parts; do
  "run_$part"
done

printf '\n== times\n'
cat "$work/times"
