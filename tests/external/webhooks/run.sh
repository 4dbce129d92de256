#!/usr/bin/env bash
# Proves that receivers which take nothing for a day delay no other, hold little of the server's memory, and get every version afterwards,
# in order: a server whose clock is set on hour by hour (libfaketime), while silent receivers hold each attempt until it ends.
#
#   tests/external/webhooks/run.sh [--silent N] [--hours N]
#
# Takes the program that YEARBOOK_BINARY names, else the one that `cargo build` left. Needs Python 3.11 and Debian's package faketime.
# A day takes some seven minutes.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
binary=${YEARBOOK_BINARY:-${CARGO_TARGET_DIR:-$HOME/.cache/yearbook/target}/debug/yearbook}
[ -x "$binary" ] || { echo "there is no program at $binary: cargo build -p yearbook-cli, or set YEARBOOK_BINARY"; exit 2; }

export PYTHONPATH="$here/../common" PYTHONDONTWRITEBYTECODE=1
exec python3.11 "$here/silent_day.py" --binary "$binary" "$@"
