# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class GetTelemetrySubscriptionsRequest(MessageObject):  # request 71, versions 0
    api_key: ClassVar[Literal[ApiKey.GET_TELEMETRY_SUBSCRIPTIONS]]
    valid_versions: ClassVar[Versions]
    client_instance_id: Uuid = ...

class GetTelemetrySubscriptionsResponse(MessageObject):  # response 71, versions 0
    api_key: ClassVar[Literal[ApiKey.GET_TELEMETRY_SUBSCRIPTIONS]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
    client_instance_id: Uuid = ...
    subscription_id: int = 0
    accepted_compression_types: tuple[int, ...] = ()
    push_interval_ms: int = 0
    telemetry_max_bytes: int = 0
    delta_temporality: bool = False
    requested_metrics: tuple[str, ...] = ()
