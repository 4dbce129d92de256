#!/usr/bin/env bash
# Proves that nothing tells of a version before its time, and that everything does from then on: three hosts with wrong clocks over one
# PostgreSQL and one folder, asked all the time at every address, with kills of hosts, publisher and database where --kill says so.
#
#   tests/external/embargo/run.sh [--rounds N] [--rate R] [--kill] [FOLDER]
#
# Works in FOLDER, which must not exist; without one, in a temporary folder that it removes unless there is a fault. Takes the program that
# YEARBOOK_BINARY names, else the one that `cargo build` left, and plugins from YEARBOOK_PLUGINS_DIR, else from plugins/dist. Needs Python
# 3.11, and Debian's packages postgresql and faketime. A round takes about half a minute.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../.." && pwd)
binary=${YEARBOOK_BINARY:-${CARGO_TARGET_DIR:-$HOME/.cache/yearbook/target}/debug/yearbook}
plugins=${YEARBOOK_PLUGINS_DIR:-$source/plugins/dist}
[ -x "$binary" ] || { echo "there is no program at $binary: cargo build -p yearbook-cli, or set YEARBOOK_BINARY"; exit 2; }
[ -d "$plugins" ] || { echo "there are no plugins at $plugins: cargo xtask plugins, or set YEARBOOK_PLUGINS_DIR"; exit 2; }

export PYTHONPATH="$source/tests/external/common" PYTHONDONTWRITEBYTECODE=1
exec python3.11 "$here/main.py" --binary "$binary" --plugins "$plugins" "$@"
