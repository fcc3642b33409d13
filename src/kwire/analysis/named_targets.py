"""Named targets: answers of other brokers and services to ApiVersions, those that kwire has and those that its user added."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Final

from kwire.analysis.targets import answer_json, read_target, shipped_targets
from kwire.errors import InputError
from kwire.json_encoding import encode_json
from kwire.schema import Target

__all__ = ["add_target", "is_stale", "named_target", "named_targets"]

_STALE_DAYS: Final = 365


def _folder() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "kwire", "targets")


def _own(name: str) -> Path:
    return _folder() / f"{name}.json"


def named_targets() -> dict[str, Target]:
    """Return all targets by name, those of the user behind those of kwire.

    Raises:
        InputError: a file of the user cannot be read.
    """
    own = [read_target(str(path)) for path in sorted(_folder().glob("*.json"))]
    return {each.name: each for each in (*shipped_targets(), *own) if isinstance(each, Target)}


def named_target(text: str) -> Target | None:
    """Return the target of a name, else the newest whose name goes on behind a `.` or `-`: `redpanda-24.3` is redpanda-24.3.1."""
    known = named_targets()
    longer = [each for name, each in known.items() if name.startswith((f"{text}.", f"{text}-"))]
    return known.get(text) or max(longer, key=lambda each: each.date, default=None)


def add_target(name: str, file: str) -> Target:
    """Store the answer in a file (`kwire.analysis.targets`) under a name, in place of an earlier one.

    Raises:
        InputError: kwire has the name, or the file has no answer, or that of a Kafka release.
    """
    found = read_target(file)
    if not isinstance(found, Target):
        raise InputError(f"{file} has the answer of Kafka {found.name}; --to {found.name} judges it without a name")
    if ":" in name:
        raise InputError(f"{name!r} cannot name a target: names have no colon, as HOST:PORT has")
    made = Target(name, found.ranges, found.source, found.date, found.accepted)
    path = _own(name)
    if name in named_targets() and not path.exists():
        raise InputError(f"{name} is a target of kwire; choose another name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(encode_json(answer_json(made), indent=1) + "\n", "utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    return made


def is_stale(target: Target, today: date | None = None) -> bool:
    """Return whether an answer is more than a year old, or its date is not known."""
    try:
        return ((today or date.today()) - date.fromisoformat(target.date)).days > _STALE_DAYS
    except ValueError:
        return True
