# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class ProduceRequest(MessageObject):  # request 0, versions 0-13
    class TopicProduceData(MessageObject):
        topic_id: Uuid  # 13+
        name: str  # 0-12
        partition_data: list[ProduceRequest.PartitionProduceData]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            name: str = "",
            partition_data: list[ProduceRequest.PartitionProduceData] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionProduceData(MessageObject):
        index: int
        records: bytes | None

        def __init__(
            self, *, index: int = 0, records: bytes | None = None, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    transactional_id: str | None  # 3+
    acks: int
    timeout_ms: int
    topic_data: list[ProduceRequest.TopicProduceData]

    def __init__(
        self,
        *,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: list[ProduceRequest.TopicProduceData] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ProduceResponse(MessageObject):  # response 0, versions 0-13
    class TopicProduceResponse(MessageObject):
        topic_id: Uuid  # 13+
        name: str  # 0-12
        partition_responses: list[ProduceResponse.PartitionProduceResponse]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            name: str = "",
            partition_responses: list[ProduceResponse.PartitionProduceResponse] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class PartitionProduceResponse(MessageObject):
        index: int
        error_code: int
        base_offset: int
        log_append_time_ms: int  # 2+
        log_start_offset: int  # 5+
        record_errors: list[ProduceResponse.BatchIndexAndErrorMessage]  # 8+
        error_message: str | None  # 8+
        current_leader: ProduceResponse.LeaderIdAndEpoch  # 10+, tag 0

        def __init__(
            self,
            *,
            index: int = 0,
            error_code: int = 0,
            base_offset: int = 0,
            log_append_time_ms: int = -1,
            log_start_offset: int = -1,
            record_errors: list[ProduceResponse.BatchIndexAndErrorMessage] = ...,
            error_message: str | None = None,
            current_leader: ProduceResponse.LeaderIdAndEpoch = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class BatchIndexAndErrorMessage(MessageObject):
        batch_index: int  # 8+
        batch_index_error_message: str | None  # 8+

        def __init__(
            self,
            *,
            batch_index: int = 0,
            batch_index_error_message: str | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class LeaderIdAndEpoch(MessageObject):
        leader_id: int  # 10+
        leader_epoch: int  # 10+

        def __init__(
            self, *, leader_id: int = -1, leader_epoch: int = -1, unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    class NodeEndpoint(MessageObject):
        node_id: int  # 10+
        host: str  # 10+
        port: int  # 10+
        rack: str | None  # 10+

        def __init__(
            self,
            *,
            node_id: int = 0,
            host: str = "",
            port: int = 0,
            rack: str | None = None,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    responses: list[ProduceResponse.TopicProduceResponse]
    throttle_time_ms: int  # 1+
    node_endpoints: list[ProduceResponse.NodeEndpoint]  # 10+, tag 0

    def __init__(
        self,
        *,
        responses: list[ProduceResponse.TopicProduceResponse] = ...,
        throttle_time_ms: int = 0,
        node_endpoints: list[ProduceResponse.NodeEndpoint] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
