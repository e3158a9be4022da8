#!/usr/bin/env bash
# What `elbowroom explain --` records on two GPUs and what it costs, in at most seven minutes. Binaries are taken from build/gpu (made by
# scripts/gpu/build.sh or collect.sh) or from build/release.
#   usage: scripts/gpu/record.sh OUT [OPTIONS of record.py]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/gpu/recording.sh
exec python3 -B scripts/gpu/record.py --elbowroom "$bin/elbowroom" --raw "$bin/example_raw_overlap" --out "$out" "$@"
