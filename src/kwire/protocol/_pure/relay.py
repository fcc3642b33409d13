"""The relay with Python's rules: `kwire.protocol.relay.relay`; it is the contract."""

from __future__ import annotations

from kwire.protocol.relay.budget import HeldBudget
from kwire.protocol.relay.relay import Relay

__all__ = ["HeldBudget", "Relay"]
