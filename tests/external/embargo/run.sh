#!/usr/bin/env bash
# Proves that nothing tells of a version before its time, and that everything does from then on: three hosts with wrong clocks over one
# PostgreSQL and one folder, asked all the time at every address. --kill kills hosts, publisher and database; --set-clock sets the
# database's clock; --store s3 stores files in a bucket, and asks what readers of Iceberg ask, of hosts and of the bucket.
#
#   tests/external/embargo/run.sh [--rounds N] [--rate R] [--kill | --set-clock] [--store s3 [--s3-server PROGRAM]] [FOLDER]
#
# Works in FOLDER, which must not exist; without one, in a temporary folder that it removes unless there is a fault. Takes the program that
# YEARBOOK_BINARY names, else the one that `cargo build` left, and plugins from YEARBOOK_PLUGINS_DIR, else from plugins/dist. Needs Python
# 3.11, and Debian's packages postgresql and faketime; with --store s3 the program s3s-fs of crates.io too, which PROGRAM names unless PATH
# has it: cargo install s3s-fs --version 0.14.1 --features binary --locked. A round takes about half a minute, with S3 a little longer.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../.." && pwd)
binary=${YEARBOOK_BINARY:-${CARGO_TARGET_DIR:-$HOME/.cache/yearbook/target}/debug/yearbook}
plugins=${YEARBOOK_PLUGINS_DIR:-$source/plugins/dist}
[ -x "$binary" ] || { echo "there is no program at $binary: cargo build -p yearbook-cli, or set YEARBOOK_BINARY"; exit 2; }
[ -d "$plugins" ] || { echo "there are no plugins at $plugins: cargo xtask plugins, or set YEARBOOK_PLUGINS_DIR"; exit 2; }

export PYTHONPATH="$source/tests/external/common" PYTHONDONTWRITEBYTECODE=1
exec python3.11 "$here/main.py" --binary "$binary" --plugins "$plugins" "$@"
