#!/usr/bin/env bash
# `elbowroom explain` names the cause of each program of examples/causes, by recordings of two GPUs (scripts/gpu/causes.sh).
. "$(dirname "$0")/checks.bash" || exit
recordings=$ELBOWROOM_SOURCE_DIR/tests/cli/causes
if ! compgen -G "$recordings/*.tar.gz" >/dev/null; then
  echo "skipped: no recording is in $recordings"
  exit 77
fi
command -v python3 >/dev/null || exit 77
python3 -B "$ELBOWROOM_SOURCE_DIR/scripts/gpu/causes.py" --elbowroom "$ELBOWROOM_BIN" --check "$recordings" || fail 'a cause is named wrong'
finish
