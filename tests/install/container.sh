#!/usr/bin/env bash
# The Containerfile builds an image whose program runs. Skips where no container tool can build.   usage: container.sh SOURCE
set -uo pipefail
source=${1:?usage: container.sh SOURCE}
for tool in podman docker; do
  command -v "$tool" >/dev/null && timeout 20 "$tool" info >/dev/null 2>&1 && break
  tool=
done
[ -n "$tool" ] || { echo 'skipped: neither podman nor docker can build here'; exit 77; }
image=elbowroom-test-$$
trap '"$tool" rmi -f "$image" >/dev/null 2>&1' EXIT
"$tool" build -f "$source/Containerfile" -t "$image" "$source" || exit
"$tool" run --rm "$image" list | grep -q '^Backends' || { echo 'FAIL: list does not run in the container'; exit 1; }
"$tool" run --rm --entrypoint sh "$image" -c 'elbowroom run -- python3 -c "print(1)" && elbowroom doctor; [ $? -le 1 ]'
