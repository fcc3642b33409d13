"""Version negotiation, both roles (KIP-511, KIP-35 as released and as drafted), sans-IO: input is bytes and a clock, output is outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kwire.lazy_names import lazy_getattr
from kwire.protocol.negotiation.software import clean_software_text, is_valid_software, is_valid_software_text, software_faults

if TYPE_CHECKING:
    from kwire.protocol.negotiation.broker_role import NegotiatingBroker
    from kwire.protocol.negotiation.client_role import NegotiatingClient
    from kwire.protocol.negotiation.version_choice import BrokerVersions, NoCommonVersion

API_VERSIONS: Final = 18

__all__ = [
    "API_VERSIONS", "BrokerVersions", "NegotiatingBroker", "NegotiatingClient", "NoCommonVersion", "clean_software_text",
    "is_valid_software", "is_valid_software_text", "software_faults",
]  # fmt: skip

if not TYPE_CHECKING:
    # The tracker needs the rules above and not the machines, which bring the codec's writing half.
    __getattr__ = lazy_getattr(
        globals(), broker_role="NegotiatingBroker", client_role="NegotiatingClient", version_choice="BrokerVersions NoCommonVersion"
    )
