#!/usr/bin/env bash
# clang-tidy's performance-unnecessary-value-param searches the whole source once for each finding in a system header, which it does not show.
#
# clang-tidy 19.1.0 (PyPI), libstdc++ 12, Linux x86-64. A header that -isystem finds has 200 functions that take a std::string by value and
# only read it, as CLI11's headers have a hundred. The source includes it and <regex>, and no finding is printed in either run:
#   check as it is:                      5.6 s in the check
#   AllowedTypes: '^::?std::string$'      0.1 s in the check
# AllowedTypes is asked before the search.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install clang-tidy==19.1.0
mkdir "$work/system"
{
  echo '#include <string>'
  for n in $(seq 200); do echo "inline std::size_t size_$n(std::string text) { return text.size(); }"; done
} >"$work/system/by_value.hpp"
printf '#include <by_value.hpp>\n#include <regex>\nint main() { return size_1("") == 1; }\n' >"$work/main.cpp"

seconds() { # ALLOWED: of the check alone
  "$work/env/bin/clang-tidy" --quiet --enable-check-profile --checks='-*,performance-unnecessary-value-param' \
    --config="{CheckOptions: {performance-unnecessary-value-param.AllowedTypes: '$1'}}" "$work/main.cpp" \
    -- -std=c++20 -isystem "$work/system" >"$work/out" 2>"$work/err"
  [[ ! -s $work/out ]] || { cat "$work/out"; return 1; }
  awk '/performance-unnecessary-value-param/ { print $1; exit }' "$work/err"
}
all=$(seconds '')
allowed=$(seconds '^::?std::string$')
echo "seconds in the check: $all, with std::string allowed $allowed"
awk -v all="$all" -v allowed="$allowed" 'BEGIN { exit !(all > 5 * allowed) }'
