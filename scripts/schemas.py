#!/usr/bin/env python3
"""Schemas of what commands write: docs/schemas/NAME-1.json, each with an example in docs/schemas/examples.

usage: schemas.py PROGRAM            validates the examples, and documents that PROGRAM writes now on the simulator, against the schemas
       schemas.py PROGRAM --write    infers the schemas anew from examples, recorded documents and what PROGRAM writes; read the difference
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import packed

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "schemas"
JSON = Any

SCENARIO = {"schema": "elbowroom.scenario/1", "name": "relu-ar", "gpus": 2, "iterations": 2, "pattern": "pipeline",
            "compute": {"kernel": "elementwise", "op": "relu", "dtype": "bf16", "bytes": "256M"},
            "collective": {"op": "all_reduce", "bytes": "64M", "dtype": "bf16"}}  # fmt: skip
MACHINE = {"schema": "elbowroom.machine/1", "name": "mine", "device": "a100", "host_gpus": 8,
           "links": {"gb_s": 235, "turn_share": 0.47, "packet_share": 0.57, "start_us": 29, "rank_us": 7.9},
           "rails": {"count": 4, "gb_s": 25, "share": 0.78}}  # fmt: skip
ROWS = "gpus,global_batch,micro_batch,hidden,heads,layers,sequence,tp,dp,pp,iteration_ms\n8,8,2,1024,16,4,1024,2,2,2,100\n"
PTXAS = "ptxas info    : Compiling entry function 'gemm' for 'sm_90'\nptxas info    : Used 56 registers, used 1 barriers, 4096 bytes smem\n"
# Schema, file, the command that writes it on any machine.
SIM = "--backend sim --device h200 --scenario scenario.json"
COMMANDS = [
    ("list", "list.json", "list --json"),
    ("doctor", "doctor.json", "doctor --json"),
    ("plan", "plan.json", "plan --device h200 --threads 256 --registers 56 --static-shared 4096 --json plan.json"),
    ("kernels", "kernels.json", "plan ptxas.log --device h200 --threads 256 --json kernels.json"),
    ("result", "result.json", f"bench {SIM} --trials 2 --json result.json --trace trace.json"),
    ("trace", "trace.json", ""),
    ("sweep", "sweep.json", f"bench {SIM} --trials 2 --sweep comm_blocks=8:16 --json sweep.json"),
    ("tune", "tune.json", f"tune {SIM} --candidates 4 --profile profile.json --json tune.json"),
    ("profile", "profile.json", ""),
    ("transfer", "transfer.json", f"bench {SIM} --trials 2 --transfer profile.json --json transfer.json"),
    ("validation", "validation.json", f"validate rows {ROOT}/data/h200x2.csv --json validation.json"),
    ("step_validation", "steps.json", "validate steps rows.csv --machine machine.json --json steps.json"),
    ("step", "step.json", "step transformer --layers 1 --hidden 1024 --ffn 4096 --tokens 2048 --dp 2 --json step.json"),
    ("run", "run.json", "run --report run.json -- true"),
    ("measure", "measure.json", "measure --pairs 1 --step '(?P<ms>[0-9]+) ms' --json measure.json -- echo 10 ms"),
]
OF_A_FILE = {"kernel": "module", "file": "saxpy.cubin", "function": "saxpy", "grid": [65536], "block": [256], "dynamic_shared": 0, "cluster": 1,
             "arguments": [{"f32": 0.5}, {"f64": 0.5}, {"buffer": "1G", "fill": "uniform", "dtype": "f32", "compared": False}, {"i32": 1}, {"i64": 268435456}]}  # fmt: skip
BY_NUMBERS = {"kernel": "footprint", "threads": 256, "registers": 56, "static_shared": 0, "dynamic_shared": 0, "cluster": 1, "blocks": 2640, "us_per_block": 20, "bytes_per_block": 65536}
# Documents that nobody writes without a GPU, and those that users write.
KEPT = {
    "scenario": [SCENARIO, SCENARIO | {"compute": OF_A_FILE}, SCENARIO | {"compute": BY_NUMBERS},
                 SCENARIO | {"collective": {"op": "broadcast", "bytes": 1, "dtype": "f32", "root": 1, "cluster": 1, "comm_blocks": 8}},
                 SCENARIO | {"collective": {"op": "all_to_all_v", "bytes": 1, "dtype": "f32", "shares": [1, 0.5]}}],
    "machine": [MACHINE, MACHINE | {"links": MACHINE["links"] | {"switch_share": 0.85}}],
    "device": [json.loads(file.read_text()) for file in sorted((ROOT / "data/devices").glob("*.json"))],
    "choices": [json.loads((ROOT / "tests/fuzz/corpus/choice_memory/two").read_text())],
    **{kind: [json.loads((ROOT / f"tests/unit/page/documents/{kind}.json").read_text())] for kind in ("run", "tune", "sweep", "transfer", "validation")},
    "result": [json.loads((ROOT / "tests/unit/report/golden/result.json").read_text())],
    "trace": [json.loads((ROOT / "tests/unit/report/golden/trace.json").read_text())],
}
# More of what the program writes, so that a schema knows each kind of kernel, plan and axis.
ALL_SIM = "--backend sim --device h200"
WIDER = [
    ("result", f"bench {ALL_SIM} --suite quick --trials 2 --plan priority,cluster=1 --json wide.json"),
    ("result", f"bench {ALL_SIM} --suite library --only 8k-a[rg] --trials 2 --scheme concurrent,sm_target_only,copy_engine --json wide.json"),
    ("result", f"bench {ALL_SIM} --scenario step.json --trials 2 --json wide.json"),
    ("tune", f"tune {ALL_SIM} --suite library --only 8k-a[rg] --candidates 12 --profile wide.profile --json wide.json"),
    ("tune", f"tune {ALL_SIM} --scenario step.json --candidates 6 --profile wide.profile --json wide.json"),
    ("sweep", f"bench {ALL_SIM} --suite paper --only cb-ar-opt2-1024 --sweep blocks_per_sm,comm_blocks=8:16 --trials 2 --json wide.json"),
    ("transfer", f"bench {ALL_SIM} --suite library --only cublas-8k-ar --transfer wide.profile --trials 2 --json wide.json"),
    ("step", "step transformer --preset mixtral-8x7b --layers 2 --tokens 8192 --ep 8 --tp 2 --pp 2 --micro 4 --compress topk=0.01 --json wide.json"),
]
# Measured documents, some of an earlier version: types alone are taken from them.
RECORDED = {
    "result": ["h200/peers-4gpu.json", "h200/quick-later-2gpu.json"], "tune": ["h200/tune-library-third-2gpu.json.gz"],
    "transfer": ["h100/transfer-gelu-ar-2gpu.json", "h200/transfer-cublas-8k-ar-2gpu.json"], "sweep": ["sim/sweep-cb-ar-blocks.json"],
}  # fmt: skip
# Schemas that have a file by hand: docs/schemas/explain-1.json and docs/device.schema.json.
BY_HAND = {"explain", "device"}
# Members whose names are data.
MAPS = {"versions", "refused", "environment", "passed_through", "without_driver", "not_direct", "not_in_place"}
# Documents of users: an unknown member is an error. Programs that read the others pass over members that they do not know.
READ = {"scenario", "step", "machine"}
# Between processes of Elbowroom, or no JSON.
WITHOUT_SCHEMA = {"page", "markdown", "run-process", "symmetric", "tuning"}
# The page that describes the members of what users write by hand.
PAGES = {"scenario": ROOT / "docs" / "cases.md"}
SHORT = 400  # characters of an example's string


def run(program: str, words: str, folder: str) -> None:
    environment = {**os.environ, "PATH": f"{Path(program).parent}:{os.environ['PATH']}", "XDG_CACHE_HOME": folder, "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "80"}
    done = subprocess.run(f"elbowroom {words}", shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in ((0, 1) if words.startswith("doctor") else (0,)):
        sys.exit(f"elbowroom {words}: exit code {done.returncode}: {done.stderr[-400:]}")
    if words.endswith("--json"):
        (Path(folder) / f"{words.split()[0]}.json").write_text(done.stdout, encoding="utf-8")


def written(program: str) -> dict[str, list[JSON]]:
    """What the program writes now, by schema; the first one of each is small."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("scenario.json", json.dumps(SCENARIO)), ("machine.json", json.dumps(MACHINE)), ("rows.csv", ROWS), ("ptxas.log", PTXAS)):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        found = {}
        for kind, file, words in COMMANDS:
            if words:
                run(program, words, folder)
            found[kind] = [json.loads((Path(folder) / file).read_text(encoding="utf-8"))]
        for kind, words in WIDER:
            (Path(folder) / "wide.json").unlink(missing_ok=True)
            run(program, words, folder)
            found[kind].append(json.loads((Path(folder) / "wide.json").read_text(encoding="utf-8")))
        found["scenario"] = [case["scenario"] for document in found["result"] for case in document["cases"] if "scenario" in case]
        return found


