#!/usr/bin/env bash
# A program that `zig cc` of ziglang 0.11.0 links for a glibc before 2.33 finds 0 in errno after stat() has failed.
#
# x86_64; run with glibc 2.36 (Debian 12). stat() of a file that is not there, with -target x86_64-linux-gnu.VERSION:
#   0.11.0, 2.28: returns -1, errno 0. Such a glibc has no stat(): zig links its own, which sets an errno of its own.
#   0.11.0, 2.34: returns -1, errno 2 (ENOENT).
#   0.13.0, 2.28: returns -1, errno 2.
# With -rdynamic that errno is exported too, and glibc 2.28's libpthread takes it for its own: all its calls seem to fail without a
# reason, and CPython 3.11 does not start.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export ZIG_GLOBAL_CACHE_DIR=$work/cache
cat >main.c <<'C'
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
int main(void) {
  struct stat status;
  errno = 0;
  const int returned = stat("/there/is/none", &status);
  return printf("%d %d\n", returned, errno) < 0;
}
C
for version in 0.11.0 0.13.0; do
  python3 -m venv "$version"
  "$version/bin/pip" install -q --disable-pip-version-check "ziglang==$version" || { echo "ziglang $version cannot be installed"; exit 77; }
done

# expect PRINTED ZIGLANG GLIBC
expect() {
  "$2/bin/python" -m ziglang cc -target "x86_64-linux-gnu.$3" main.c -o main
  echo "ziglang $2, glibc $3: $(./main)"
  [ "$(./main)" = "$1" ] || { echo "changed: expected $1"; exit 1; }
}
expect '-1 0' 0.11.0 2.28
expect '-1 2' 0.11.0 2.34
expect '-1 2' 0.13.0 2.28
