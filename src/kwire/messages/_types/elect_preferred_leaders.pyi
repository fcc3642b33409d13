# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class ElectPreferredLeadersRequest(MessageObject):  # request 43, versions 0
    class TopicPartitions(MessageObject):
        topic: str
        partition_id: tuple[int, ...]

        def __init__(
            self,
            *,
            topic: str = "",
            partition_id: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    topic_partitions: list[ElectPreferredLeadersRequest.TopicPartitions] | None
    timeout_ms: int

    def __init__(
        self,
        *,
        topic_partitions: list[ElectPreferredLeadersRequest.TopicPartitions] | None = ...,
        timeout_ms: int = 60000,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ElectPreferredLeadersResponse(MessageObject):  # response 43, versions 0
    class ReplicaElectionResult(MessageObject):
        topic: str
        partition_result: list[ElectPreferredLeadersResponse.PartitionResult]

        def __init__(
            self,
            *,
            topic: str = "",
            partition_result: list[ElectPreferredLeadersResponse.PartitionResult] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionResult(MessageObject):
        partition_id: int
        error_code: int
        error_message: str | None

        def __init__(
            self,
            *,
            partition_id: int = 0,
            error_code: int = 0,
            error_message: str | None = "",
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    replica_election_results: list[ElectPreferredLeadersResponse.ReplicaElectionResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        replica_election_results: list[ElectPreferredLeadersResponse.ReplicaElectionResult] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
