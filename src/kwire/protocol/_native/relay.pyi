from kwire.protocol.relay.budget import HeldBudget as HeldBudget
from kwire.protocol.relay.counters import RelayCounters as RelayCounters
from kwire.protocol.relay.lease import Lease as Lease
from kwire.protocol.relay.relay import Relay as Relay

__all__ = ["HeldBudget", "Lease", "Relay", "RelayCounters"]
