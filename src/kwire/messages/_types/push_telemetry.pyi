# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class PushTelemetryRequest(MessageObject):  # request 72, versions 0
    api_key: ClassVar[Literal[ApiKey.PUSH_TELEMETRY]]
    valid_versions: ClassVar[Versions]
    client_instance_id: Uuid = ...
    subscription_id: int = 0
    terminating: bool = False
    compression_type: int = 0
    metrics: bytes = b""

class PushTelemetryResponse(MessageObject):  # response 72, versions 0
    api_key: ClassVar[Literal[ApiKey.PUSH_TELEMETRY]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
