# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class GroupMetadataKey(MessageObject):  # coordinator-key 2, versions 0-2
    api_key: ClassVar[Literal[ApiKey.LIST_OFFSETS]]
    valid_versions: ClassVar[Versions]
    group: str = ""

class GroupMetadataValue(MessageObject):  # coordinator-value 2, versions 0-4
    api_key: ClassVar[Literal[ApiKey.LIST_OFFSETS]]
    valid_versions: ClassVar[Versions]
    class MemberMetadata(MessageObject):
        member_id: str = ""
        group_instance_id: str | None = None  # 3+
        client_id: str = ""
        client_host: str = ""
        rebalance_timeout: int = -1  # 1+
        session_timeout: int = 0
        subscription: bytes = b""
        assignment: bytes = b""

    protocol_type: str = ""
    generation: int = 0
    protocol: str | None = ""
    leader: str | None = ""
    current_state_timestamp: int = -1  # 2+
    members: list[GroupMetadataValue.MemberMetadata] = ...

class LegacyOffsetCommitKey(MessageObject):  # coordinator-key 0, versions 0
    api_key: ClassVar[Literal[ApiKey.PRODUCE]]
    valid_versions: ClassVar[Versions]
    group: str = ""
    topic: str = ""
    partition: int = 0

class LegacyOffsetCommitValue(MessageObject):  # coordinator-value 0, versions 0
    api_key: ClassVar[Literal[ApiKey.PRODUCE]]
    valid_versions: ClassVar[Versions]
    offset: int = 0
    metadata: str = ""
    commit_timestamp: int = 0

class OffsetCommitKey(MessageObject):  # coordinator-key 1, versions 0-1
    api_key: ClassVar[Literal[ApiKey.FETCH]]
    valid_versions: ClassVar[Versions]
    group: str = ""
    topic: str = ""
    partition: int = 0

class OffsetCommitValue(MessageObject):  # coordinator-value 1, versions 0-4
    api_key: ClassVar[Literal[ApiKey.FETCH]]
    valid_versions: ClassVar[Versions]
    offset: int = 0
    leader_epoch: int = -1  # 3+
    metadata: str = ""
    commit_timestamp: int = 0
    topic_id: Uuid = ...  # 4+, tag 0
    expire_timestamp: int = -1  # 1
