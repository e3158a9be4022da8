"""When the host counts as the limit: streams are models of a device that takes its time."""

from __future__ import annotations

import unittest
from typing import Any

import stand_ins  # noqa: F401  puts the package on the path

from elbowroom.host_lead import HostLead


class Stream:
    """Work is launched at the host's time and done one piece behind the other."""

    def __init__(self) -> None:
        self.now = self.free_at = 0.0

    def launch(self, host: float, device: float) -> None:
        self.now += host
        self.free_at = max(self.free_at, self.now) + device

    def synchronize(self) -> None:
        self.now = max(self.now, self.free_at)

    def record_event(self) -> Any:
        done_at = max(self.free_at, self.now)
        return type("Event", (), {"query": lambda event: self.now >= done_at})()


def is_short(host: float, device: float, layers: int = 13, waits: bool = False) -> bool:
    lead, stream = HostLead(), Stream()
    for _ in range(9):
        for _ in range(layers):
            lead.gather(stream)
            stream.launch(host, device)
        if waits:
            stream.synchronize()
    return lead.short()


class HostLeadTest(unittest.TestCase):
    def test_the_slower_of_host_and_device_is_the_limit(self) -> None:
        self.assertFalse(is_short(host=2.0, device=5.0))
        self.assertTrue(is_short(host=3.5, device=3.0))

    # Of 13 gathers two or three find that the device has come as far: the host begins each step with no lead.
    def test_a_program_that_waits_in_every_step_is_no_other(self) -> None:
        self.assertFalse(is_short(host=2.0, device=5.0, waits=True))
        self.assertTrue(is_short(host=3.0, device=3.0, waits=True))

    def test_nothing_is_said_of_a_program_that_gathers_once(self) -> None:
        lead = HostLead()
        lead.gather(Stream())
        self.assertFalse(lead.short())


if __name__ == "__main__":
    unittest.main()
