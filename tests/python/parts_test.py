"""Each part is looked for by its own needs: what is missing takes away the parts that need it, and no others."""

from __future__ import annotations

import functools
import inspect
import sys
import unittest
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

import stand_ins

from elbowroom import parts

GROUP = """
self.mesh_info self.device self.fsdp_params self._all_gather_comm self._reduce_scatter_comm self._orig_dtype self._reduce_dtype
self.force_sum_reduction_for_comms self._all_reduce_hook self._partial_reduce_output self.gradient_divide_factor self._all_gather_result
self._training_state
def _all_gather_process_group def _reduce_scatter_process_group def _use_post_forward_mesh def is_sharded def _to_sharded
"""
PARAMETER = "self.offload_to_cpu self.all_gather_outputs def alloc_all_gather_outputs self._sharded_param_data self.fsdp_placement"
STATE, CONTEXT = "self._state_ctx", "self.all_states self.iter_forward_root"


def foreach_all_gather(fsdp_params, group, async_op, all_gather_copy_in_stream, all_gather_stream, device, all_gather_comm):  # type: ignore[no-untyped-def]
    pass


def foreach_all_gather_copy_out(all_gather_result, fsdp_params, group):  # type: ignore[no-untyped-def]
    pass


def foreach_reduce_scatter_copy_in(unsharded_grads, reduce_scatter_input, world_size):  # type: ignore[no-untyped-def]
    pass


def foreach_reduce() -> None:
    foreach_reduce_scatter_copy_in(None, None, 2)


class Result(NamedTuple):
    all_gather_output: Any
    all_gather_event: Any
    all_gather_work: Any


class FSDPParamGroup:
    def unshard(self) -> None:
        foreach_all_gather(None, None, None, None, None, None, None)

    def wait_for_unshard(self) -> None:
        foreach_all_gather_copy_out(None, None, None)


def pytorch() -> SimpleNamespace:
    """A PyTorch that has everything, and the texts of its classes."""
    state = type("FSDPState", (), {"_root_pre_forward": lambda self: None})
    functions = {parts.GATHER: foreach_all_gather, parts.COPY_OUT: foreach_all_gather_copy_out}
    modules = {
        parts.GROUPS: SimpleNamespace(FSDPParamGroup=type("FSDPParamGroup", (FSDPParamGroup,), {}), AllGatherResult=Result, **functions),
        parts.STATES: SimpleNamespace(FSDPState=state, FSDPStateContext=type("FSDPStateContext", (), {})),
        parts.PARAMETERS: SimpleNamespace(FSDPParam=type("FSDPParam", (), {})),
        parts.COLLECTIVES: SimpleNamespace(
            DefaultAllGather=1, DefaultReduceScatter=1, foreach_reduce=foreach_reduce, **{parts.COPY_IN: foreach_reduce_scatter_copy_in}
        ),
    }
    reducer = SimpleNamespace(_rebuild_buckets=1, prepare_for_forward=1, _get_zeros_like_grad_buckets=1, prepare_for_backward=1)
    torch = SimpleNamespace(
        distributed=SimpleNamespace(Reducer=reducer, _register_comm_hook=1),
        Tensor=SimpleNamespace(register_post_accumulate_grad_hook=1, _use_count=1),
        _C=SimpleNamespace(**dict.fromkeys(parts.TENSORS, 1)),
    )
    modules[parts.DISTRIBUTED] = SimpleNamespace(dist=torch.distributed)
    texts = {"FSDPParamGroup": GROUP, "FSDPParam": PARAMETER, "FSDPState": STATE, "FSDPStateContext": CONTEXT}
    return SimpleNamespace(torch=torch, modules=modules, texts=texts)


def left_out(made: SimpleNamespace) -> set[str]:
    def text_of(kind: Any) -> str:
        if kind is None:
            raise TypeError
        return made.texts[kind.__name__]

    with mock.patch.dict(sys.modules, made.modules), mock.patch.object(inspect, "getsource", text_of):
        return {part.name for part in parts.PARTS if part.lacking(made.torch)}


STAGED = {part.name for part in parts.PARTS if part.name.startswith("FSDP2")}
DIRECT, DIVISION, RESULTS = parts.DIRECT_GATHERS.name, parts.DIVISION.name, parts.RESULTS.name


