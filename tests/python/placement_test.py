"""All ranks register or none, whatever goes wrong on one of them; PyTorch and NCCL are stand-ins."""

from __future__ import annotations

import os
import threading
import time
import unittest
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from unittest import mock

from stand_ins import FakeRegistrations, Group, OtherNCCL, ProcessGroupNCCL, ProcessGroupNCCL2, Store, fake_torch, on_ranks

from elbowroom import placement, record

SEGMENT = SimpleNamespace(address=1 << 21, size=2 << 20)
LAYOUT = [[0, 1 << 20], [1 << 20, 1 << 19]]


class Connection:
    """Of one process to a store, as PyTorch has it: who waits by it keeps it from the other threads."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()

    def clone(self) -> Connection:
        return Connection(self._store)

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            with self._lock:
                return getattr(self._store, name)(*arguments)

        return call


class PlacementTest(unittest.TestCase):
    def setUp(self) -> None:
        for patch in (mock.patch.object(placement, "Registrations", FakeRegistrations), mock.patch.dict(os.environ, {"NCCL_HOSTID": ""})):
            patch.start()
            self.addCleanup(patch.stop)
        placement._lives.clear()
        FakeRegistrations.failing, FakeRegistrations.mapped = set(), {}

    def ranks(self, count: int) -> list[placement.GroupPlacement]:
        store, self.torches = Store(), [fake_torch() for _ in range(count)]
        placed = []
        for rank, torch in enumerate(self.torches):
            torch.rank = rank
            placement._lives.clear()  # each rank is a process of its own
            placed.append(placement.GroupPlacement(torch, Group(rank, count, store)))
        return placed

    def place(self, placed: list[placement.GroupPlacement], layouts: list | None = None, problems: dict[int, str] | None = None) -> list[record.Entry]:
        entries = [record.Entry("buckets", "0", len(placed)) for _ in placed]
        layouts = layouts or [LAYOUT] * len(placed)
        on_ranks(len(placed), lambda rank: placed[rank].place(entries[rank], [SEGMENT], layouts[rank], (problems or {}).get(rank, "")))
        self.assertEqual(len({entry.state for entry in entries}), 1, entries)
        self.assertEqual(len({entry.reason for entry in entries}), 1, entries)
        return entries

    def test_a_group_without_a_name_is_refused(self) -> None:
        group = Group(0, 2, Store())
        del group.group_name
        with self.assertRaisesRegex(placement.Unusable, "has no name"):
            placement.GroupPlacement(fake_torch(), group)

    def test_a_gpu_to_which_pytorch_gives_no_allocator_is_named(self) -> None:
        placed = self.ranks(2)[0]
        self.assertEqual(placed.allocator(), "NCCL's allocator")
        with mock.patch.object(ProcessGroupNCCL, "supports_tensor_alloc", lambda backend, device: device != "cuda:0", create=True):
            with self.assertRaisesRegex(placement.Unusable, "NVLink multicast"):
                placed.allocator()

    def test_a_backend_that_was_not_measured_must_prove_itself(self) -> None:
        for kind, unknown in ((ProcessGroupNCCL, ""), (ProcessGroupNCCL2, ""), (OtherNCCL, "OtherNCCL was measured on no GPU")):
            with mock.patch.object(Group, "_get_backend", lambda group, device, kind=kind: kind(group)):
                placed = self.ranks(2)
                self.assertEqual([one.unknown() for one in placed], [unknown] * 2)
                self.assertEqual(self.place(placed)[0].state, "registered")

    def test_a_backend_without_a_communicator_of_nccl_is_named(self) -> None:
        with mock.patch.object(Group, "_get_backend", lambda group, device: SimpleNamespace()):
            self.assertEqual(self.place(self.ranks(2))[0].reason, "rank 0: the process group's backend is SimpleNamespace")

    def test_groups_in_two_threads_do_not_wait_for_each_other(self) -> None:
        store, placed = Store(), {}
        for rank in range(2):
            connection = Connection(store)
            for name in ("first", "second"):
                placement._lives.clear()
                placed[rank, name] = placement.GroupPlacement(fake_torch(), Group(rank, 2, connection, name))
                placed[rank, name]._agreement._wait = timedelta(seconds=2)

        def ask(number: int) -> str:
            rank, name = number % 2, ("first", "second")[number in (1, 2)]
            time.sleep(0.2 * (number >= 2))  # rank 0 waits in its first group, rank 1 in its second
            return placed[rank, name].refusal([], "")

        self.assertEqual(on_ranks(4, ask), [""] * 4)

    def test_equal_ranks_are_registered_after_their_streams_are_idle(self) -> None:
        entries = self.place(self.ranks(2))
        self.assertEqual(entries[0].state, "registered")
        for torch in self.torches:
            self.assertEqual(torch.events, ["stream synchronized", "registered"])

    def test_the_group_says_how_long_it_waits(self) -> None:
        placed = self.ranks(1)[0]
        self.assertEqual(placed.timeout(), 0)
        options = SimpleNamespace(_timeout=timedelta(hours=2))
        with mock.patch.object(placed, "_backend", lambda: SimpleNamespace(options=options)):
            self.assertEqual(placed.timeout(), 7200)

    def test_a_registration_that_fails_on_one_rank_is_undone_on_all(self) -> None:
        FakeRegistrations.failing = {1}
        entries = self.place(self.ranks(3))
        self.assertEqual(entries[0].reason, "rank 1: ncclCommWindowRegister: unhandled cuda error 801")
        self.assertEqual(self.torches[0].events, ["stream synchronized", "registered", "deregistered"])
        self.assertEqual(self.torches[2].events, ["stream synchronized", "registered", "deregistered"])

    def test_unequal_layouts_register_nothing(self) -> None:
        """As where a rank allocates something else in between."""
        entries = self.place(self.ranks(2), [LAYOUT, [[0, 512], *LAYOUT]])
        self.assertIn("rank 1 has layout", entries[0].reason)
        self.assertNotIn("registered", self.torches[0].events + self.torches[1].events)

    def test_segments_of_other_sizes_register_nothing(self) -> None:
        FakeRegistrations.mapped = {1: 4 << 20}
        entries = self.place(self.ranks(2))
        self.assertEqual(entries[0].reason, "rank 1 has mapped [4194304], rank 0 has [2097152]")

    def test_out_of_memory_on_one_rank_is_the_reason_of_all(self) -> None:
        entries = self.place(self.ranks(2), problems={0: "out of memory for 2097152 bytes"})
        self.assertEqual(entries[1].reason, "rank 0: out of memory for 2097152 bytes")
        self.assertNotIn("registered", self.torches[1].events)

    def test_two_models_are_registered_and_a_third_is_not(self) -> None:
        placed = self.ranks(2)
        self.assertEqual([self.place(placed)[0].state for _ in range(3)], ["registered", "registered", "refused"])

    def test_a_set_is_given_back_once_every_rank_has_dropped_it(self) -> None:
        placed = self.ranks(2)
        dropped = [[True, False], [False, False]]  # by rank and set
        segments = [[SimpleNamespace(address=1 << 21, size=2 << 20, dropped=lambda rank=rank, number=number: dropped[rank][number])
                     for number in range(2)] for rank in range(2)]
        entries = [[record.Entry("buckets", "0", 2) for _ in range(2)] for _ in range(2)]
        for number in range(2):
            on_ranks(2, lambda rank: placed[rank].place(entries[rank][number], [segments[rank][number]], LAYOUT, ""))
        on_ranks(2, lambda rank: placed[rank].give_back_dropped())
        self.assertEqual([[segment.registered for segment in own] for own in segments], [[True, True]] * 2)
        dropped[1][0] = True
        on_ranks(2, lambda rank: placed[rank].give_back_dropped())
        self.assertEqual([[segment.registered for segment in own] for own in segments], [[False, True]] * 2)
        for torch, own in zip(self.torches, entries, strict=True):
            self.assertEqual(torch.events[-2:], ["device synchronized", "deregistered"])
            self.assertEqual([entry.state for entry in own], ["given back", "registered"])

    def test_ranks_of_several_hosts_are_refused(self) -> None:
        placed = self.ranks(2)
        with mock.patch.object(placement.socket, "gethostname", side_effect=iter(["a", "b"])):
            self.assertIn("host", self.place(placed)[0].reason)

    def test_a_group_made_again_on_the_same_store_asks_anew(self) -> None:
        store, torch = Store(), [fake_torch(), fake_torch()]
        lives: list[dict[str, int]] = [{}, {}]

        def of_rank(rank: int, reason: str) -> placement.GroupPlacement:
            torch[rank].rank = rank
            with mock.patch.object(placement, "_lives", lives[rank]):
                return placement.GroupPlacement(torch[rank], Group(rank, 2, store))

        first = [of_rank(rank, "") for rank in range(2)]
        self.assertEqual(self.place(first, problems={0: "no"})[0].state, "refused")
        again = [of_rank(rank, "") for rank in range(2)]
        self.assertEqual(self.place(again)[0].state, "registered")

    def test_registrations_go_before_the_communicator_where_the_device_is_idle(self) -> None:
        placed = self.ranks(2)
        self.place(placed)
        placed[0].close()
        self.assertEqual(self.torches[0].events[-1], "deregistered")
        busy = self.torches[1].cuda.current_stream()
        busy.query = lambda: False
        placed[1].close()
        self.assertEqual(self.torches[1].events[-1], "registered")

    def test_a_forked_process_has_nothing_of_its_parent(self) -> None:
        record.add(record.Entry("buckets", "0", 2))
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, str(len(record.as_document()["buffers"])).encode())
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(os.read(reader, 8), b"0")


if __name__ == "__main__":
    unittest.main()
