#!/usr/bin/env python3
"""Each product source includes what it names, by itself or through its headers, so that it compiles alone.

Tests compile many sources at a time, where one finds what another included. This looks for types, functions and constants that one
header of the project alone declares, and for common names of the standard library. Prints a line for each that is missing.

usage: includes.py ROOT
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

ROOMS = ("include", "src", "tools")
STANDARD = {
    "algorithm": "sort stable_sort find find_if min_element max_element all_of any_of none_of copy_if transform clamp nth_element lower_bound "
    "upper_bound count_if remove_if reverse unique rotate fill_n equal",
    "array": "array to_array",
    "atomic": "atomic atomic_flag",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "sqrt pow exp log2 ceil floor llround isfinite isnan lround hypot",
    "condition_variable": "condition_variable",
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t",
    "cstdio": "FILE fopen fclose fputs",
    "cstdlib": "getenv strtol abort",
    "cstring": "memcpy strlen strcmp memset memcmp",
    "deque": "deque",
    "expected": "expected",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "function hash greater less",
    "iterator": "back_inserter",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared construct_at",
    "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once",
    "numbers": "numbers",
    "numeric": "accumulate iota gcd lcm",
    "optional": "optional nullopt",
    "random": "mt19937 mt19937_64",
    "set": "set",
    "span": "span",
    "sstream": "ostringstream istringstream",
    "string": "string to_string",
    "string_view": "string_view",
    "system_error": "error_code",
    "thread": "thread jthread",
    "tuple": "tuple tie",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "pair exchange",
    "variant": "variant visit holds_alternative get_if",
    "vector": "vector",
}
# What another header of the standard library must bring along.
ALSO = {"string_view": {"string"}, "cstdint": {"atomic", "chrono", "random"}, "system_error": {"filesystem"}, "utility": {"map", "unordered_map", "tuple", "variant", "memory"}}
HEADERS_OF = {name: {header} | ALSO.get(header, set()) for header, names in STANDARD.items() for name in names.split()}

NOT_OURS = {"decltype", "read"}  # of the language and of POSIX
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)
TYPE = re.compile(r"(?:class|struct|union|enum(?:\s+class)?|concept)\s+(?:\[\[[^\]]*\]\]\s*)?([A-Za-z_]\w*)\s*(?:final\b)?\s*(?:[:={;]|$)|using\s+(\w+)\s*=")
FUNCTION = re.compile(r"(?<![\w:])([a-z_]\w*)\s*\(")
CONSTANT = re.compile(r"\b(k[A-Z]\w*)\s*(?:[={;]|$)")


def bare(text: str) -> str:
    """Without comments, texts and lines of the preprocessor."""
    text = COMMENT_OR_TEXT.sub(lambda found: " " if found[0].startswith("/") else '""', text)
    return re.sub(r"^\s*#.*(?:\\\n.*)*$", "", text, flags=re.M)


def declarations(code: str) -> list[str]:
    """What stands at the level of namespaces, up to its body or its end."""
    found, inside, begin = [], 0, 0
    for match in re.finditer(r"[{};]", code):
        statement = code[begin : match.start()].strip()
        if match[0] == "{":
            opens_namespace = inside == 0 and re.match(r"(inline\s+)?namespace\b|extern\b", statement)
            if not opens_namespace:
                if inside == 0:
                    found.append(statement + "{")
                inside += 1
        elif match[0] == "}":
            inside = max(inside - 1, 0)
        elif inside == 0:
            found.append(statement + ";")
        begin = match.end()
    return found


def names(code: str) -> set[str]:
    found = set()
    for statement in declarations(code):
        plain = re.sub(r"^\s*template\s*<[^{]*?>\s*(?=class|struct|union|concept|using|\[|\w)", "", statement)
        kind = TYPE.match(plain)
        if kind:
            found.add(kind[1] or kind[2])
            continue
        head = plain.split("(")[0]
        constant = CONSTANT.search(re.sub(r"=(?!=).*", "=", head, flags=re.S))
        function = FUNCTION.search(plain)
        if constant:
            found.add(constant[1])
        elif function and "operator" not in head and "=" not in head:
            found.add(function[1])
    return found


class Tree:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._roots = [root / "include", root / "src", root / "tools"]
        files = [path for room in ROOMS for path in sorted((root / room).rglob("*")) if path.suffix in (".hpp", ".cpp")]
        self._texts = {path: path.read_text() for path in files}
        self._code = {path: bare(text) for path, text in self._texts.items()}
        self._declared: dict[str, set[Path]] = {}
        for path in files:
            if path.suffix == ".hpp":
                for name in names(self._code[path]):
                    self._declared.setdefault(name, set()).add(path)
        self.sources = [path for path in files if path.suffix == ".cpp"]
        self.reach = cache(self._reach)

    def _reach(self, path: Path) -> tuple[frozenset[Path], frozenset[str]]:
        """The project's headers and the standard's that a file has by its own includes and those of what it includes."""
        own, standard, waiting = {path}, set(), [path]
        while waiting:
            at = waiting.pop()
            for quoted, angled in INCLUDE.findall(self._texts.get(at, "")):
                if angled:
                    standard.add(angled)
                    continue
                there = next((root / quoted for root in [at.parent, *self._roots] if (root / quoted) in self._texts), None)
                if there is not None and there not in own:
                    own.add(there)
                    waiting.append(there)
        return frozenset(own), frozenset(standard)

    def missing(self, source: Path) -> list[str]:
        code, (own, standard) = self._code[source], self.reach(source)
        lines = []
        local = names(code)
        for name in sorted(set(re.findall(r"(?<![\w.>])([A-Z]\w+|k[A-Z]\w*|(?<!:)[a-z]\w+(?=\())", code)) - local - NOT_OURS):
            declared = self._declared.get(name, set())
            if len(declared) == 1 and not declared & own and self._is_meant(name, source, own):
                lines.append(f"{source.relative_to(self._root)}: {name} is declared in {next(iter(declared)).relative_to(self._root)}, which it does not include")
        for name in sorted(set(re.findall(r"\bstd::(\w+)", code))):
            if name in HEADERS_OF and not HEADERS_OF[name] & standard:
                lines.append(f"{source.relative_to(self._root)}: std::{name} needs <{sorted(HEADERS_OF[name])[0]}>")
        return lines

    def _is_meant(self, name: str, source: Path, own: frozenset[Path]) -> bool:
        """Not a member, a parameter or a local of that name: neither the source nor a header of its declares something so called."""
        word = re.compile(rf"\b{name}\b")
        if any(word.search(self._code[header]) for header in own if header != source):
            return False
        declares = rf"(?:^|[\w>&*]\s+|[&*]|\[|,\s*)(?<!return )\b{name}\b\s*(?:[={{;,\])]|$)"
        defines = rf"\b(?:class|struct|enum|class|using|auto|bool|void|int|double|float|char|[A-Z]\w*)\s+[&*]*{name}\b"
        has_body = rf"\b{name}\([^;{{}}]*\)[\s\w]*\{{"
        return not re.search(f"{declares}|{defines}|{has_body}", self._code[source])


def main() -> int:
    tree = Tree(Path(sys.argv[1]).resolve())
    lines = [line for source in tree.sources for line in tree.missing(source)]
    print("\n".join(lines) if lines else f"{len(tree.sources)} sources include what they name")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
