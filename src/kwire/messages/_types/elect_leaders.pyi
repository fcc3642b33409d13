# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class ElectLeadersRequest(MessageObject):  # request 43, versions 0-2
    class TopicPartitions(MessageObject):
        topic: str = ""
        partitions: tuple[int, ...] = ()

    election_type: int = 0  # 1+
    topic_partitions: list[ElectLeadersRequest.TopicPartitions] | None = ...
    timeout_ms: int = 60000

class ElectLeadersResponse(MessageObject):  # response 43, versions 0-2
    class ReplicaElectionResult(MessageObject):
        topic: str = ""
        partition_result: list[ElectLeadersResponse.PartitionResult] = ...

    class PartitionResult(MessageObject):
        partition_id: int = 0
        error_code: int = 0
        error_message: str | None = ""

    throttle_time_ms: int = 0
    error_code: int = 0  # 1+
    replica_election_results: list[ElectLeadersResponse.ReplicaElectionResult] = ...
