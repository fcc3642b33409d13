# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class ListPartitionReassignmentsRequest(MessageObject):  # request 46, versions 0
    class ListPartitionReassignmentsTopics(MessageObject):
        name: str = ""
        partition_indexes: tuple[int, ...] = ()

    timeout_ms: int = 60000
    topics: list[ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics] | None = None

class ListPartitionReassignmentsResponse(MessageObject):  # response 46, versions 0
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
