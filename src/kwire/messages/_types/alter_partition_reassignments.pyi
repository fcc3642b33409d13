# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AlterPartitionReassignmentsRequest(MessageObject):  # request 45, versions 0-1
    api_key: ClassVar[Literal[ApiKey.ALTER_PARTITION_REASSIGNMENTS]]
    valid_versions: ClassVar[Versions]
    class ReassignableTopic(MessageObject):
        name: str = ""
        partitions: list[AlterPartitionReassignmentsRequest.ReassignablePartition] = ...

    class ReassignablePartition(MessageObject):
        partition_index: int = 0
        replicas: tuple[int, ...] | None = None

    timeout_ms: int = 60000
    allow_replication_factor_change: bool = True  # 1+
    topics: list[AlterPartitionReassignmentsRequest.ReassignableTopic] = ...

class AlterPartitionReassignmentsResponse(MessageObject):  # response 45, versions 0-1
    api_key: ClassVar[Literal[ApiKey.ALTER_PARTITION_REASSIGNMENTS]]
    valid_versions: ClassVar[Versions]
    class ReassignableTopicResponse(MessageObject):
        name: str = ""
        partitions: list[AlterPartitionReassignmentsResponse.ReassignablePartitionResponse] = ...

    class ReassignablePartitionResponse(MessageObject):
        partition_index: int = 0
        error_code: int = 0
        error_message: str | None = ""

    throttle_time_ms: int = 0
    allow_replication_factor_change: bool = True  # 1+
    error_code: int = 0
    error_message: str | None = ""
    responses: list[AlterPartitionReassignmentsResponse.ReassignableTopicResponse] = ...
