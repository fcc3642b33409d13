"""Every reason and every remedy of the real captures, read as a sentence and held against what Kafka's releases accept.

`releases-truth.json` was read from Kafka's own classes (lowest and highest version that brokers accept, and which of them they mark
deprecated), not by kwire; nothing here asks `kwire.schema` or the code that writes the sentences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from kwire import analysis
from kwire.analysis import Options
from kwire.schema import releases

DATA: Final = Path(__file__).parent / "data"
ROOT: Final = Path(__file__).parents[2]
# Lines, and the patches that differ from the newest of their line: api -> lowest, highest, and the deprecated versions where there are any.
TRUTH: Final[dict[str, dict[str, list[Any]]]] = json.loads((DATA / "releases-truth.json").read_text())
LINES: Final = [name for name in TRUTH if TRUTH[name].keys() >= {"Produce", "Fetch", "Metadata"}]
NEWEST: Final = LINES[-1]
CLIENTS: Final = json.loads((DATA / "upgrade-fleet-truth.json").read_text())["clients"]

FLEET: Final = str(ROOT / "examples" / "upgrade-fleet.pcap.gz")
CAPTURES: Final = [*sorted(str(path) for path in DATA.iterdir() if re.search(r"\.(pcap|pcapng|log|jsonl)\.gz$", path.name)), FLEET]
TARGETS: Final = ("3.6", "3.7", "3.8.1", "3.9.0", "3.9", "4.0.0", "4.0", "4.3", "4.4")


def facts(release: str, api: str) -> list[Any] | None:
    line = ".".join(release.split(".")[: 3 if release.startswith("0.") else 2])
    return TRUTH.get(release, {}).get(api, TRUTH[line].get(api))


def takes(release: str, api: str, version: int) -> bool:
    found = facts(release, api)
    return found is not None and found[0] <= version <= found[1]


def marks(release: str, api: str, version: int) -> bool:
    found = facts(release, api)
    if found is None or len(found) < 3:
        return False
    low, _, high = found[2].partition("-")
    return int(low) <= version <= int(high or low)


def later_than(release: str) -> list[str]:
    line = ".".join(release.split(".")[:2])
    return LINES[LINES.index(line) + 1 :]


def is_below(text: re.Match[str]) -> bool:
    low = facts(text["release"], text["api"])
    return low is not None and int(text["version"]) < int(text["low"]) == low[0]


def is_inside(text: re.Match[str]) -> bool:
    found = facts(text["release"], text["api"])
    return (
        found is not None
        and found[:2] == [int(text["low"]), int(text["high"])]
        and takes(text["release"], text["api"], int(text["version"]))
    )


def is_above(text: re.Match[str]) -> bool:
    found = facts(text["release"], text["api"])
    return found is not None and int(text["version"]) > int(text["high"]) == found[1]


def is_marked(text: re.Match[str]) -> bool:
    api, version = text["api"], int(text["version"])
    listed = re.split(r", | and ", text["by"])
    true = takes(text["release"], api, version) and marks(text["release"], api, version)
    return true and all(marks(line, api, version) for line in listed)


def is_marked_and_refused(text: re.Match[str]) -> bool:
    refusing = [line for line in later_than(text["release"]) if not takes(line, text["api"], int(text["version"]))]
    return is_marked(text) and refusing[:1] == [text["refusing"]]


def is_marked_and_taken(text: re.Match[str]) -> bool:
    api, version = text["api"], int(text["version"])
    every = [*later_than(text["release"]), *(patch for patch in TRUTH if patch not in LINES and patch > text["release"])]
    return is_marked(text) and text["newest"] == NEWEST and all(takes(line, api, version) for line in every)


def is_marked_and_refused_by_patches(text: re.Match[str]) -> bool:
    api, version = text["api"], int(text["version"])
    patches = re.split(r", | and ", text["patches"])
    return is_marked(text) and all(takes(line, api, version) for line in later_than(text["release"])) and not any(
        takes(patch, api, version) for patch in patches
    )  # fmt: skip


USE: Final = r"(?P<api>\w+) v(?P<version>-?\d+)"
KAFKA: Final = r"Kafka (?P<release>[\d.]*\d)"
MARKED: Final = rf"{KAFKA} supports {USE}, deprecated in (?P<by>[\d., and]*\d)"
BELOW: Final = rf"{KAFKA} requires (?P<api>\w+) v(?P<low>\d+) or later; this client sends v(?P<version>-?\d+)"
NOT_SERVED: Final = (
    "no request of this client was answered, besides negotiation and login",
    "the answers to this client are not in the capture",
    "this client sent no request besides negotiation and login",
    "a broker refused this client's (login|SASL mechanism), and none served it",
)
NO_ANSWER: Final = rf"(, but ({'|'.join(NOT_SERVED)}))?\."

SENTENCES: Final[list[tuple[str, Callable[[re.Match[str]], bool]]]] = [
    (rf"{KAFKA} supports (?P<api>\w+) v(?P<low>\d+) to v(?P<high>\d+); this client sends v(?P<version>\d+){NO_ANSWER}", is_inside),
    (rf"{MARKED} and rejected by Kafka (?P<refusing>[\d.]*\d){NO_ANSWER}", is_marked_and_refused),
    (rf"{MARKED} and supported by all later releases up to (?P<newest>[\d.]*\d){NO_ANSWER}", is_marked_and_taken),
    (rf"{MARKED} and rejected only by Kafka (?P<patches>[\d., and]*\d){NO_ANSWER}", is_marked_and_refused_by_patches),
    (rf"{BELOW}(,| and| although| because) .*", is_below),
    (rf"{KAFKA} supports (?P<api>\w+) up to v(?P<high>\d+); this client sends v(?P<version>\d+)(,| and) .*", is_above),
    (rf"{KAFKA} no longer supports (?P<api>\w+)\.", lambda text: facts(text["release"], text["api"]) is None),
    (rf"{KAFKA} does not have (?P<api>\w+), new in Kafka (?P<since>[\d.]*\d)(; clients do without it)?{NO_ANSWER}",
     lambda text: facts(text["release"], text["api"]) is None and facts(text["since"], text["api"]) is not None),
    (rf"{KAFKA} has (?P<api>\w+) as a preview that is off by default, and the capture does not show whether it is on\.",
     lambda text: facts(text["release"], text["api"]) is not None and text["release"] < "4"),
    (rf"{KAFKA} closes connections that begin with a GSSAPI token instead of SaslHandshake \(KAFKA-18339\)\.",
     lambda text: text["release"] >= "4"),
    (rf"{KAFKA} answers an unsupported ApiVersions version with error 35, and the client falls back \(KIP-511\){NO_ANSWER}",
     lambda text: True),
    (rf"A Kafka (?P<release>[\d.]+) broker (rejected|answered) {USE} in this capture{NO_ANSWER}", lambda text: True),
    (r"This is a (broker|controller) of the cluster and is upgraded with it\.", lambda text: True),
]  # fmt: skip


@cache
def impact(path: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = analysis.run([path], (), Options(target_releases=TARGETS))["upgrade_impact"].to_pylist()
    return rows


def refusing_release(row: dict[str, Any]) -> str:
    return str(row["target_release"] if row["verdict"] == "breaks" else row["refused_by"])


@pytest.mark.parametrize("path", CAPTURES, ids=[Path(path).name for path in CAPTURES])
def test_every_reason_is_true_of_kafkas_releases(path: str) -> None:
    for row in impact(path):
        reason = row["reason"].removesuffix(" The request log holds deprecated requests alone, so what else the client does was not seen.")
        found = [(check, match) for pattern, check in SENTENCES if (match := re.fullmatch(pattern, reason))]
        assert len(found) == 1, reason
        check, match = found[0]
        assert check(match), reason
        said = match.groupdict()
        target = releases()[row["target_release"]]
        shown = target.minor if target in releases().newest_per_minor() else target.name
        assert said.get("release") in (None, shown) or reason.startswith("A Kafka "), reason
        assert said.get("version") in (None, str(row["api_version"])), reason


@pytest.mark.parametrize("path", CAPTURES, ids=[Path(path).name for path in CAPTURES])
def test_a_remedy_names_what_the_refusing_release_wants_and_the_client_lacks(path: str) -> None:
    for row in impact(path):
        api, version = row["api_name"], row["api_version"]
        if row["verdict"] == "compatible":
            assert (row["remedy"], row["cure_version"], row["refused_by"]) == (None, None, None)
        elif row["verdict"] == "deprecated":
            assert (row["remedy"] is None) == (row["refused_by"] is None)
            assert row["refused_by"] is None or not takes(row["refused_by"], api, version), row
        elif row["verdict"] == "breaks":
            assert row["remedy"], row
        for wanted, low in re.findall(r"sends (\w+) v(\d+) or later", row["remedy"] or ""):
            accepted = facts(refusing_release(row), api)
            assert wanted == api
            assert accepted is not None
            assert version < int(low) == accepted[0], row


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))


@pytest.mark.parametrize("client", CLIENTS, ids=[f"{client['library']}-{client['version']}" for client in CLIENTS])
def test_no_client_is_sent_to_a_version_that_it_has(client: dict[str, Any]) -> None:
    """Which version each client really was, its runner wrote down."""
    rows = [row for row in impact(FLEET) if row["client_id"] == client["client_id"]]
    assert rows
    for row in rows:
        for version in re.findall(r"(?<![vV\d_.])(\d+(?:\.\d+)+) or later", row["remedy"] or ""):
            assert numbers(version) > numbers(client["version"])[: len(numbers(version))], row["remedy"]


@pytest.mark.parametrize("client", CLIENTS, ids=[f"{client['library']}-{client['version']}" for client in CLIENTS])
def test_a_client_that_worked_on_4_x_needs_nothing(client: dict[str, Any]) -> None:
    rows = [row for row in impact(FLEET) if row["client_id"] == client["client_id"]]
    if not client["breaks_on_4x"]:
        assert {row["remedy"] for row in rows if row["verdict"] in ("compatible", "deprecated")} == {None}