# --- inferring -------------------------------------------------------------------------------------------------------------------------------


def type_of(value: JSON) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null", list: "array", dict: "object"}
    return names[type(value)]


def inferred(values: list[JSON], name: str = "") -> JSON:
    """The least schema of the kind used here that all values keep: types, members, which are always there."""
    types = sorted({type_of(value) for value in values})
    if "integer" in types and "number" in types:
        types.remove("integer")
    schema: JSON = {"type": types[0] if len(types) == 1 else types}
    objects = [value for value in values if isinstance(value, dict)]
    items = [item for value in values if isinstance(value, list) for item in value]
    if objects and name in MAPS:
        schema["additionalProperties"] = inferred([item for one in objects for item in one.values()]) if any(objects) else {}
    elif objects:
        names = list(dict.fromkeys(key for one in objects for key in one))
        schema["properties"] = {key: inferred([one[key] for one in objects if key in one], key) for key in names}
        schema["required"] = [key for key in names if all(key in one for one in objects)]
    if items:
        schema["items"] = inferred(items, name)
    return schema


def closed(schema: JSON) -> JSON:
    """The same, but no member may be there that the schema does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    of = {key: {name: closed(one) for name, one in value.items()} if key == "properties" else closed(value) for key, value in schema.items()}
    return {**of, "additionalProperties": False} if "properties" in of and "additionalProperties" not in of else of


def recorded(kind: str) -> list[JSON]:
    files = [ROOT / "results" / name for name in RECORDED.get(kind, [])]
    return [json.loads(packed.read(file)) for file in files]


def widened(schema: JSON, other: JSON) -> JSON:
    """With the types of both, and the members of the first."""
    types = sorted({*([schema["type"]] if isinstance(schema["type"], str) else schema["type"]), *([other["type"]] if isinstance(other["type"], str) else other["type"])})
    types = [one for one in types if one != "integer" or "number" not in types]
    of = {**schema, "type": types[0] if len(types) == 1 else types}
    if "properties" in schema and "properties" in other:
        of["properties"] = {name: widened(one, other["properties"][name]) if name in other["properties"] else one for name, one in schema["properties"].items()}
    for name in ("items", "additionalProperties"):
        if schema.get(name) and other.get(name):
            of[name] = widened(schema[name], other[name])
    return of


def schema_of(kind: str, documents: list[JSON]) -> JSON:
    schema = inferred(documents)
    if recorded(kind):
        schema = widened(schema, inferred(recorded(kind)))
    schema = closed(schema) if kind in READ else schema
    schema["properties"]["schema"] = {"enum": [f"elbowroom.{kind}/1"]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"elbowroom.{kind}/1", **schema}


def write(program: str) -> None:
    (FOLDER / "examples").mkdir(exist_ok=True)
    now = written(program)
    for kind in sorted({*now, *KEPT}):
        documents = [*now.get(kind, []), *KEPT.get(kind, [])] if kind != "scenario" else [*KEPT[kind], *now[kind]]
        if kind not in BY_HAND:
            (FOLDER / f"{kind}-1.json").write_text(json.dumps(schema_of(kind, documents), indent=1) + "\n", encoding="utf-8")
        text = json.dumps(documents[0], indent=1).replace(str(Path(program).parents[1]), "/usr/local")
        text = re.sub(r"/tmp/[^/\"]+", "/home/me/.cache", re.sub(r"/[^ \"]+/python3", "/usr/bin/python3", text))
        (FOLDER / "examples" / f"{kind}-1.json").write_text(text + "\n", encoding="utf-8")


# --- checking --------------------------------------------------------------------------------------------------------------------------------


def schema_file(kind: str) -> Path:
    return ROOT / "docs" / "device.schema.json" if kind == "device" else FOLDER / f"{kind}-1.json"


def without_schema() -> list[str]:
    files = [file for folder in ("src", "tools", "include", "python") for file in (ROOT / folder).rglob("*") if file.suffix in {".cpp", ".hpp", ".py"}]
    kinds = {kind for file in files for kind in re.findall(r'"elbowroom\.([a-z_-]+)/1"', file.read_text(encoding="utf-8"))}
    return [f"elbowroom.{kind}/1: no schema" for kind in sorted(kinds - WITHOUT_SCHEMA) if not schema_file(kind).exists()]


def members(schema: JSON) -> set[str]:
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return {*schema.get("properties", {}), *(name for one in inner for name in members(one))}


def undescribed(schema: JSON, page: str) -> list[str]:
    """Members that stand in no span of code of the page's text; its blocks are examples."""
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^    .*$", "", page, flags=re.M))
    return sorted(members(schema) - {"schema"} - {word for span in spans for word in re.findall(r"\w+", span)})


