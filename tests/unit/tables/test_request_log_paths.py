"""Lines unlike any that a broker writes: rows, violations and facts are the same by the fast path and without it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from log_line_paths import BITS, LINES, LOGS, both, both_tables, same_entry, tables, text_of

# A value may be any of these in the place of another.
ODD = [*BITS, "1e400", "-9223372036854775809", "18446744073709551616", "4294967295", "65536", '"\\udc00\\ud800"', '"\\u00e9"', '"a\\nb"']
LEAVES = st.none() | st.booleans() | st.sampled_from(["a", -1, 1.5])
VALUES = st.one_of(
    st.sampled_from(ODD),
    st.integers(-(1 << 70), 1 << 70).map(str),
    st.floats().map(json.dumps),
    st.text(max_size=5).map(json.dumps),
    st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)).map(
        json.dumps
    ),
)
VALUE = re.compile(r'(?<=:)(-?[0-9][0-9.eE+]*|"(?:[^"\\]|\\.)*"|true|false|null)')
NAME = re.compile(r'(?<=[{,])"[A-Za-z]+"(?=:)')
MEMBER = re.compile(r'"[A-Za-z]+":(?:-?[0-9][0-9.eE+]*|"(?:[^"\\]|\\.)*"|true|false|null),')
ANYWHERE = re.compile("")
WHERE = {"value": VALUE, "name": NAME, "escaped name": NAME, "twice": MEMBER, "missing": MEMBER, "unknown": MEMBER}
EXCHANGES = sorted(
    {line for path in LOGS if ".jsonl" in path.name for line in text_of(path).decode().splitlines()[::40] if len(line) < 4000}
)


@st.composite
def mutations(draw: st.DrawFn, lines: list[str]) -> str:
    """A line with a few things in it that are unlike what a broker writes."""
    line = draw(st.sampled_from(lines))
    for _ in range(draw(st.integers(0, 3))):
        how = draw(st.sampled_from(("value", "value", *WHERE, "cut", "sign")))
        places = list(WHERE.get(how, ANYWHERE).finditer(line))
        if not places:
            continue
        at = draw(st.sampled_from(places))
        put = at[0]
        if how == "value":
            put = draw(VALUES)
        elif how == "name":
            put = draw(st.sampled_from(places))[0]
        elif how == "escaped name":
            put = f'"\\u{ord(put[1]):04x}{put[2:]}'
        elif how == "twice":
            put = f"{put}{VALUE.sub(lambda _: draw(VALUES), put)}" if draw(st.booleans()) else put * 2
        elif how == "missing":
            put = ""
        elif how == "unknown":
            put = f'{put}"none of them":{draw(VALUES)},'
        elif how == "cut":
            line = line[: at.start()]
            continue
        elif how == "sign":
            put = draw(st.sampled_from([*'{}[],:"\\ \t\0', "\udcff", "\udced\udca0\udc80"]))
        line = line[: at.start()] + put + line[at.end() :]
    return line.replace("\n", " ")


@given(mutations(LINES + EXCHANGES))
def test_of_any_line_the_fast_path_gives_the_same_or_nothing(line: str) -> None:
    typed, read = both(line.encode("utf-8", "surrogateescape"))
    assert typed is None or same_entry(typed, read)


@given(st.lists(mutations(EXCHANGES), min_size=1, max_size=8), st.booleans())
def test_rows_and_violations_of_any_lines_are_the_same_on_both_paths(lines: list[str], with_layout: bool) -> None:
    before = "[2026-01-01 10:20:30,456] DEBUG Completed request:" if with_layout else ""
    log = "".join(f"{before}{line}\n" for line in [*lines, EXCHANGES[0]]).encode("utf-8", "surrogateescape")
    fast, fallback = both_tables(log)
    assert fast == fallback


ROWS_OF = """
import json, sys
sys.modules.update({hidden})
from datetime import timezone
from kwire.capture.request_logs.folding import typed_reader
from kwire.tables.request_logs.exchange_kinds import wanted_bodies
from kwire.tables.series import begin_series, finish_series, read_piece
carry = begin_series("s")
early = "msgspec._core" in sys.modules  # captures alone do without it
found = read_piece({path!r}, carry)
last, _ = finish_series(carry)
batches = [batch for given in (found, last) for name in ("requests", "violations") for batch in given.get(name, ())]
rows = [row for batch in batches for row in batch.to_pylist()]
print(json.dumps([typed_reader(timezone.utc, wanted_bodies) is None, early, rows], default=str))
"""


@pytest.mark.parametrize(("hidden", "pure"), [("msgspec=None", "0"), ("msgspec=None", "1"), ("", "1")])
def test_rows_do_not_depend_on_backend_or_msgspec(hidden: str, pure: str) -> None:
    """As on executors that have kwire and pyarrow alone; the pure backend uses msgspec where it is installed."""
    path = next(path for path in LOGS if "topicids" in path.name)
    script = ROWS_OF.format(hidden=hidden, path=str(path))
    given = os.environ | {"KWIRE_PURE": pure, "KWIRE_REQUIRE_NATIVE": "0"}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=given, timeout=120, check=True)
    missing, early, rows = json.loads(run.stdout)
    assert missing == bool(hidden)
    assert not early
    expected = tables(text_of(path))
    assert len([row for row in rows if "api_key" in row]) == len(expected["requests"]) == 257
    for row in rows:
        row.pop("capture")
    expected_rows = [
        {name: value for name, value in row.items() if name != "capture"} for row in expected["requests"] + expected["violations"]
    ]
    key = lambda row: json.dumps(row, sort_keys=True, default=str)  # noqa: E731
    assert sorted(map(key, rows)) == sorted(map(key, expected_rows))
