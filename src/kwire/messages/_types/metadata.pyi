# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class MetadataRequest(MessageObject):  # request 3, versions 0-13
    api_key: ClassVar[Literal[ApiKey.METADATA]]
    valid_versions: ClassVar[Versions]
    class MetadataRequestTopic(MessageObject):
        topic_id: Uuid = ...  # 10+
        name: str | None = ""  # null in 10+

    topics: list[MetadataRequest.MetadataRequestTopic] | None = ...  # null in 1+
    allow_auto_topic_creation: bool = True  # 4+
    include_cluster_authorized_operations: bool = False  # 8-10
    include_topic_authorized_operations: bool = False  # 8+

class MetadataResponse(MessageObject):  # response 3, versions 0-13
    api_key: ClassVar[Literal[ApiKey.METADATA]]
    valid_versions: ClassVar[Versions]
    class MetadataResponseBroker(MessageObject):
        node_id: int = 0
        host: str = ""
        port: int = 0
        rack: str | None = None  # 1+

    class MetadataResponseTopic(MessageObject):
        error_code: int = 0
        name: str | None = ""  # null in 12+
        topic_id: Uuid = ...  # 10+
        is_internal: bool = False  # 1+
        partitions: list[MetadataResponse.MetadataResponsePartition] = ...
        topic_authorized_operations: int = -2147483648  # 8+

    class MetadataResponsePartition(MessageObject):
        error_code: int = 0
        partition_index: int = 0
        leader_id: int = 0
        leader_epoch: int = -1  # 7+
        replica_nodes: tuple[int, ...] = ()
        isr_nodes: tuple[int, ...] = ()
        offline_replicas: tuple[int, ...] = ()  # 5+

    throttle_time_ms: int = 0  # 3+
    brokers: list[MetadataResponse.MetadataResponseBroker] = ...
    cluster_id: str | None = None  # 2+
    controller_id: int = -1  # 1+
    topics: list[MetadataResponse.MetadataResponseTopic] = ...
    error_code: int = 0  # 13+
    cluster_authorized_operations: int = -2147483648  # 8-10
