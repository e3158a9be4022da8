"""cases.py counts the cases of programs, and every other test once."""

import pathlib
import tempfile
import unittest

import cases

RAN = "[==========] 4 tests from 2 test suites ran. (7 ms total)\n"


def testcase(name, status, output=""):
    return f'<testcase name="{name}" status="{status}"><system-out>{output}</system-out></testcase>'


class Cases(unittest.TestCase):
    def counts(self, *tests):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "ctest.xml"
            report.write_text(f"<testsuite>{''.join(tests)}</testsuite>")
            return cases.counts(report)

    def test_a_script_is_one(self):
        tests = [testcase("a", "run", "[  PASSED  ] 9 tests."), testcase("b", "fail"), testcase("c", "notrun"), testcase("d", "disabled")]
        self.assertEqual(self.counts(*tests), ([1, 1, 2], []))

    def test_a_program_counts_its_cases(self):
        output = RAN + "[  PASSED  ] 3 tests.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.b\n"
        self.assertEqual(self.counts(testcase("p", "run", output)), ([3, 0, 1], ["p.A.b"]))

    def test_failed_cases_beside_passed_ones(self):
        output = RAN + "[  PASSED  ] 2 tests.\n[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] A.b\n[  FAILED  ] A.c\n\n 2 FAILED TESTS\n"
        self.assertEqual(self.counts(testcase("p", "fail", output)), ([2, 2, 0], []))

    def test_a_program_that_fails_behind_its_cases_failed_once(self):
        self.assertEqual(self.counts(testcase("p", "fail", RAN + "[  PASSED  ] 4 tests.\nLeakSanitizer: detected\n")), ([0, 1, 0], []))

    def test_a_skipped_test_of_one_case_is_skipped_once(self):
        output = RAN + "[  PASSED  ] 0 tests.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.b\n"
        self.assertEqual(self.counts(testcase("p.A.b", "notrun", output)), ([0, 0, 1], []))


if __name__ == "__main__":
    unittest.main()
