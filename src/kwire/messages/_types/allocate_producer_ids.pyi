# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AllocateProducerIdsRequest(MessageObject):  # request 67, versions 0
    api_key: ClassVar[Literal[ApiKey.ALLOCATE_PRODUCER_IDS]]
    valid_versions: ClassVar[Versions]
    broker_id: int = 0
    broker_epoch: int = -1

class AllocateProducerIdsResponse(MessageObject):  # response 67, versions 0
    api_key: ClassVar[Literal[ApiKey.ALLOCATE_PRODUCER_IDS]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id_start: int = 0
    producer_id_len: int = 0
