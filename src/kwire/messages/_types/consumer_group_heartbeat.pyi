# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ConsumerGroupHeartbeatRequest(MessageObject):  # request 68, versions 0-1
    api_key: ClassVar[Literal[ApiKey.CONSUMER_GROUP_HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    class TopicPartitions(MessageObject):
        topic_id: Uuid = ...
        partitions: tuple[int, ...] = ()

    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: tuple[str, ...] | None = None
    subscribed_topic_regex: str | None = None  # 1+
    server_assignor: str | None = None
    topic_partitions: list[ConsumerGroupHeartbeatRequest.TopicPartitions] | None = None

class ConsumerGroupHeartbeatResponse(MessageObject):  # response 68, versions 0-1
    api_key: ClassVar[Literal[ApiKey.CONSUMER_GROUP_HEARTBEAT]]
    valid_versions: ClassVar[Versions]
    class Assignment(MessageObject):
        topic_partitions: list[ConsumerGroupHeartbeatResponse.TopicPartitions] = ...

    class TopicPartitions(MessageObject):
        topic_id: Uuid = ...
        partitions: tuple[int, ...] = ()

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: ConsumerGroupHeartbeatResponse.Assignment | None = None
