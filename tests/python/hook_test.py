"""The hook in Python processes: what it loads, when it acts, and that a program never meets its failures."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from stand_ins import HOOK

SOURCE = HOOK / "sitecustomize.py"
# Old ones as well, where they are installed.
PYTHONS = [sys.executable, *filter(None, (shutil.which(f"python{version}") for version in ("2.7", *(f"3.{minor}" for minor in range(6, 11))))),
           *map(str, Path.home().glob(".pyenv/versions/*/bin/python"))]
LEAST_TURNS = 5
MOST_MILLISECONDS = 5.0  # a Python takes 10 ms and more to start; the hook's own file takes about 0.1


class HookTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def file(self, name: str, text: str = "") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def python(self, program: str, *options: str, path: str = "", symmetric: str = "1", **more: str) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "ELBOWROOM"))}
        environment |= {"PYTHONPATH": os.pathsep.join(filter(None, [str(HOOK), path])), "ELBOWROOM_RUN_SYMMETRIC": symmetric, **more}
        command = [sys.executable, "-B", *options, "-c", textwrap.dedent(program)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)

    def fake_torch(self, distributed: str = "", version: str = "cuda = '13.0'") -> str:
        """A package laid out like PyTorch, with nothing in it."""
        self.file("site/torch/__init__.py", "__version__ = '2.1.0'\nfrom . import cuda, version, nn\n")
        self.file("site/torch/version.py", version)
        self.file("site/torch/cuda.py")
        self.file("site/torch/_C.py")
        self.file("site/torch/nn/__init__.py", "from .parallel import distributed\n")
        self.file("site/torch/nn/parallel/__init__.py")
        self.file("site/torch/nn/parallel/distributed.py", "DistributedDataParallel = 'as it is'\n" + distributed)
        return str(self.folder / "site")

    def test_without_torch_nothing_is_loaded_but_the_file(self) -> None:
        program = "import sys; print(sorted(m for m in sys.modules if 'elbowroom' in m or m == 'torch'), len(sys.modules))"
        hooked = self.python(program)
        self.assertTrue(hooked.stdout.startswith("[] "), hooked)
        bare = subprocess.run([sys.executable, "-B", "-c", program], env={}, capture_output=True, text=True, check=True)
        # sitecustomize itself, and nothing more.
        self.assertLessEqual(int(hooked.stdout.split()[-1]), int(bare.stdout.split()[-1]) + 1)

    def test_without_torch_it_costs_next_to_nothing(self) -> None:
        program = f"""
            import time, os
            code = compile(open({str(SOURCE)!r}).read(), {str(SOURCE)!r}, 'exec')
            times = []
            for _ in range({LEAST_TURNS}):
                begin = time.perf_counter()
                exec(code, {{'__name__': 'hook', '__file__': {str(SOURCE)!r}}})
                times.append(time.perf_counter() - begin)
            print(1000 * min(times))
        """
        self.assertLess(float(self.python(program).stdout), MOST_MILLISECONDS)

    def test_old_pythons_can_read_it(self) -> None:
        tree = ast.parse(SOURCE.read_text(), feature_version=(3, 4))
        for node in ast.walk(tree):
            self.assertNotIsInstance(node, (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Starred))
            if isinstance(node, ast.FunctionDef):
                self.assertFalse(node.args.kwonlyargs or node.args.posonlyargs or node.returns)
                self.assertFalse([argument for argument in node.args.args if argument.annotation])

    def test_the_programs_own_sitecustomize_runs_where_the_current_folder_has_gone(self) -> None:
        self.file("own/sitecustomize.py", "MARK = 'own'\n")
        gone = self.folder / "gone"
        script = 'mkdir -p "$1" && cd "$1" && rmdir "$1" && exec "$2" -B -c "import sitecustomize as s; print(s.MARK)"'
        started = 0
        for python in PYTHONS:
            said = []
            for hook in ([], [str(HOOK)]):
                path = os.pathsep.join([*hook, "relative", str(self.folder / "own")])
                done = subprocess.run(["bash", "-c", script, "bash", str(gone), python], capture_output=True, text=True, check=False,
                                      env={**os.environ, "PYTHONPATH": path})
                said.append(done.stdout)
            # From 3.11 on Python does not start there.
            started += bool(said[0])
            self.assertEqual(said[0], said[1], python)
        if not started:
            self.skipTest("no Python here starts in a folder that has gone")

    def test_no_link_is_followed_in_the_folder_of_reports(self) -> None:
        reports = self.folder / "reports"
        reports.mkdir()
        precious = self.folder / "precious"
        precious.write_text("precious")
        # Somebody has guessed the number of the process: a link under its name is not followed.
        program = f"""
            import os
            os.symlink({str(precious)!r}, os.path.join({str(reports)!r}, f"{{os.getpid()}}.hooked"))
            __file__ = {str(SOURCE)!r}
            exec(open(__file__).read())
        """
        done = self.python(program, "-S", ELBOWROOM_RUN_REPORT_DIR=str(reports))
        self.assertEqual((done.returncode, precious.read_text()), (0, "precious"), done.stderr)

    def test_the_programs_own_sitecustomize_runs(self) -> None:
        self.file("own/sitecustomize.py", "import sys\nsys.path.append('/of/the/program')\nMARK = 'own'\n")
        done = self.python("import sys, sitecustomize as s; print(s.MARK, '/of/the/program' in sys.path, len(sys.meta_path))",
                           path=str(self.folder / "own"))
        self.assertTrue(done.stdout.startswith("own True"), done)

    def test_without_one_the_hooks_file_stays_and_the_path_is_whole(self) -> None:
        own = subprocess.run([sys.executable, "-B", "-c", "import sitecustomize as s; print(s.__file__)"], env={}, capture_output=True, text=True, check=False)
        if own.returncode == 0:  # Ubuntu's Python has one
            self.skipTest(f"this Python comes with {own.stdout.strip()}")
        done = self.python("import sys, sitecustomize as s; print(s.__file__, sys.path.count(sys.argv[0]))", path=str(self.folder))
        self.assertIn(str(SOURCE), done.stdout)
        self.assertEqual(self.python("import sys; print(sys.path)", path=str(self.folder)).stdout.count(str(self.folder)), 1)

    def test_its_failures_are_those_that_python_would_have_shown(self) -> None:
        self.file("own/sitecustomize.py", "raise RuntimeError('of the program')\n")
        done = self.python("print('goes on')", path=str(self.folder / "own"))
        self.assertEqual((done.stdout, done.returncode), ("goes on\n", 0))
        self.assertIn("of the program", done.stderr)

    def test_an_import_that_fails_inside_it_is_not_hidden(self) -> None:
        self.file("own/sitecustomize.py", "import nothing_of_this_name\n")
        self.assertIn("nothing_of_this_name", self.python("pass", path=str(self.folder / "own")).stderr)

    def test_without_the_word_of_run_nothing_is_installed(self) -> None:
        done = self.python("import sys; print([f for f in sys.meta_path if type(f).__name__ == 'Finder'])", symmetric="")
        self.assertEqual(done.stdout, "[]\n")

    def test_options_that_keep_it_out_leave_no_note(self) -> None:
        for options in (["-S"], ["-I"], ["-E"]):
            reports = self.folder / options[0]
            reports.mkdir()
            done = self.python("import sys; print('sitecustomize' in sys.modules)", *options, ELBOWROOM_RUN_REPORT_DIR=str(reports))
            self.assertEqual(list(reports.iterdir()), [], (options, done))
        reports = self.folder / "with"
        reports.mkdir()
        self.python("pass", ELBOWROOM_RUN_REPORT_DIR=str(reports))
        self.assertEqual([path.suffix for path in reports.iterdir()], [".hooked"])
        self.file("own/jax/__init__.py", "from jax.version import name\n")
        self.file("own/jax/version.py", "name = 'jax'\n")
        self.python("import importlib.util; importlib.util.find_spec('jax')", path=str(self.folder / "own"), ELBOWROOM_RUN_REPORT_DIR=str(reports))
        self.assertEqual({path.suffix for path in reports.iterdir()}, {".hooked"}, "only looked for")
        self.python("import jax", path=str(self.folder / "own"), ELBOWROOM_RUN_REPORT_DIR=str(reports))
        self.assertEqual([path.suffix for path in reports.iterdir() if path.suffix != ".hooked"], [".jax"])

    def test_a_pytorch_without_the_seams_stays_as_it_is_and_the_record_says_why(self) -> None:
        done = self.python("import torch, elbowroom; print(torch.nn.distributed.DistributedDataParallel)", path=self.fake_torch(),
                           ELBOWROOM_RUN_REPORT_DIR=str(self.folder))
        self.assertEqual(done.stdout, "as it is\n", done)
        records = [json.loads(path.read_text()) for path in self.folder.glob("*.symmetric")]
        self.assertEqual(len(records), 1, done)
        self.assertIn("PyTorch 2.1.0 lacks torch.cuda.MemPool", records[0]["refused"][0])

    def test_prepare_leaves_a_pytorch_without_fsdp2_as_it_is(self) -> None:
        program = "import torch, elbowroom; print(elbowroom.prepare('a model'), elbowroom.report()['refused'])"
        environment = {"PYTHONPATH": os.pathsep.join([str(HOOK.parents[1]), self.fake_torch()])}
        done = subprocess.run([sys.executable, "-B", "-c", program], env=environment, capture_output=True, text=True, check=False, timeout=60)
        self.assertTrue(done.stdout.startswith("a model ['DistributedDataParallel: PyTorch 2.1.0 lacks"), done)
        self.assertIn("No module named 'torch.distributed'", done.stdout)

    def test_a_pytorch_for_another_vendor_stays_as_it_is(self) -> None:
        site = self.fake_torch(version="hip = '6.4'\ncuda = None\n")
        done = self.python("import torch, elbowroom; print(elbowroom.report()['refused'])", path=site)
        self.assertIn("built for ROCm", done.stdout, done)

    def test_a_module_that_cannot_be_imported_fails_as_without_the_hook(self) -> None:
        site = self.fake_torch(distributed="raise ImportError('of PyTorch')\n")
        done = self.python("import torch", path=site)
        self.assertEqual(done.stderr.splitlines()[-1], "ImportError: of PyTorch")

    def test_two_copies_of_the_hook_import_it_once(self) -> None:
        self.file("copy/hook/sitecustomize.py", SOURCE.read_text())
        site = self.fake_torch()
        program = "import sys, torch, elbowroom; print(len(elbowroom.report()['refused']), [type(f).__name__ for f in sys.meta_path].count('Finder'))"
        done = self.python(program, path=os.pathsep.join([str(self.folder / "copy" / "hook"), site]))
        self.assertEqual(done.stdout, "1 2\n", done)

    def test_a_module_whose_second_import_succeeds_is_seen_then(self) -> None:
        site = self.fake_torch(distributed="import builtins\nif not hasattr(builtins, 'second'):\n    builtins.second = 1\n    raise ImportError\n")
        program = """
            try:
                import torch
            except ImportError:
                import torch
            import elbowroom
            print(elbowroom.report()['refused'])
        """
        self.assertIn("lacks", self.python(program, path=site).stdout)


if __name__ == "__main__":
    unittest.main()
