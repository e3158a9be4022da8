#!/usr/bin/env bash
# The programs of examples/causes on two GPUs, in at most four minutes: each is recorded, and `elbowroom explain` must name its cause. Binaries
# are taken from build/gpu (made by scripts/gpu/collect.sh) or from build/release. OUT/traces gets the recordings that tests/cli/causes keeps.
#   usage: scripts/gpu/causes.sh OUT [OPTIONS of causes.py]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/gpu/recording.sh
exec python3 -B scripts/gpu/causes.py --elbowroom "$bin/elbowroom" --out "$out" "$@"
