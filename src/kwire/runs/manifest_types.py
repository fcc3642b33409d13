"""Types of the manifest of an analysis that a run appends to, merges or judges again; they are checked, because the file is untrusted."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypedDict

import msgspec

from kwire.errors import InputError

__all__ = ["check_manifest", "check_parts"]

_NAME: Final = r"(?!\.\.?$)[^/\\]+$"
_Number = Annotated[int, msgspec.Meta(ge=0, lt=100_000)]  # names of parts have five digits for it
_Size = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
_State = Annotated[str, msgspec.Meta(pattern=rf"^{_NAME}")]
_Part = Annotated[str, msgspec.Meta(pattern=rf"^(date=[^/\\]*/)?{_NAME}")]
_PartOfTable = Annotated[str, msgspec.Meta(pattern=rf"^[a-z_]+/(date=[^/\\]*/)?{_NAME}")]


class _Series(TypedDict):
    name: str
    number: _Number
    shares: _Number
    files: list[tuple[str, _Size]]
    states: list[_State]
    waiting: list[list[_PartOfTable]]
    packed: bool
    by_hosts: bool


class _Capture(TypedDict):
    capture: str
    sha256: str | None


class _Parts(TypedDict):
    target_releases: list[str]
    broker_release: str | None
    captures: list[_Capture]
    parts: dict[Annotated[str, msgspec.Meta(pattern=r"^[a-z_]+$")], list[_Part]]


class _Manifest(_Parts):
    run: _Size
    series: list[_Series]


def check_parts(shown: str, manifest: Any) -> None:
    """Check the parts, captures and releases of an analysis that is merged or judged again."""
    try:
        msgspec.convert(manifest, _Parts)
    except ValueError as error:
        raise InputError(f"{shown} has an invalid manifest ({error}); analyze its captures again.") from error


def check_manifest(shown: str, manifest: Any) -> None:
    """Check types and values; reject parts outside the folder."""
    try:
        found = msgspec.convert(manifest, _Manifest)
        if any(not len(each["states"]) == len(each["waiting"]) == each["shares"] for each in found["series"]):
            raise ValueError("a state is missing")
    except ValueError as error:
        raise InputError(f"{shown} has an invalid manifest ({error}); use --overwrite, or choose another --out.") from error
