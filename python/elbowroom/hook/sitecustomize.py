"""Elbowroom's hook into Python programs under `elbowroom run`. Its folder stands first on PYTHONPATH.

Every Python of the program runs this file, old ones and those without PyTorch too: syntax and imports are of all versions. It waits
for two modules of PyTorch and does nothing until one of them has been imported.
"""

import os
import stat
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(HERE)

# A module of PyTorch, and the function of elbowroom.seams that is called with it once it has been imported.
AWAITED = {
    "torch.nn.parallel.distributed": "install_ddp",
    "torch.distributed.fsdp._fully_shard._fsdp_state": "install_fsdp2",
}


def elbowroom_package():
    """The package beside this folder, under its own name. sys.path stays as the program has it."""
    import importlib.util

    if "elbowroom" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "elbowroom", os.path.join(PACKAGE, "__init__.py"), submodule_search_locations=[PACKAGE]
        )
        package = importlib.util.module_from_spec(spec)
        sys.modules["elbowroom"] = package
        spec.loader.exec_module(package)
    return sys.modules["elbowroom"]


def install(module, name):
    """Whatever goes wrong here must not reach the program."""
    try:
        elbowroom_package()
        from elbowroom import seams

        getattr(seams, name)(module)
    except Exception as error:
        record = sys.modules.get("elbowroom.record")
        if record is not None:
            record.refuse_all("%s: %s: %s" % (name, type(error).__name__, error))


class Finder(object):
    """Lets the other finders find an awaited module, and is called when it has been executed."""

    def __init__(self):
        self.awaited = dict(AWAITED)

    def find_spec(self, fullname, path=None, target=None):
        if fullname == "jax.version":  # others may only ask whether there is a jax
            note("jax")
        if fullname not in self.awaited:
            return None
        name = self.awaited.pop(fullname)
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find else None
            if spec is not None:
                self.call_after(spec, name)
                return spec
        return None

    def call_after(self, spec, name):
        loader = spec.loader
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        def exec_module(module):
            loader.__dict__.pop("exec_module", None)  # gone already where this file ran from two folders
            try:
                execute(module)
            except BaseException:
                self.awaited[spec.name] = name  # the program may import it again
                raise
            install(module, name)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass


def note(what):
    """Says to `elbowroom run` that this process has the hook, or imports JAX. Only where somebody wants a report."""
    folder = os.environ.get("ELBOWROOM_RUN_REPORT_DIR")
    if not folder:
        return
    try:
        facts = os.lstat(folder)
        # A process may outlive the folder, and another user make it anew.
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
            return
        name = os.path.join(folder, "%d.%s" % (os.getpid(), what))
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 420))
    except (AttributeError, IOError, OSError):  # Python 2.7 may lack O_NOFOLLOW
        pass


def is_here(entry):
    try:
        return os.path.abspath(entry) == HERE
    except (IOError, OSError):  # of a relative entry where the current folder has gone
        return False


def run_next():
    """Python knows one sitecustomize; this one took the place of the next on the path, if there is one."""
    own = sys.modules.pop("sitecustomize", None)
    kept = list(sys.path)
    sys.path[:] = [entry for entry in kept if not is_here(entry)]
    searched = list(sys.path)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize" or "sitecustomize" not in str(error):
            raise
        sys.modules["sitecustomize"] = own
    finally:
        # What the next one did to the path stays.
        if sys.path == searched:
            sys.path[:] = kept


if sys.version_info >= (3, 10) and os.environ.get("ELBOWROOM_RUN_SYMMETRIC") == "1":
    sys.meta_path.insert(0, Finder())
    note("hooked")
run_next()
