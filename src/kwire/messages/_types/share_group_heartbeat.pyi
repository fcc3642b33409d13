# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ShareGroupHeartbeatRequest(MessageObject):  # request 76, versions 0-1
    api_key: ClassVar[Literal[ApiKey.SHARE_GROUP_HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    rack_id: str | None = None
    subscribed_topic_names: tuple[str, ...] | None = None

class ShareGroupHeartbeatResponse(MessageObject):  # response 76, versions 0-1
    api_key: ClassVar[Literal[ApiKey.SHARE_GROUP_HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    class Assignment(MessageObject):
        topic_partitions: list[ShareGroupHeartbeatResponse.TopicPartitions] = ...

    class TopicPartitions(MessageObject):
        topic_id: Uuid = ...
        partitions: tuple[int, ...] = ()

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: ShareGroupHeartbeatResponse.Assignment | None = None
