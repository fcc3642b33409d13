from kwire.protocol.relay.budget import HeldBudget as HeldBudget
from kwire.protocol.relay.relay import Relay as Relay

__all__ = ["HeldBudget", "Relay"]
