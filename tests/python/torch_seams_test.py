"""The seams in the PyTorch that is here, on CPUs: that they are there, when they act, and that results stay the same to the bit.
Ends with 77 where there is no PyTorch.
"""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import stand_ins

from elbowroom import parts

HERE = Path(__file__).resolve().parent
LAUNCHER = HERE.parents[1] / "examples" / "pytorch" / "launch.py"


def launch(kind: str, *runs: str) -> dict[str, dict[str, Any]]:
    """What rank 0 says of each run. All runs in one pair of processes, plain ones first: to start PyTorch takes the most time."""
    command = [sys.executable, "-B", str(LAUNCHER), "-n", "2", str(HERE / "torch_ranks.py"), kind, *runs]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(lines) != len(runs):
        raise AssertionError(f"{runs}: exit code {done.returncode}\n{done.stderr[-3000:]}")
    return dict(zip(runs, lines, strict=True))


class DdpTest(unittest.TestCase):
    def test_the_rebuilt_buckets_are_made_inside_and_registered_before_the_third_step(self) -> None:
        plain, placed = launch("ddp", "plain+views", "views").values()
        self.assertEqual(placed["events"][:5], ["step 0", "in", "out", "step 1", "registered"])
        self.assertEqual(placed["events"].count("in"), 1)
        self.assertEqual(placed["buffers"][0]["state"], "registered")
        self.assertEqual(placed["digest"], plain["digest"])

    def test_gradients_are_views_of_buckets_where_the_user_allows_it(self) -> None:
        said = launch("ddp", "plain", "plain+views", "plain+accumulate", "none", "allowed", "views+allowed", "accumulate+allowed")
        self.assertEqual(said["none"]["storages"], said["plain"]["storages"], "a gradient has memory of its own")
        self.assertEqual(said["allowed"]["storages"], said["plain+views"]["storages"], "as many as buckets")
        self.assertLess(said["allowed"]["storages"], said["plain"]["storages"])
        for case in ("none", "allowed", "views+allowed"):
            self.assertEqual(said[case]["digest"], said["plain"]["digest"], case)
        self.assertEqual(said["accumulate+allowed"]["digest"], said["plain+accumulate"]["digest"])

    def test_gradients_stay_in_the_buckets_while_nobody_keeps_them(self) -> None:
        # 12 parameters, in steps 2 to 5, or in 2 and 3 where rank 1 keeps what step 3 has left.
        in_place = {"none": 48, "nccl2": 48, "between": 48, "held": 24, "sliced": 24, "fails": 48, "reentrant": 48, "compiled": 48}
        in_place |= {"keeps": 0, "zeroed": 0, "accumulate": 0, "grabbed": 0, "static": 0, "joined": 0, "own": 0, "views": 0}
        # What is not dropped is accumulated where it lies. Of two passes in a step the first finds dropped gradients.
        in_place |= {"stays": 24, "later": 48, "unsent": 48}
        in_place |= {"sparse": 0, "sparse+zeroed": 0}
        plains = {case: f"plain+{case}" for case in in_place if case not in ("none", "fails")}
        said = launch("ddp", "plain", *plains.values(), *in_place)
        for case, count in in_place.items():
            buckets = said[case]["buffers"][0]
            self.assertEqual(said[case]["digest"], said[plains.get(case, "plain")]["digest"], case)
            self.assertEqual(buckets["in_place"], count, f"{case}: {buckets}")
        for case in ("held", "sliced"):
            kept = said[case]["buffers"][0]
            self.assertEqual(kept["not_in_place"], "rank 1: the program keeps gradients of the step before")
            self.assertEqual(kept["state"], "given back", "the buckets have left the registered memory")
            self.assertIn("deregistered", said[case]["events"])
        self.assertNotIn("registered", said["joined"]["events"])

    def test_gradients_that_the_program_knows_and_those_that_ddp_lost_are_given_nothing(self) -> None:
        # One of 12 parameters is left out. A model that was of another type has lost DDP's hooks, and gradients are not sent.
        in_place = {"marked": 44, "exported": 44, "retyped": 24, "hooked": 24}
        said = launch("ddp", *(f"plain+{case}" for case in in_place), *in_place)
        for case, count in in_place.items():
            self.assertEqual(said[case]["digest"], said[f"plain+{case}"]["digest"], case)
            self.assertEqual(said[case]["buffers"][0]["in_place"], count, case)
        self.assertEqual(said["hooked"]["buffers"][0]["state"], "given back", "rank 1 keeps gradients, so all ranks leave")

    def test_gradients_that_a_broken_pass_has_left_are_those_of_the_program(self) -> None:
        plain, placed = launch("ddp", "plain+broken", "broken").values()
        self.assertEqual(placed["digest"], plain["digest"])
        self.assertEqual(placed["buffers"][0]["in_place"], 48)

    def test_gradients_that_the_program_finishes_itself_are_copied(self) -> None:
        from torch.nn.parallel import DistributedDataParallel

        if not hasattr(DistributedDataParallel, "finalize_backward"):
            self.skipTest("this PyTorch always finishes them itself")
        plain, placed = launch("ddp", "plain+finished", "finished").values()
        self.assertEqual(placed["digest"], plain["digest"])
        self.assertEqual(placed["buffers"][0]["not_in_place"], "rank 0: the program says when gradients are final")
        self.assertEqual(placed["buffers"][0]["in_place"], 0)

    def test_a_model_that_is_dropped_goes_without_the_garbage_collector(self) -> None:
        cases = ("none", "zeroed", "held", "views", "fails", "unused", "static", "bf16", "rewrapped", "compared")
        said = launch("ddp", "plain", *cases)  # PyTorch itself keeps the first model of a process
        self.assertEqual({case: said[case]["alive"] for case in cases}, dict.fromkeys(cases, 0))

    def test_a_rank_that_cannot_sends_all_back(self) -> None:
        said = launch("ddp", "plain+unused+static", "fails", "unequal", "unused", "unused+static")
        failed, unequal = said["fails"], said["unequal"]
        self.assertEqual(failed["events"][4:6], ["registered", "deregistered"])
        self.assertEqual(failed["buffers"][0]["reason"], "rank 1: ncclCommWindowRegister: 801")
        self.assertIn("rank 1 has layout", unequal["buffers"][0]["reason"])
        self.assertNotIn("registered", unequal["events"])
        # Buckets that are never rebuilt are made inside at once, and registered with the first step that begins.
        self.assertEqual(said["unused"]["events"][:4], ["in", "out", "step 0", "registered"])
        # Of a static graph they are rebuilt all the same, and the first ones go.
        static = said["unused+static"]
        self.assertEqual(static["events"][:8], ["in", "out", "step 0", "step 1", "in", "out", "released", "step 2"])
        self.assertEqual([entry["state"] for entry in static["buffers"]], ["registered"])
        self.assertEqual(static["digest"], said["plain+unused+static"]["digest"])

    def test_copies_that_compression_hooks_send_get_places_and_results_stay(self) -> None:
        cases = ("bf16", "fp16+views", "wrapper+views", "bf16+unused")
        said = launch("ddp", *(f"plain+{case}" for case in cases), *cases)
        for case in cases:
            copies = [entry for entry in said[case]["buffers"] if entry["what"] == "DDP compressed copies"]
            self.assertEqual([entry["state"] for entry in copies], ["registered"], case)
            # 6 layers of 64 x 64 weights and 64 biases, two bytes each.
            self.assertEqual(copies[0]["bytes"], 6 * (64 * 64 + 64) * 2)
            self.assertEqual(said[case]["digest"], said[f"plain+{case}"]["digest"], case)

    def test_a_model_under_torch_compile_is_no_different(self) -> None:
        cases = ("compiled", "bf16+compiled")
        said = launch("ddp", *(f"plain+{case}" for case in cases), *cases)
        for case in cases:
            self.assertEqual([entry["state"] for entry in said[case]["buffers"]], ["registered"], case)
            self.assertEqual(said[case]["digest"], said[f"plain+{case}"]["digest"], case)

    def test_a_model_that_is_wrapped_again_and_two_models_have_a_segment_each(self) -> None:
        cases = ("rewrapped", "pair")
        said = launch("ddp", *(f"plain+{case}" for case in cases), *cases)
        for case in cases:
            self.assertEqual(said[case]["digest"], said[f"plain+{case}"]["digest"], case)
        self.assertEqual([entry["state"] for entry in said["pair"]["buffers"]], ["registered", "registered"])
        self.assertEqual([entry["state"] for entry in said["rewrapped"]["buffers"]], ["given back", "registered"])
        self.assertEqual(said["rewrapped"]["events"].count("released"), 1)
        # The second model of the pair accumulates for ever. Wrapped again, 12 parameters stay for one step of the first three, and for one of the rest.
        self.assertEqual([entry["in_place"] for entry in said["pair"]["buffers"]], [0, 48])
        self.assertEqual([entry["in_place"] for entry in said["rewrapped"]["buffers"]], [12, 12])

    def test_a_hook_of_the_users_own_stays_as_it_is(self) -> None:
        plain, placed = launch("ddp", "plain+own", "own").values()
        self.assertEqual([entry["what"] for entry in placed["buffers"]], ["DDP buckets"])
        self.assertEqual(placed["digest"], plain["digest"])

    def test_slower_buckets_are_given_back_and_stay_where_they_are(self) -> None:
        plain, placed = launch("ddp", "plain+compared", "compared").values()
        buckets = placed["buffers"][0]
        self.assertEqual((buckets["state"], buckets["compared"]), ("given back", "slower"))
        self.assertEqual((buckets["ordinary_ms"], buckets["symmetric_ms"]), (40.0, 41.0))
        self.assertEqual(placed["events"].count("deregistered"), 1)
        self.assertNotIn("released", placed["events"])
        self.assertEqual(placed["digest"], plain["digest"])

    def test_steps_of_several_passes_are_compared_whole(self) -> None:
        cases = ("compared+unsent", "compared+accumulate")
        said = launch("ddp", *(f"plain+{case}" for case in cases), *cases)
        for case in cases:
            buckets = said[case]["buffers"][0]
            self.assertEqual((buckets["state"], buckets["compared"]), ("given back", "slower"), f"{case}: {buckets}")
            self.assertEqual(said[case]["digest"], said[f"plain+{case}"]["digest"], case)

    def test_in_a_pytorch_that_no_test_knows_a_sum_must_be_what_it_is_elsewhere(self) -> None:
        plain, proven, wrong = launch("ddp", "plain", "untested", "untested+wrong").values()
        self.assertEqual(proven["buffers"][0]["state"], "registered")
        self.assertEqual([left["part"] for left in proven["left_out"]], [parts.IN_PLACE.name])
        self.assertEqual((wrong["buffers"][0]["state"], wrong["buffers"][0]["reason"]), ("given back", "rank 1: as if a sum differed"))
        self.assertEqual({proven["digest"], wrong["digest"]}, {plain["digest"]})

    def test_a_backend_that_was_not_measured_must_prove_a_sum(self) -> None:
        plain, proven, wrong = launch("ddp", "plain", "other_nccl", "other_nccl+untested+wrong").values()
        buckets = proven["buffers"][0]
        self.assertEqual((buckets["state"], buckets["in_place"]), ("registered", 0))
        self.assertEqual(buckets["not_in_place"], "rank 0: OtherNCCL was measured on no GPU")
        self.assertEqual((wrong["buffers"][0]["state"], wrong["buffers"][0]["reason"]), ("given back", "rank 1: as if a sum differed"))
        self.assertEqual({proven["digest"], wrong["digest"]}, {plain["digest"]})

    def test_each_backend_that_may_be_nccl_hands_out_its_communicator(self) -> None:
        import torch.distributed as dist

        kinds = {name: kind for name, kind in vars(dist.distributed_c10d).items() if name.startswith("ProcessGroupNCCL")}
        self.assertIn("ProcessGroupNCCL", kinds)
        for name, kind in kinds.items():
            self.assertTrue(callable(getattr(kind, "_comm_ptr", None)), name)
            self.assertTrue(hasattr(kind, "mem_allocator") and hasattr(kind, "options"), name)
        self.assertEqual(len(dist.ProcessGroupNCCL.get_runtime_nccl_version()), 3)

    def test_copies_are_given_back_where_memory_runs_short(self) -> None:
        plain, placed = launch("ddp", "plain+bf16+retries", "bf16+retries").values()
        self.assertEqual(placed["buffers"][0]["reason"], "rank 1: the allocator had to retry")
        self.assertEqual(placed["events"].count("released"), 1)
        self.assertEqual(placed["digest"], plain["digest"])


