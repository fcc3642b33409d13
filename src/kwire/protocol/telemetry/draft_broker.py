"""The broker's side of KIP-714's draft: every answer says when the next push is due and what it should have."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from kwire.codec.catalog_codec import Codec
from kwire.codec.records.compression import unpack
from kwire.codec.uuids import Uuid
from kwire.errors import KwireError
from kwire.protocol.telemetry.content_types import ACCEPTED_CONTENT_TYPES, UnsupportedEncoding, parse_content_type
from kwire.protocol.telemetry.instance_cache import INSTANCE_LIMIT
from kwire.protocol.telemetry.metric_points import MAX_METRICS
from kwire.protocol.telemetry.receivers import MetricsPayload, MetricsReceiver, PushContext
from kwire.schema import dialect

__all__ = ["FUNCTIONALITY_NOT_ENABLED", "INVALID_RECORD", "RATE_LIMITED", "UNSUPPORTED_FORMAT", "DraftTelemetryBroker"]

# The draft names its errors and gives no numbers: these are the codes that the released form uses for the same.
FUNCTIONALITY_NOT_ENABLED: Final = 35
UNSUPPORTED_FORMAT: Final = 76
INVALID_RECORD: Final = 87
RATE_LIMITED: Final = 89

_MS: Final = 1_000_000
_IDLE_MS: Final = 300_000


class DraftTelemetryBroker:
    """The draft's telemetry of one broker.

    Arguments:
        configs: resource name, a prefix of instance ids, to metric prefix to interval in milliseconds.
        receivers: get what is pushed; without any the function is not enabled.
        random: of new ids and of the first interval.
        accepted: content types that the receivers read.
    """

    def __init__(
        self,
        configs: Mapping[str, Mapping[str, int]],
        receivers: Sequence[MetricsReceiver] = (),
        *,
        random: Random | None = None,
        accepted: Sequence[str] = ACCEPTED_CONTENT_TYPES,
    ) -> None:
        self.codec = Codec(dialect("kip-714-draft"))
        self.configs = configs
        self.receivers = tuple(receivers)
        self.accepted = tuple(accepted)
        self._random = random or Random()
        self._due: OrderedDict[str, tuple[int, int]] = OrderedDict()  # id to when it may push, and when it is forgotten

    def answer(self, body: Any, context: PushContext, t: int) -> Any:
        """The response to a PushTelemetryRequest.

        Arguments:
            body: the request.
            context: the connection.
            t: now, nanoseconds.
        """
        response = self.codec.messages.PushTelemetryResponse
        if not self.receivers:
            return response(error_code=FUNCTIONALITY_NOT_ENABLED)
        sent = body.client_instance_id
        instance_id = sent or f"{context.client_id}-{uuid.UUID(int=self._random.getrandbits(128), version=4)}"
        due, forgotten = self._due.get(instance_id, (0, 0))
        known = t < forgotten
        if known and t < due and not body.terminating:
            return response(error_code=RATE_LIMITED, next_push_ms=-(-(due - t) // _MS))
        code = self._take(body, instance_id, context)
        wanted = {
            prefix: interval
            for name, entries in self.configs.items()
            if instance_id.startswith(name)
            for prefix, interval in entries.items()
        }
        lowest = min(wanted.values(), default=_IDLE_MS)
        # Many clients that start together must not push together.
        next_ms = lowest if known or not wanted else self._random.randrange(lowest + 1)
        self._due[instance_id] = t + next_ms * _MS, t + max(60_000, 3 * lowest) * _MS
        self._due.move_to_end(instance_id)
        while len(self._due) > INSTANCE_LIMIT:
            self._due.popitem(last=False)
        return response(
            error_code=code,
            client_instance_id=instance_id if sent is None else None,
            accepted_content_types=self.accepted if not body.content_type or code == UNSUPPORTED_FORMAT else (),
            next_push_ms=next_ms,
            requested_metrics=sorted(wanted),
        )

    def _take(self, body: Any, instance_id: str, context: PushContext) -> int:
        if not body.content_type:
            return 0
        try:
            kind = parse_content_type(body.content_type)
            if str(kind) not in self.accepted:
                return UNSUPPORTED_FORMAT
            data = bytes(body.metrics)
            if not data:
                return 0
            if kind.compression_type:
                data = bytes(unpack(kind.compression_type, 2, data, MAX_METRICS, 0, "metrics"))
            payload = MetricsPayload(
                instance_id=Uuid.parse(instance_id[-36:]),
                data=data,
                labels={"client_instance_id": instance_id},
                terminating=body.terminating,
                content_type=body.content_type,
            )
            for receiver in self.receivers:
                receiver.export(context, payload)
        except UnsupportedEncoding:
            return UNSUPPORTED_FORMAT
        except (KwireError, OSError, ValueError):
            return INVALID_RECORD
        return 0
