"""Targets of `--to`: a Kafka release, a file with the answer of a broker, or a broker that is asked once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cloup

from kwire.cli.completion import complete_release
from kwire.errors import InputError
from kwire.json_encoding import encode_json

if TYPE_CHECKING:
    from kwire.report.analysis_folder import Judged
    from kwire.schema import Release

__all__ = [
    "command_config_option",
    "from_option",
    "judged_for",
    "owners_option",
    "target_of",
    "target_text",
    "targets_of",
    "targets_option",
]

_SECONDS: Final = 10.0


def targets_option(help_text: str) -> Callable[[Any], Any]:
    return cloup.option("--to", "targets", multiple=True, metavar="R", shell_complete=complete_release, help=help_text)


def from_option(before: str = "", default: str = "") -> Callable[[Any], Any]:
    """Return `--from` as `broker_release`; `before` and `default` begin and end its help."""
    said = "ersion that the observed brokers run, if the captures do not show it"
    return cloup.option(
        "--from", "broker_release", metavar="R", shell_complete=complete_release,
        help=f"{before}{'v' if before else 'V'}{said}{default and f' [default: {default}]'}.",
    )  # fmt: skip


def owners_option(help_text: str = "TOML or CSV: which client ids, principals and networks belong to which team.") -> Callable[[Any], Any]:
    return cloup.option("--owners", metavar="FILE", help=help_text)


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


def judged_for(folders: Sequence[str], targets: Sequence[str | Release], broker_release: str | None = None) -> dict[str, Judged]:
    """Return the verdicts of each folder for other targets; empty without targets."""
    return {folder: _judged(folder, targets, broker_release) for folder in folders if targets}


def _judged(folder: str, targets: Sequence[str | Release], broker_release: str | None) -> Judged:
    """Return the verdicts for other targets: those of the analysis if it has them, so that they need no sums of it."""
    import pyarrow.compute as pc

    from kwire.analysis.targets import in_manifest
    from kwire.report.analysis_folder import AnalysisFolder, Judged
    from kwire.runs.judging import judge_again
    from kwire.schema import Target, releases
    from kwire.tables import SCHEMAS

    found = [releases().resolve(each) for each in targets]
    names = {each.name for each in found}
    impact = AnalysisFolder(folder).read("upgrade_impact", SCHEMAS["upgrade_impact"].names, pc.field("target_release").isin(sorted(names)))
    is_there = names == set(impact["target_release"].unique().to_pylist())
    if broker_release or not is_there or any(isinstance(each, Target) for each in found):
        impact = judge_again(folder, targets, broker_release)
    return Judged(impact, in_manifest(targets, redacted=False) | ({"broker_release": broker_release} if broker_release else {}))


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
