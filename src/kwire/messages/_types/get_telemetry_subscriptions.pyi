# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class GetTelemetrySubscriptionsRequest(MessageObject):  # request 71, versions 0
    client_instance_id: Uuid

    def __init__(self, *, client_instance_id: Uuid = ..., unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()) -> None: ...

class GetTelemetrySubscriptionsResponse(MessageObject):  # response 71, versions 0
    throttle_time_ms: int
    error_code: int
    client_instance_id: Uuid
    subscription_id: int
    accepted_compression_types: tuple[int, ...]
    push_interval_ms: int
    telemetry_max_bytes: int
    delta_temporality: bool
    requested_metrics: tuple[str, ...]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: Uuid = ...,
        subscription_id: int = 0,
        accepted_compression_types: list[int] | tuple[int, ...] = (),
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: list[str] | tuple[str, ...] = (),
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
