# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AddOffsetsToTxnRequest(MessageObject):  # request 25, versions 0-4
    api_key: ClassVar[Literal[ApiKey.ADD_OFFSETS_TO_TXN]]
    valid_versions: ClassVar[Versions]
    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    group_id: str = ""

class AddOffsetsToTxnResponse(MessageObject):  # response 25, versions 0-4
    api_key: ClassVar[Literal[ApiKey.ADD_OFFSETS_TO_TXN]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
