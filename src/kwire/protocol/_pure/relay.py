"""Relay in Python, the contract of the native one."""

from __future__ import annotations

from kwire.protocol.relay.budget import HeldBudget
from kwire.protocol.relay.counters import RelayCounters
from kwire.protocol.relay.relay import Relay

__all__ = ["HeldBudget", "Relay", "RelayCounters"]
