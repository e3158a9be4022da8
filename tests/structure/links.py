"""Links of the documentation lead to files and headings that exist: links.py ROOT prints those that do not."""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def anchors(text):
    """As GitHub names headings, and what pages name themselves."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub(lambda found: found.group().strip("`") if "\n" not in found.group() else "", text), re.M)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain} | set(re.findall(r'id="([^"]+)"', text))


def broken(root):
    """One line for each link that leads nowhere."""
    found = []
    pages = sorted([*root.glob("*.md"), *root.glob("*/README.md"), *(root / "docs").rglob("*.md")])
    for page in pages:
        for link in LINK.findall(CODE.sub("", page.read_text())):
            target, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            file = (page.parent / target) if target else page
            if not file.exists():
                found.append(f"{page.relative_to(root)}: {link}: no such file")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
                found.append(f"{page.relative_to(root)}: {link}: no such heading")
    return found


if __name__ == "__main__":
    lines = broken(pathlib.Path(sys.argv[1]))
    print("\n".join(lines))
    sys.exit(1 if lines else 0)
