# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class GroupMetadataKey(MessageObject):  # coordinator-key 2, versions 0-2
    group: str

    def __init__(self, *, group: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class GroupMetadataValue(MessageObject):  # coordinator-value 2, versions 0-4
    class MemberMetadata(MessageObject):
        member_id: str
        group_instance_id: str | None  # 3+
        client_id: str
        client_host: str
        rebalance_timeout: int  # 1+
        session_timeout: int
        subscription: bytes
        assignment: bytes

        def __init__(
            self,
            *,
            member_id: str = "",
            group_instance_id: str | None = None,
            client_id: str = "",
            client_host: str = "",
            rebalance_timeout: int = -1,
            session_timeout: int = 0,
            subscription: bytes = b"",
            assignment: bytes = b"",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    current_state_timestamp: int  # 2+
    members: list[GroupMetadataValue.MemberMetadata]

    def __init__(
        self,
        *,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: list[GroupMetadataValue.MemberMetadata] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class LegacyOffsetCommitKey(MessageObject):  # coordinator-key 0, versions 0
    group: str
    topic: str
    partition: int

    def __init__(
        self, *, group: str = "", topic: str = "", partition: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class LegacyOffsetCommitValue(MessageObject):  # coordinator-value 0, versions 0
    offset: int
    metadata: str
    commit_timestamp: int

    def __init__(
        self, *, offset: int = 0, metadata: str = "", commit_timestamp: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class OffsetCommitKey(MessageObject):  # coordinator-key 1, versions 0-1
    group: str
    topic: str
    partition: int

    def __init__(
        self, *, group: str = "", topic: str = "", partition: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class OffsetCommitValue(MessageObject):  # coordinator-value 1, versions 0-4
    offset: int
    leader_epoch: int  # 3+
    metadata: str
    commit_timestamp: int
    topic_id: Uuid  # 4+, tag 0
    expire_timestamp: int  # 1

    def __init__(
        self,
        *,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        topic_id: Uuid = ...,
        expire_timestamp: int = -1,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
