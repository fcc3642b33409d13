"""Targets of `--to`: a Kafka release, a file with the answer of a broker, or a broker that is asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cloup

from kwire.errors import InputError
from kwire.json_encoding import encode_json

if TYPE_CHECKING:
    from kwire.schema import Release

__all__ = ["command_config_option", "target_of", "target_text", "targets_of"]

_SECONDS: Final = 10.0


def command_config_option(option: str = "--to") -> Callable[[Any], Any]:
    return cloup.option(
        "--command-config",
        metavar="FILE",
        help=f"Client properties, as Kafka's tools take them, for TLS and SASL of a broker in {option}.",
    )


def targets_of(texts: Sequence[str], config: str | None) -> tuple[str | Release, ...]:
    """Return the targets of `--to`; a release stays as it is written."""
    from kwire.analysis.targets import is_release

    return tuple(text if is_release(text) else target_of(text, config) for text in texts)


def target_of(text: str, config: str | None) -> Release:
    """Return what a value of `--to` names; the broker of HOST:PORT is asked, with the client properties of the file `config`.

    Raises:
        InputError: it is none of these, or the broker does not answer.
    """
    from kwire.analysis.named_targets import is_stale, named_target
    from kwire.analysis.targets import is_release, read_target
    from kwire.cli.terminal import warn
    from kwire.schema import Target, releases

    if is_release(text):
        return releases().resolve(text)
    found: Release
    named = named_target(text)
    if Path(text).exists() and (named is None or named.name != text):
        found = read_target(text)
    elif named is not None:
        found = named
        if is_stale(named):
            warn(f"the answer of {named.name} is of {named.date}, more than a year ago; ask a broker with --to HOST:PORT for today's")
    elif ":" in text:
        found = _asked(text, config)
    else:
        raise InputError(
            f"--to {text} is not a Kafka release such as 4.1, a target of `kwire catalog targets`, a file with the answer of a broker, or "
            "HOST:PORT."
        )
    if isinstance(found, Target) and found.accepted:
        warn(f"{text} answers as no Kafka release: what {found.name} advertises counts, less what runs of clients on it refuted")
    elif isinstance(found, Target):
        warn(f"{text} answers as no Kafka release: the verdicts say what {found.name} advertises, and it may accept less")
    else:
        warn(f"{text} answers as Kafka {found.name}, whose accepted versions count")
    return found


def target_text(text: str, config: str | None, folder: Callable[[], str]) -> str:
    """Return a release, or a file that holds the answer: what a broker answers goes into a file of `folder()`."""
    from kwire.analysis.targets import answer_json, is_release
    from kwire.schema import Target

    if is_release(text):
        return text
    found = target_of(text, config)
    if not isinstance(found, Target) or Path(text).exists():
        return text if isinstance(found, Target) else found.name
    path = Path(folder(), "target.json")
    path.write_text(encode_json(answer_json(found)), "utf-8")
    return str(path)


def _asked(text: str, config: str | None) -> Release:
    from kwire.analysis.targets import of_answer
    from kwire.cluster.broker_session import BrokerSession, addresses

    login = tls = None
    if config is not None:
        from kwire.cluster.client_properties import read_client_properties

        login, tls = read_client_properties(config)
    with BrokerSession(addresses(text), timeout=_SECONDS, login=login, tls=tls) as session:
        return of_answer(session.node, session.ranges, session.node)
