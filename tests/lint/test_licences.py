"""What an installation of kwire brings may be used with Apache-2.0, whichever extras are asked for, and our own notices go along."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires
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
NOTICE = (ROOT / "NOTICE").read_text("utf-8")
# LGPL, and GPL with an exception for programs that use the package: separate packages, whoever wants to can replace them. No file of theirs
# is in a wheel of ours.
NAMED = {name: (extras, text) for name, extras, text in re.findall(r"^(\S+) \(extras ([a-z, ]+)\)[^:\n]*: (\S.+)$", NOTICE, re.MULTILINE)}
# The package says it in its file LICENSE alone: BSD-3-Clause.
UNSAID = {"protobuf"}


def brought(extras: Iterable[str] = PROJECT["optional-dependencies"]) -> Iterator[str]:
    """All packages that these extras, `all` of them if none are given, bring to this Python, through all that they require."""
    named = (*PROJECT["dependencies"], f"kwire[{','.join(extras)}]")
    waiting = [(Requirement(each), "") for each in named]
    seen = {("kwire", "")}
    while waiting:
        wanted, extra = waiting.pop()
        name = canonicalize_name(wanted.name)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        for asked in ("", *wanted.extras):
            if (name, asked) in seen:
                continue
            seen.add((name, asked))
            if name == "kwire":
                waiting += [(Requirement(each), "") for each in PROJECT["optional-dependencies"][asked]]
                continue
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
    assert {name: text for name, text in refused.items() if name not in NAMED.keys() | UNSAID} == {}


def test_licences_of_the_gpl_family_are_named_with_the_extras_that_bring_them() -> None:
    of_family = {name for name in brought() if re.search(r"GPL|General Public", licence_of(name))}
    assert of_family == NAMED.keys()
    bringing = {extra: set(brought([extra])) for extra in PROJECT["optional-dependencies"]}
    for name, (extras, text) in NAMED.items():
        assert set(extras.split(", ")) == {extra for extra, packages in bringing.items() if name in packages}
        assert text.startswith("LGPL-") == bool(re.search(r"LGPL|Lesser", licence_of(name)))
        assert text.startswith("LGPL-") or " WITH " in text, "an exception lets programs use it"


def test_our_licence_and_notice_go_along() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert set(PROJECT["license-files"]) == {"LICENSE", "NOTICE"}
    # of the definitions in src/kwire/schema: section 4 (d) of the Apache License
    assert "Apache Kafka" in NOTICE
    assert "The Apache Software Foundation" in NOTICE
