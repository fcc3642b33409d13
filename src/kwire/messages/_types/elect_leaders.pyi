# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ElectLeadersRequest(MessageObject):  # request 43, versions 0-2
    api_key: ClassVar[Literal[ApiKey.ELECT_LEADERS]]
    valid_versions: ClassVar[Versions]
    class TopicPartitions(MessageObject):
        topic: str = ""
        partitions: tuple[int, ...] = ()
        partition_id: tuple[int, ...] = ()  # partitions after Kafka 2.8

    election_type: int = 0  # 1+
    topic_partitions: list[ElectLeadersRequest.TopicPartitions] | None = ...
    timeout_ms: int = 60000

class ElectLeadersResponse(MessageObject):  # response 43, versions 0-2
    api_key: ClassVar[Literal[ApiKey.ELECT_LEADERS]]
    valid_versions: ClassVar[Versions]
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
