"""Classic groups (KIP-559) and groups of KIP-848: bytes that members exchange, checks, and both sides as sans-IO machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr
from kwire.protocol.groups.member_bytes import (
    PROTOCOL_TYPES,
    USER_DATA,
    decode_assignment,
    decode_group_assignment,
    decode_group_metadata,
    decode_subscription,
    decode_user_data,
    read_assignment,
    read_group_assignment,
    read_group_metadata,
    read_subscription,
    read_user_data,
)
from kwire.protocol.groups.protocol_checks import effective_rebalance_timeout

if TYPE_CHECKING:
    from kwire.protocol.groups.consumer_coordinator_role import ConsumerGroupRole
    from kwire.protocol.groups.consumer_member_role import ConsumerGroupMemberRole
    from kwire.protocol.groups.coordinator_role import GroupCoordinatorRole
    from kwire.protocol.groups.exchange_checks import exchange_faults
    from kwire.protocol.groups.guessing import guess_protocol_type
    from kwire.protocol.groups.member_role import GroupMemberRole
    from kwire.protocol.groups.seen_groups import SeenGroups

__all__ = [
    "PROTOCOL_TYPES", "USER_DATA", "ConsumerGroupMemberRole", "ConsumerGroupRole", "GroupCoordinatorRole", "GroupMemberRole",
    "SeenGroups", "decode_assignment", "decode_group_assignment",
    "decode_group_metadata", "decode_subscription", "decode_user_data", "effective_rebalance_timeout", "exchange_faults",
    "guess_protocol_type", "read_assignment", "read_group_assignment", "read_group_metadata", "read_subscription", "read_user_data",
]  # fmt: skip

if not TYPE_CHECKING:
    # The tracker needs the readers and not the machines.
    __getattr__ = lazy_getattr(
        globals(),
        consumer_coordinator_role="ConsumerGroupRole",
        consumer_member_role="ConsumerGroupMemberRole",
        coordinator_role="GroupCoordinatorRole",
        exchange_checks="exchange_faults",
        guessing="guess_protocol_type",
        member_role="GroupMemberRole",
        seen_groups="SeenGroups",
    )
