"""The broker's side of KIP-714's draft: every answer has the time of the next push and the metrics for it."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from kwire.codec.catalog_codec import Codec
from kwire.codec.records.compression import unpack
from kwire.codec.uuids import Uuid
from kwire.drafts.content_types import ACCEPTED_CONTENT_TYPES, UnsupportedEncoding, parse_content_type
from kwire.errors import KwireError
from kwire.protocol.telemetry.instance_cache import INSTANCE_LIMIT
from kwire.protocol.telemetry.metric_points import MAX_METRICS
from kwire.protocol.telemetry.receivers import MetricsPayload, MetricsReceiver, PushContext
from kwire.schema import dialect

__all__ = ["DraftTelemetryBroker"]

# The draft names its errors without numbers: these are the released form's.
_FUNCTIONALITY_NOT_ENABLED: Final = 35
_UNSUPPORTED_FORMAT: Final = 76
_INVALID_RECORD: Final = 87
_RATE_LIMITED: Final = 89

_MS: Final = 1_000_000
_IDLE_MS: Final = 300_000


class DraftTelemetryBroker:
    """Telemetry of one broker.

    Arguments:
        configs: intervals in milliseconds by prefix of instance ids, then by metric prefix.
        receivers: receivers of metrics; if empty, the feature is disabled.
        random: source of new ids and of the first interval.
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
        self._due: OrderedDict[str, tuple[int, int]] = OrderedDict()  # times of the next push and of forgetting, by id

    def answer(self, body: Any, context: PushContext, t: int) -> Any:
        """Return the response to a PushTelemetryRequest; `t` is now, in nanoseconds."""
        response = self.codec.messages.PushTelemetryResponse
        if not self.receivers:
            return response(error_code=_FUNCTIONALITY_NOT_ENABLED)
        sent = body.client_instance_id
        instance_id = sent or f"{context.client_id}-{uuid.UUID(int=self._random.getrandbits(128), version=4)}"
        due, forgotten = self._due.get(instance_id, (0, 0))
        known = t < forgotten
        if known and t < due and not body.terminating:
            return response(error_code=_RATE_LIMITED, next_push_ms=-(-(due - t) // _MS))
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
            accepted_content_types=self.accepted if not body.content_type or code == _UNSUPPORTED_FORMAT else (),
            next_push_ms=next_ms,
            requested_metrics=sorted(wanted),
        )

    def _take(self, body: Any, instance_id: str, context: PushContext) -> int:
        if not body.content_type:
            return 0
        try:
            kind = parse_content_type(body.content_type)
            if str(kind) not in self.accepted:
                return _UNSUPPORTED_FORMAT
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
            return _UNSUPPORTED_FORMAT
        except (KwireError, OSError, ValueError):
            return _INVALID_RECORD
        return 0
