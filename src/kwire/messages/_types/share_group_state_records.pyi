# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class ShareSnapshotKey(MessageObject):  # coordinator-key 0, versions 0
    group_id: str
    topic_id: Uuid
    partition: int

    def __init__(
        self, *, group_id: str = "", topic_id: Uuid = ..., partition: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class ShareSnapshotValue(MessageObject):  # coordinator-value 0, versions 0
    class StateBatch(MessageObject):
        first_offset: int
        last_offset: int
        delivery_state: int
        delivery_count: int

        def __init__(
            self,
            *,
            first_offset: int = 0,
            last_offset: int = 0,
            delivery_state: int = 0,
            delivery_count: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int  # tag 0
    create_timestamp: int
    write_timestamp: int
    state_batches: list[ShareSnapshotValue.StateBatch]

    def __init__(
        self,
        *,
        snapshot_epoch: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        create_timestamp: int = 0,
        write_timestamp: int = 0,
        state_batches: list[ShareSnapshotValue.StateBatch] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ShareUpdateKey(MessageObject):  # coordinator-key 1, versions 0-1
    group_id: str
    topic_id: Uuid
    partition: int

    def __init__(
        self, *, group_id: str = "", topic_id: Uuid = ..., partition: int = 0, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
    ) -> None: ...

class ShareUpdateValue(MessageObject):  # coordinator-value 1, versions 0
    class StateBatch(MessageObject):
        first_offset: int
        last_offset: int
        delivery_state: int
        delivery_count: int

        def __init__(
            self,
            *,
            first_offset: int = 0,
            last_offset: int = 0,
            delivery_state: int = 0,
            delivery_count: int = 0,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    snapshot_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int  # tag 0
    state_batches: list[ShareUpdateValue.StateBatch]

    def __init__(
        self,
        *,
        snapshot_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: list[ShareUpdateValue.StateBatch] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
