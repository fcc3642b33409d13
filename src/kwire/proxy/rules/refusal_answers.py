"""Answers to a client without permission, built from the schema like Kafka's `AbstractRequest.getErrorResponse`.

Each element of a request is returned with the error; the top-level error code is set too, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import kwire
from kwire import messages
from kwire.codec import Opaque
from kwire.protocol.relay import Held
from kwire.schema import Field, Message, catalog

__all__ = ["refused_answer"]

_THROTTLE_MS: Final = 1000
_TEXT: Final = "the proxy refuses this client"
_METADATA, _FIND_COORDINATOR, _INIT_PRODUCER_ID = 3, 10, 22
_TOPIC, _GROUP, _CLUSTER, _TRANSACTION, _TOKEN = 29, 30, 31, 53, 65
# The error of an api for a missing permission (`KafkaApis`); for others it is CLUSTER_AUTHORIZATION_FAILED.
_ERRORS: Final = {
    **dict.fromkeys((0, 1, 2, 3, 19, 20, 21, 23, 37, 61, 75), _TOPIC),
    **dict.fromkeys((8, 9, 10, 11, 12, 13, 14, 15, 16, 42, 47, 68, 69, 76, 77, 78, 79, 88, 89, 90, 91, 92, 93), _GROUP),
    **dict.fromkeys((24, 25, 26, 28, 65, 66), _TRANSACTION),
    **dict.fromkeys((38, 39, 40, 41), _TOKEN),
}
_CONFIGS: Final = (32, 33, 44)  # DescribeConfigs, AlterConfigs, IncrementalAlterConfigs
_RESOURCES: Final = {2: _TOPIC, 32: _GROUP}  # of configurations, by `ConfigResource.Type`
_TRANSACTION_KEY: Final = 1  # key type of FindCoordinator
_ERROR_CODES: Final = ("error_code", "partition_error_code")
# Numbers whose default in the schema, 0, would be a valid one.
_UNSET: Final = ("node_id", "port", "producer_id", "producer_epoch", "base_offset", "high_watermark", "committed_offset", "low_watermark")
_NAMES: Final = ("string", "uuid", "int8")  # types of what tells elements apart, beside the first field of each


def refused_answer(held: Held, frame: bytes, address: tuple[int, str, int]) -> bytes | None:
    """Return the answer; None if the request expects none or is unreadable, or if the answer has no field for the error.

    `address` is the only broker in Metadata, because clients ignore an answer without brokers, and send the request again.
    """
    asked = kwire.decode_request(frame, strict=False).body
    request, response = catalog().request(held.api_key), catalog().response(held.api_key)
    if isinstance(asked, Opaque):
        return None
    assert request is not None
    assert response is not None
    answer = _Answer(request, response, held.api_version, _error(held.api_key, asked))
    body = answer.struct(response.name, asked, request.fields)
    if held.api_key == _METADATA:
        node_id, host, port = address
        body.brokers = [messages.MetadataResponse.MetadataResponseBroker(node_id=node_id, host=host, port=port)]
        body.controller_id, body.error_code = node_id, 0  # topics have it; an error of the whole makes clients ask again
    elif not answer.has_error:
        return None
    return kwire.encode_response(held.correlation_id, body, held.api_key, held.api_version) if held.wants_answer else None


def _error(api_key: int, asked: Any) -> int:
    if api_key == _FIND_COORDINATOR:
        return _TRANSACTION if getattr(asked, "key_type", 0) == _TRANSACTION_KEY else _GROUP
    if api_key == _INIT_PRODUCER_ID and asked.transactional_id is not None:
        return _TRANSACTION
    return _ERRORS.get(api_key, _CLUSTER)


class _Answer:
    def __init__(self, request: Message, response: Message, version: int, error: int) -> None:
        self._request, self._response, self._version, self._error = request, response, version, error
        self._classes = {each.__name__: each for each in getattr(messages, response.name).classes}
        self._resources = _RESOURCES if request.api_key in _CONFIGS else {}
        self.has_error = False

    def struct(self, name: str, asked: Any, asked_fields: tuple[Field, ...]) -> Any:
        made = self._classes[name]()
        arrays = [each for each in self._present(asked_fields) if each.is_array]
        for field in self._present(self._response.structs[name].fields):
            if field.attribute in _ERROR_CODES:
                setattr(made, field.attribute, self._resources.get(getattr(asked, "resource_type", 0), self._error))
                self.has_error = True
            elif field.attribute == "throttle_time_ms":
                made.throttle_time_ms = _THROTTLE_MS
            elif field.attribute == "error_message":
                made.error_message = _TEXT
            elif field.attribute in _UNSET:
                setattr(made, field.attribute, -1)
            elif field.type == "records":
                setattr(made, field.attribute, b"")
            elif field.is_array and field.is_struct and arrays and self._has_place(field):
                setattr(made, field.attribute, self._elements(field, arrays[0], getattr(asked, arrays[0].attribute) or ()))
        return made

    def _elements(self, field: Field, asked: Field, elements: Iterable[Any]) -> list[Any]:
        """Return elements for the elements of the request's array; empty if the two arrays have different keys."""
        asked_fields = self._request.structs[asked.element_type].fields if asked.is_struct else ()
        present = [each for each in self._present(asked_fields) if not each.is_array] or [asked]
        keys = [
            each for each in self._present(self._response.structs[field.element_type].fields) if not each.attribute.startswith("error_")
        ]
        keys = [each for each in keys if not each.is_array]
        first = next((each for each in present if keys and each.attribute == keys[0].attribute), present[0])
        if keys and (keys[0].type, keys[0].entity_type) != (first.element_type, first.entity_type):
            return []
        found = []
        for each in elements:
            made = self.struct(field.element_type, each, asked_fields)
            if keys:
                setattr(made, keys[0].attribute, getattr(each, first.attribute) if asked.is_struct else each)
            for key in keys[1:]:
                if key.type in _NAMES and hasattr(each, key.attribute):
                    setattr(made, key.attribute, getattr(each, key.attribute))
            found.append(made)
        return found

    def _has_place(self, field: Field) -> bool:
        """Find whether elements of an array have an error code, themselves or inside."""
        fields = self._present(self._response.structs[field.element_type].fields)
        return any(each.attribute in _ERROR_CODES or (each.is_struct and self._has_place(each)) for each in fields)

    def _present(self, fields: Iterable[Field]) -> list[Field]:
        return [each for each in fields if self._version in each.versions]
