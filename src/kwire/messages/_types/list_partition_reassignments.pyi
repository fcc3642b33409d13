# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ListPartitionReassignmentsRequest(MessageObject):  # request 46, versions 0
    api_key: ClassVar[Literal[ApiKey.LIST_PARTITION_REASSIGNMENTS]]
    valid_versions: ClassVar[Versions]
    class ListPartitionReassignmentsTopics(MessageObject):
        name: str = ""
        partition_indexes: tuple[int, ...] = ()

    timeout_ms: int = 60000
    topics: list[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] | None = None

class ListPartitionReassignmentsResponse(MessageObject):  # response 46, versions 0
    api_key: ClassVar[Literal[ApiKey.LIST_PARTITION_REASSIGNMENTS]]
    valid_versions: ClassVar[Versions]
    class OngoingTopicReassignment(MessageObject):
        name: str = ""
        partitions: list[ListPartitionReassignmentsResponse.OngoingPartitionReassignment] = ...

    class OngoingPartitionReassignment(MessageObject):
        partition_index: int = 0
        replicas: tuple[int, ...] = ()
        adding_replicas: tuple[int, ...] = ()
        removing_replicas: tuple[int, ...] = ()

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    topics: list[ListPartitionReassignmentsResponse.OngoingTopicReassignment] = ...