class PartsTest(unittest.TestCase):
    def test_what_a_class_lacks_takes_away_what_needs_it(self) -> None:
        self.assertEqual(left_out(pytorch()), set())
        for kind, name, gone in (
            ("FSDPParamGroup", "self._all_gather_comm", {parts.STAGING.name}),
            ("FSDPParamGroup", "self._orig_dtype", {RESULTS, DIVISION}),
            ("FSDPParamGroup", "self.force_sum_reduction_for_comms", {parts.SUMS.name}),
            ("FSDPParamGroup", "self.gradient_divide_factor", {DIVISION}),
            ("FSDPParamGroup", "def _to_sharded", {DIRECT}),
            ("FSDPParam", "self.all_gather_outputs", {DIRECT}),
            ("FSDPStateContext", "self.iter_forward_root", {parts.STAGING.name}),
        ):
            made = pytorch()
            made.texts[kind] = made.texts[kind].replace(name, "")
            self.assertEqual(left_out(made), gone, name)

    def test_gradients_types_of_groups_and_of_parameters_both_do(self) -> None:
        made = pytorch()
        made.texts["FSDPParamGroup"] = GROUP.replace("self._orig_dtype", "")
        made.texts["FSDPParam"] += " self.sharded_grad_dtype"  # as PyTorch 2.15 has it
        self.assertEqual(left_out(made), set())

    def test_functions_with_other_parameters_or_callers_leave_staging_alone(self) -> None:
        def only(gather: Any) -> set[str]:
            made = pytorch()
            setattr(made.modules[parts.GROUPS], parts.GATHER, gather)
            return left_out(made)

        def more(fsdp_params, group, async_op, all_gather_copy_in_stream, all_gather_stream, device, all_gather_comm, *, output_fn=None):  # type: ignore[no-untyped-def]
            pass

        self.assertEqual(only(more), set())  # named ones are passed on
        self.assertEqual(only(lambda parameters: None), {DIRECT})
        self.assertEqual(only(None), {DIRECT})
        made = pytorch()
        made.modules[parts.GROUPS].FSDPParamGroup.unshard = lambda self: None
        self.assertEqual(left_out(made), {DIRECT})
        made.modules[parts.GROUPS].AllGatherResult = tuple
        made.modules[parts.COLLECTIVES].foreach_reduce = lambda: None
        self.assertEqual(left_out(made), {DIRECT, DIVISION})

    def test_decorators_hide_no_caller(self) -> None:
        made = pytorch()
        group = made.modules[parts.GROUPS].FSDPParamGroup
        group.unshard = functools.wraps(group.unshard)(lambda *arguments: None)
        self.assertEqual(left_out(made), set())

    def test_ddp_and_fsdp2_are_lost_apart(self) -> None:
        made = pytorch()
        del made.torch.distributed.Reducer._get_zeros_like_grad_buckets
        self.assertEqual(left_out(made), {parts.IN_PLACE.name})
        del made.torch.distributed._register_comm_hook
        self.assertEqual(left_out(made), {parts.IN_PLACE.name, parts.COMPRESSED.name})
        made.modules[parts.DISTRIBUTED].dist = None
        self.assertEqual(left_out(made), {parts.IN_PLACE.name, parts.COMPRESSED.name, parts.BUCKETS.name})
        made = pytorch()
        for module in (parts.GROUPS, parts.STATES, parts.PARAMETERS, parts.COLLECTIVES):
            made.modules[module] = SimpleNamespace()
        self.assertEqual(left_out(made), STAGED)

    def test_releases_of_the_table_are_known_and_nothing_else_is(self) -> None:
        for version, known in (("2.9.1", True), ("2.15.0+cu132", True), ("2.8.0", False), ("2.16.0", False), ("2.15.0a0+git1", False), ("2.15.0.dev20261001", False)):
            self.assertEqual(parts.unknown(SimpleNamespace(__version__=version)) == "", known, version)

    def test_the_documentation_has_the_table(self) -> None:
        page = (stand_ins.PYTHON.parent / "docs" / "reference" / "pytorch.md").read_text(encoding="utf-8")
        self.assertIn("\n".join(parts.support_table()), page)


if __name__ == "__main__":
    unittest.main()
