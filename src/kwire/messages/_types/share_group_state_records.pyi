# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ShareSnapshotKey(MessageObject):  # coordinator-key 0, versions 0
    api_key: ClassVar[Literal[ApiKey.PRODUCE]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    topic_id: Uuid = ...
    partition: int = 0

class ShareSnapshotValue(MessageObject):  # coordinator-value 0, versions 0
    api_key: ClassVar[Literal[ApiKey.PRODUCE]]
    valid_versions: ClassVar[Versions]
    class StateBatch(MessageObject):
        first_offset: int = 0
        last_offset: int = 0
        delivery_state: int = 0
        delivery_count: int = 0

    snapshot_epoch: int = 0
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = 0
    delivery_complete_count: int = -1  # tag 0
    create_timestamp: int = 0
    write_timestamp: int = 0
    state_batches: list[ShareSnapshotValue.StateBatch] = ...

class ShareUpdateKey(MessageObject):  # coordinator-key 1, versions 0-1
    api_key: ClassVar[Literal[ApiKey.FETCH]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    topic_id: Uuid = ...
    partition: int = 0

class ShareUpdateValue(MessageObject):  # coordinator-value 1, versions 0
    api_key: ClassVar[Literal[ApiKey.FETCH]]
    valid_versions: ClassVar[Versions]
    class StateBatch(MessageObject):
        first_offset: int = 0
        last_offset: int = 0
        delivery_state: int = 0
        delivery_count: int = 0

    snapshot_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = 0
    delivery_complete_count: int = -1  # tag 0
    state_batches: list[ShareUpdateValue.StateBatch] = ...
