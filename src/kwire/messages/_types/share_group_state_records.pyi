# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class ShareSnapshotKey(MessageObject):  # coordinator-key 0, versions 0
    group_id: str = ""
    topic_id: Uuid = ...
    partition: int = 0

class ShareSnapshotValue(MessageObject):  # coordinator-value 0, versions 0
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
    group_id: str = ""
    topic_id: Uuid = ...
    partition: int = 0

class ShareUpdateValue(MessageObject):  # coordinator-value 1, versions 0
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
