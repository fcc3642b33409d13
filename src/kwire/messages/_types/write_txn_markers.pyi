# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class WriteTxnMarkersRequest(MessageObject):  # request 27, versions 0-2
    api_key: ClassVar[Literal[ApiKey.WRITE_TXN_MARKERS]]
    valid_versions: ClassVar[Versions]
    class WritableTxnMarker(MessageObject):
        producer_id: int = 0
        producer_epoch: int = 0
        transaction_result: bool = False
        topics: list[WriteTxnMarkersRequest.WritableTxnMarkerTopic] = ...
        coordinator_epoch: int = 0
        transaction_version: int = 0  # 2+

    class WritableTxnMarkerTopic(MessageObject):
        name: str = ""
        partition_indexes: tuple[int, ...] = ()

    markers: list[WriteTxnMarkersRequest.WritableTxnMarker] = ...

class WriteTxnMarkersResponse(MessageObject):  # response 27, versions 0-2
    api_key: ClassVar[Literal[ApiKey.WRITE_TXN_MARKERS]]
    valid_versions: ClassVar[Versions]
    class WritableTxnMarkerResult(MessageObject):
        producer_id: int = 0
        topics: list[WriteTxnMarkersResponse.WritableTxnMarkerTopicResult] = ...

    class WritableTxnMarkerTopicResult(MessageObject):
        name: str = ""
        partitions: list[WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult] = ...

    class WritableTxnMarkerPartitionResult(MessageObject):
        partition_index: int = 0
        error_code: int = 0

    markers: list[WriteTxnMarkersResponse.WritableTxnMarkerResult] = ...