class Fsdp2Test(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        """A PyTorch whose FSDP2 has other insides than are known is left as it is, with the reason."""
        said = launch("fsdp2", "plain+default", "default")
        left_out = [left for left in said["default"]["left_out"] if left["part"] == parts.STAGING.name]
        if left_out:
            assert said["default"]["digest"] == said["plain+default"]["digest"], said
            assert not said["default"]["buffers"] and "lacks" in left_out[0]["reason"], left_out
            raise unittest.SkipTest(left_out[0]["reason"])

    def test_buffers_move_at_the_third_step_and_results_stay(self) -> None:
        cases = ("default", "mixed", "accumulate")
        said = launch("fsdp2", *(f"plain+{case}" for case in cases), *cases)
        for case in cases:
            self.assertEqual(said[case]["buffers"][0]["state"], "registered", case)
            self.assertEqual(said[case]["digest"], said[f"plain+{case}"]["digest"], case)
            self.assertEqual(said[case]["events"].count("registered"), 3)  # the segment, and two slots

    def test_slower_buffers_are_given_back_and_released_once_nothing_lies_there(self) -> None:
        plain, placed = launch("fsdp2", "plain+mixed+compared", "mixed+compared").values()
        self.assertEqual((placed["buffers"][0]["state"], placed["buffers"][0]["compared"]), ("given back", "slower"))
        # The staging buffers' segment, and two slots of parameters.
        self.assertEqual([placed["events"].count(word) for word in ("registered", "deregistered", "released")], [3, 1, 3])
        self.assertEqual(placed["buffers"][0]["not_direct"], "rank 0: steps became slower")
        self.assertEqual(placed["digest"], plain["digest"])

    def test_steps_of_several_passes_move_and_come_back_between_two_steps_alone(self) -> None:
        """Sums that wait for their all-reduce are means or sums as a whole."""
        sums = ["mesh+summed+turns2", "mesh+summed+turns3", "mesh+summed+turns4", "mesh+summed+open+turns3"]
        placed = [*sums, "mesh+unreduced+turns3", "hooks+turns3"]
        said = launch("fsdp2", *(f"plain+{case}" for case in placed), *placed)
        for case in placed:
            self.assertEqual(said[case]["digest"], said[f"plain+{case}"]["digest"], case)
            self.assertEqual(said[case]["buffers"][0]["state"], "registered", case)

    def test_steps_of_several_passes_are_compared_whole(self) -> None:
        for case in ("compared+mesh+summed+turns3", "compared+unreduced+turns3", "compared+accumulate"):
            said = launch("fsdp2", f"plain+{case}", case)
            self.assertEqual(said[case]["digest"], said[f"plain+{case}"]["digest"], case)
            buffers = said[case]["buffers"][0]
            self.assertEqual((buffers["state"], buffers["compared"]), ("given back", "slower"), "whole steps are alike")

    def test_parameters_are_gathered_directly_and_results_stay(self) -> None:
        # 3 blocks, gathered in forward and backward of 4 steps; fsdp2_kinds.py says what else takes a slot, or finds none.
        direct = {"default": 24, "nccl2": 24, "mixed": 24, "checkpoint+mesh": 24, "async": 0, "columns": 0, "strays": 24, "crooked": 0, "hostbound": 0}
        cases = [*direct, "mistaken", "kept", "manual+nested", "evaluated+prefetch", "uneven"]
        plains = {"mixed": "plain+mixed", "kept": "plain+kept", "uneven": "plain+uneven"}
        said = launch("fsdp2", "plain", *plains.values(), *cases)
        for case in cases:
            buffers = said[case]["buffers"][0]
            self.assertEqual(said[case]["digest"], said[plains.get(case, "plain")]["digest"], case)
            self.assertEqual(buffers["direct"], direct.get(case, buffers["direct"]), f"{case}: {buffers}")
            self.assertEqual(buffers["direct"] > 0, direct.get(case, 1) > 0, case)
            self.assertEqual(buffers["state"], "registered", case)
        self.assertEqual(said["crooked"]["buffers"][0]["not_direct"], "rank 1: another order")
        self.assertEqual(said["hostbound"]["buffers"][0]["not_direct"], "rank 0: the host is the limit")

    def test_in_a_pytorch_that_no_test_knows_a_step_must_be_what_it_is_elsewhere(self) -> None:
        plain, proven, wrong = launch("fsdp2", "plain+mixed", "untested+mixed", "untested+mixed+wrong").values()
        buffers = proven["buffers"][0]
        self.assertEqual((buffers["state"], buffers["reason"], buffers["direct"]), ("registered", "", 0))
        self.assertIn("no test knows PyTorch", buffers["not_direct"])
        self.assertIn("sums", proven["events"])
        self.assertEqual((wrong["buffers"][0]["state"], wrong["buffers"][0]["reason"]), ("given back", "rank 1: as if a sum differed"))
        self.assertEqual([wrong["events"].count(word) for word in ("registered", "deregistered", "released", "sums")], [1, 1, 1, 0])
        self.assertEqual({proven["digest"], wrong["digest"]}, {plain["digest"]})

    def test_a_backend_that_was_not_measured_must_prove_a_step(self) -> None:
        plain, proven = launch("fsdp2", "plain+mixed", "other_nccl+mixed").values()
        buffers = proven["buffers"][0]
        self.assertEqual((buffers["state"], buffers["direct"]), ("registered", 0))
        self.assertEqual(buffers["not_direct"], "rank 0: OtherNCCL was measured on no GPU")
        self.assertEqual(proven["digest"], plain["digest"])

    def test_copies_divide_by_powers_of_two(self) -> None:
        expected = {"divided+accumulate": 5, "divided+replaced": 3}
        cases = ("divided", "divided+mixed", "divided+accumulate", "divided+uneven", "divided+replaced", "divided+default_memory")
        said = launch("fsdp2", *(f"plain+{case}" for case in cases), *cases)
        for case in cases:
            self.assertEqual(said[case]["buffers"][0]["state"], "registered", case)
            # Placed before the third step of six, or in the middle of the second; scatters of the program's own come with the last one.
            self.assertEqual(said[case]["events"].count("divided"), expected.get(case, 4), case)
            self.assertEqual(said[case]["digest"], said[f"plain+{case}"]["digest"], case)

    def test_a_rank_that_cannot_sends_all_back(self) -> None:
        failed = launch("fsdp2", "fails")["fails"]
        self.assertEqual(failed["buffers"][0]["reason"], "rank 1: ncclCommWindowRegister: 801")
        events = [event for event in failed["events"] if event not in ("in", "out") and not event.startswith("step")]
        self.assertEqual(events, ["registered"] * 3 + ["deregistered"] + ["released"] * 3)


if __name__ == "__main__":
    stand_ins.main_with_torch()
