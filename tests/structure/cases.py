"""Counts of a ctest report in which a program of GoogleTest may be one test: usage: cases.py REPORT.xml

Prints `PASSED FAILED SKIPPED` of cases, and on standard error the names of skipped cases. A program that ended without GoogleTest's own
summary, and every other test, counts as one.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

# The last lines that GoogleTest prints.
SUMMARY = re.compile(
    r"^\[={10}\] \d+ tests? from \d+ test suites? ran\..*\n\[  PASSED  \] (?P<passed>\d+) tests?\.$"
    r"(?:\n\[  SKIPPED \] (?P<skipped>\d+) tests?, listed below:(?P<names>(?:\n\[  SKIPPED \] .*)*))?"
    r"(?:\n\[  FAILED  \] (?P<failed>\d+) tests?, listed below:)?",
    re.MULTILINE,
)


def of_test(test):
    """Counts of one testcase element, and the names of its skipped cases."""
    status = test.get("status")
    summary = None
    for summary in SUMMARY.finditer(test.findtext("system-out") or ""):
        pass
    # What failed without a failed case ended badly after them.
    if summary and (status == "run" or summary["failed"]):
        names = re.findall(r"\] (.+)", summary["names"] or "")
        return int(summary["passed"]), int(summary["failed"] or 0), int(summary["skipped"] or 0), names
    return int(status == "run"), int(status == "fail"), int(status not in ("run", "fail")), []


def counts(path):
    """Passed, failed and skipped cases of a report, and the names of the skipped cases of programs."""
    total = [0, 0, 0]
    skipped = []
    for test in ElementTree.parse(path).getroot().iter("testcase"):
        *of_one, names = of_test(test)
        total = [one + more for one, more in zip(total, of_one)]
        skipped += [f"{test.get('name')}.{name}" for name in names]
    return total, skipped


if __name__ == "__main__":
    total, skipped = counts(sys.argv[1])
    for name in skipped:
        print(f"skipped: {name}", file=sys.stderr)
    print(*total)
