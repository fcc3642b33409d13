"""Codec of a catalog other than the built-in one: a folder or jar of message definitions, or dialects.

Classes, plans and readers are made once per message and version and kept with the `Codec`, so reuse it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.decoding import DecodeMessage, DecodeRequest, DecodeResponse, FrameReader, message_reader
from kwire.codec.encoding import EncodeMessage, EncodeRequest, EncodeResponse, FrameWriter
from kwire.codec.header_scan import HeaderScan
from kwire.codec.impl import Twin, backend
from kwire.codec.json_form import to_json
from kwire.codec.json_reading import from_json
from kwire.codec.prefix import PrefixReader
from kwire.codec.splicing import FrameSplicer
from kwire.errors import KwireError
from kwire.schema import Catalog, catalog, header_version
from kwire.schema.overlays import OverlaidCatalog, Overlay

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Buffer

    from kwire.codec.columns import Columns
    from kwire.codec.header_scan import HeaderColumns
    from kwire.errors import WireError

__all__ = ["Codec", "Messages"]

_HEADERS: Final = ("RequestHeader", "ResponseHeader")


class PeekHeader(Protocol):
    """Return the `RequestHeader` of a request frame; arguments and errors as in `DecodeRequest`."""

    def __call__(self, frame: Buffer, *, strict: bool = True) -> Any: ...


class Messages:
    """Message classes of a catalog as attributes: ``codec.messages.MetadataResponse``."""

    def __init__(self, source: CompiledCatalog) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._source.catalog:
            raise AttributeError(f"{self._source.catalog.name} has no message {name!r}")
        found = self.__dict__[name] = self._source.classes(name)[0]
        return found

    def __dir__(self) -> list[str]:
        return sorted(self._source.catalog)


def _with_headers(source: Catalog) -> Catalog:
    """Return the catalog with request and response headers added if missing."""
    missing = {name: catalog()[name] for name in _HEADERS if name not in source}
    # The jars of 2.2 and 2.3 have one request header, with the client id, as version 0; ControlledShutdown v0 has none, all others have it.
    renumbered = {name: catalog()[name] for name in _HEADERS[:1] if name in source and source[name].valid_versions.highest == 0}
    return OverlaidCatalog(source, Overlay(source.name, replaces=renumbered, adds=missing)) if missing or renumbered else source


class Codec:
    """Functions of the codec for one catalog, under their names in `kwire`.

    Messages with the same attributes and defaults as in the built-in catalog share its classes, so a codec of a dialect also writes objects
    of `kwire.messages`; other messages have their own classes. Message objects and codecs can be pickled.

    Arguments:
        source: the catalog. One without `RequestHeader` and `ResponseHeader`, such as a folder with a few messages, gets the built-in ones.
        twin: which backend executes.

    Attributes:
        catalog: the catalog.
        messages: its message classes.
    """

    def __init__(self, source: Catalog, twin: Twin = backend) -> None:
        self.catalog = source
        built_in = source is catalog() and twin == backend
        self.compiled = compiled() if built_in else CompiledCatalog(_with_headers(source), twin)
        self.messages = Messages(self.compiled)

    def __repr__(self) -> str:
        return f"Codec({self.catalog.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Codec, (self.catalog,)  # the twin is that of the process which reads it

    def message_class(self, name: str) -> Any:
        """Return the class of a message; classes of nested structs are its attributes.

        Raises:
            KwireError: the catalog has no such message.
        """
        return self.compiled.classes(name)[0]

    def header_version(self, kind: str, api_key: int, api_version: int) -> int:
        """Call `kwire.schema.header_version`."""
        return header_version(kind, api_key, api_version, self.catalog)

    @cached_property
    def decode(self) -> DecodeMessage:
        """`kwire.decode` of this catalog."""
        return message_reader(self.compiled)

    @cached_property
    def _frames(self) -> FrameReader:
        return FrameReader(self.compiled)

    @cached_property
    def decode_request(self) -> DecodeRequest:
        """`kwire.decode_request` of this catalog."""
        return self._frames.decode_request

    @cached_property
    def decode_response(self) -> DecodeResponse:
        """`kwire.decode_response` of this catalog."""
        return self._frames.decode_response

    @cached_property
    def peek_header(self) -> PeekHeader:
        """`kwire.peek_header` of this catalog."""
        peek: PeekHeader = self._frames.peek_header
        return peek

    @cached_property
    def _scan(self) -> HeaderScan:
        return HeaderScan(self.compiled)

    @cached_property
    def scan_headers(self) -> Callable[..., HeaderColumns]:
        """`kwire.scan_headers` of this catalog."""
        return self._scan.scan_headers

    @cached_property
    def decode_prefix(self) -> Callable[..., tuple[Any, WireError | None]]:
        """`kwire.decode_prefix` of this catalog."""
        return PrefixReader(self.compiled).decode_prefix

    @cached_property
    def _splicer(self) -> FrameSplicer:
        return FrameSplicer(self.compiled)

    @cached_property
    def splice(self) -> Callable[..., bytes]:
        """`kwire.splice` of this catalog."""
        return self._splicer.splice

    @cached_property
    def rename_topics(self) -> Callable[..., bytes]:
        """`kwire.rename_topics` of this catalog."""
        return self._splicer.rename_topics

    @cached_property
    def rewrite_brokers(self) -> Callable[..., bytes]:
        """`kwire.rewrite_brokers` of this catalog."""
        return self._splicer.rewrite_brokers

    @cached_property
    def _columns(self) -> Columns:
        from kwire.codec.columns import Columns  # brings pyarrow

        return Columns(self.compiled)

    def arrow_schema(self, name: str, version: int, fields: Sequence[str] | None = None, **options: Any) -> pa.Schema:
        """Call `kwire.arrow_schema` with this catalog."""
        return self._columns.arrow_schema(name, version, fields, **options)

    def to_arrow(self, name: str, buffers: Any, version: int, fields: Sequence[str] | None = None, **options: Any) -> pa.RecordBatch:
        """Call `kwire.to_arrow` with this catalog."""
        return self._columns.to_arrow(name, buffers, version, fields, **options)

    @cached_property
    def _writer(self) -> FrameWriter:
        return FrameWriter(self.compiled)

    @cached_property
    def encode(self) -> EncodeMessage:
        """`kwire.encode` of this catalog."""
        return self._writer.encode

    @cached_property
    def encode_request(self) -> EncodeRequest:
        """`kwire.encode_request` of this catalog."""
        return self._writer.encode_request

    @cached_property
    def encode_response(self) -> EncodeResponse:
        """`kwire.encode_response` of this catalog."""
        return self._writer.encode_response

    def from_json(self, name: str, obj: Any, version: int) -> Any:
        """Call `kwire.from_json` with this catalog."""
        return from_json(name, obj, version, source=self.compiled)

    def to_json(self, message: Any, version: int, records: bool = True) -> dict[str, Any]:
        """Call `kwire.to_json` with this catalog.

        Raises:
            KwireError: the message is of another catalog, and this one has another class for it.
        """
        self._check(message)
        return to_json(message, version, records, source=self.compiled)

    def _check(self, message: Any) -> None:
        """Reject an object whose class is not this catalog's."""
        layout = getattr(type(message), "layout", None)
        if layout is not None and type(message) is not self.compiled.classes(layout.message)[0]:
            raise KwireError(f"this {type(message).__qualname__} is not of the class that {self.catalog.name} has under that name")
