#!/usr/bin/env bash
# `./dev release` makes an archive and notes of what is committed, and refuses what is not. The wheel has a test of its own (install.wheel).
. "$(dirname "$0")/checks.bash" || exit
command_line='(./dev release)'
: >"$out" && : >"$err"
git -C "$ELBOWROOM_SOURCE_DIR" rev-parse --verify -q HEAD >/dev/null || exit 77 # an archive of sources has no commits

mkdir "$work/tree" "$work/programs"
git -C "$ELBOWROOM_SOURCE_DIR" archive HEAD | tar -x -C "$work/tree" || exit
cp "$ELBOWROOM_SOURCE_DIR/dev" "$work/tree/dev"
cd "$work/tree" || exit 1
git init -q . && git add -A && git -c user.name=test -c user.email=test@localhost commit -qm all || exit
# Packages are taken for installed, and Python for one that builds wheels.
printf '#!/bin/sh\necho installed\n' >"$work/programs/dpkg-query"
printf '#!/bin/sh\nexit 0\n' >"$work/programs/apt-get"
printf '#!/bin/sh\ntouch dist/elbowroom.whl\n' >"$work/programs/python3"
chmod +x "$work/programs/"*
export PATH=$work/programs:$PATH

touch dev.new
./dev release >"$out" 2>"$err" && fail 'a tree with changes was released'
grep -q 'has changes' "$err" || fail 'no reason'
rm dev.new

./dev release >"$out" 2>"$err" || fail 'no release'
version=$(sed -n 's/^project(elbowroom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
tar -tzf "dist/elbowroom-$version.tar.gz" | grep -qx "elbowroom-$version/dev" || fail 'the archive has no dev'
head -1 "dist/elbowroom-$version.md" | grep -qx "# Elbowroom $version" || fail 'the notes have no title'
[ "$(wc -w <"dist/elbowroom-$version.md")" -gt 50 ] || fail 'the notes are empty'
grep -q '^## ' "dist/elbowroom-$version.md" && fail 'the notes have the section of another version'
[ -e dist/elbowroom.whl ] || fail 'no wheel'
rm -r dist

sed -i "s/^project(elbowroom VERSION [0-9.]*/project(elbowroom VERSION 9.9.9/" CMakeLists.txt
git -c user.name=test -c user.email=test@localhost commit -qam next
./dev release >"$out" 2>"$err" && fail 'a version without notes was released'
grep -q 'no section \[9.9.9\]' "$err" || fail 'no reason'
finish