def without_description() -> list[str]:
    found = []
    for kind, page in PAGES.items():
        text, schema = page.read_text(encoding="utf-8"), json.loads(schema_file(kind).read_text(encoding="utf-8"))
        found += [f"{page.relative_to(ROOT)}: nothing of {name}, a member of elbowroom.{kind}/1" for name in undescribed(schema, text)]
        if "made_up" not in undescribed({"properties": {"made_up": {}}}, text):
            found.append(f"{page.relative_to(ROOT)}: a member that nobody described is not noticed")
    return found


def check(program: str) -> list[str]:
    import jsonschema

    found = [*without_schema(), *without_description()]
    now = written(program)
    for kind in sorted({*now, *KEPT, "explain"}):
        validator = jsonschema.Draft202012Validator(closed(json.loads(schema_file(kind).read_text(encoding="utf-8"))))
        example = json.loads((FOLDER / "examples" / f"{kind}-1.json").read_text(encoding="utf-8"))
        for what, document in [("the example", example), *(("what is written now", one) for one in now.get(kind, [])), *(("a kept document", one) for one in KEPT.get(kind, []))]:
            found += [f"elbowroom.{kind}/1, {what}: {'.'.join(map(str, error.absolute_path))}: {error.message[:SHORT]}" for error in validator.iter_errors(document)][:3]
        if not [*validator.iter_errors({**example, "schema": "elbowroom.other/1"})]:
            found.append(f"elbowroom.{kind}/1: a document of another schema passes")
    return found


def main(arguments: list[str]) -> int:
    if arguments[1:] == ["--write"]:
        write(str(Path(arguments[0]).resolve()))
        return 0
    try:
        import jsonschema  # noqa: F401
    except ImportError:
        print("python3-jsonschema is not installed: nothing was checked")
        return 77
    problems = check(str(Path(arguments[0]).resolve()))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
