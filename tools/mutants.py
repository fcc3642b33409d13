"""Runs mutants: small changes of a rule, of which a test has to fail.

    python tools/mutants.py                  # all lists of tools/mutants/
    python tools/mutants.py pairing native-frames.p-unclear-not-noted

A list (TOML) has its nearest tests and its mutants:

    tests    files and options of pytest; the run ends with the first test that fails
    native   true for Cython: one build holds all mutants, and the environment chooses one
    mutant   name, file, before, after; `at`: text behind which `before` is looked for first; `equal`: why the change has no effect

`before` stands in the file as it is here. In Cython it is an expression, the condition of one `if`, `elif` or `while`, or whole lines.
The run fails when a mutant without `equal` survives, when one with `equal` dies, and when `before` is not found.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import machinery
from pathlib import Path
from typing import Any, NamedTuple

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
LISTS = ROOT / "tools" / "mutants"
BUILD = ROOT / "build" / "mutants"
SWITCH = "KWIRE_MUTANT"
TEMPORARY = BUILD / "temporary"
CPU_SECONDS = 120
WALL_SECONDS = 1800
MOST_MEMORY = 6 << 30
HEADER = '''cdef extern from *:
    """
    #include <stdlib.h>
    static int kwire_mutant_chosen = 0;
    static inline int is_mutant(int number) {
        if (!kwire_mutant_chosen) { const char *text = getenv("KWIRE_MUTANT"); if (text) kwire_mutant_chosen = atoi(text); }
        return kwire_mutant_chosen == number;
    }
    """
    bint is_mutant(int number) noexcept nogil
'''


class Mutant(NamedTuple):
    """One change; `number` chooses it in the build."""

    number: int
    name: str
    file: str
    before: str
    after: str
    at: str
    equal: str | None

    def span(self, text: str) -> tuple[int, int]:
        """Where `before` lies in the text of the file."""
        start = text.find(self.before, text.index(self.at))
        if start < 0 or (not self.at and text.count(self.before) > 1):
            raise SystemExit(f"{self.name}: `before` is {'not' if start < 0 else 'more than once'} in {self.file}")
        return start, start + len(self.before)


class MutantList(NamedTuple):
    name: str
    tests: list[str]
    native: bool
    mutants: list[Mutant]


def all_lists() -> list[MutantList]:
    """The lists of the folder; mutants are numbered through all of them."""
    lists, number = [], 0
    for path in sorted(LISTS.glob("*.toml")):
        found = tomllib.loads(path.read_text("utf-8"))
        mutants = []
        for each in found["mutant"]:
            number += 1
            mutants.append(Mutant(number, each["name"], each["file"], each["before"], each["after"], each.get("at", ""), each.get("equal")))
        lists.append(MutantList(path.stem, found["tests"], found.get("native", False), mutants))
    return lists


# Cython: all mutants in one build


def switched(text: str, mutants: list[Mutant]) -> str:
    """The text of a Cython file with a choice where a mutant is; several mutants may share one span."""
    spans: dict[tuple[int, int], list[Mutant]] = {}
    for each in mutants:
        start, end = each.span(text)
        if head := re.match(r"(?:if|elif|while|return) ", each.before):
            start += head.end()
            end -= each.before.endswith(":")
        spans.setdefault((start, end), []).append(each)
    last = len(text)
    for start, end in sorted(spans, reverse=True):
        if end > last:
            raise SystemExit(f"{spans[start, end][0].name}: another mutant changes a part of `before`; give both the whole of it")
        last = start
        made = text[start:end]
        for each in spans[start, end]:
            made = _chosen(made, each)
        text = text[:start] + made + text[end:]
    first = re.search(r"^(?:from \S+ cimport|cimport) ", text, re.MULTILINE)
    return text if first is None else text[: first.start()] + "from mutant_switch cimport is_mutant\n" + text[first.start() :]


def _chosen(made: str, mutant: Mutant) -> str:
    test = f"is_mutant({mutant.number})"
    if mutant.before.endswith("\n"):
        indent = re.match(" *", made).group()  # type: ignore[union-attr]
        lines = {f"if {test}": mutant.after or f"{indent}pass\n", "else": made}
        return "".join(f"{indent}{word}:\n" + "".join(f"    {line}\n" for line in block.splitlines()) for word, block in lines.items())
    after = re.sub(r"^(?:if|elif|while|return) (.*?):?$", r"\1", mutant.after, flags=re.DOTALL)
    if re.match(r"(?:if|elif|while) ", mutant.before):
        return f"(({test} and ({after})) or (not {test} and ({made})))"
    return f"(({after}) if {test} else ({made}))"


def build(mutants: list[Mutant], command: str) -> None:
    """A copy of the sources with all mutants, compiled."""
    BUILD.mkdir(parents=True, exist_ok=True)
    for name in ("src", "pyx"):
        shutil.copytree(
            ROOT / name, BUILD / name, dirs_exist_ok=True, copy_function=_copied, ignore=shutil.ignore_patterns("__pycache__", "*.so")
        )
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        _copied(str(ROOT / name), str(BUILD / name))
    _written(BUILD / "pyx" / "mutant_switch.pxd", HEADER)
    by_file: dict[str, list[Mutant]] = {}
    for each in mutants:
        by_file.setdefault(each.file, []).append(each)
    # a part that a module includes has no imports of its own
    by_file.setdefault("pyx/protocol/tracker.pyx", [])
    for file, found in by_file.items():
        _written(BUILD / file, switched((ROOT / file).read_text("utf-8"), found))
    subprocess.run(command, shell=True, cwd=BUILD, check=True, env={**os.environ, "PYTHONPATH": ""})


def _copied(source: str, target: str) -> str:
    """Copies a file that is newer than its copy."""
    copy = Path(target)
    if not copy.exists() or Path(source).stat().st_mtime > copy.stat().st_mtime:
        shutil.copy2(source, target)
    return target


def _written(path: Path, text: str) -> None:
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


# runs


def mutate_import(mutant: Mutant) -> None:
    """Make this process import the changed source."""
    path = ROOT / mutant.file
    text = path.read_text("utf-8")
    start, end = mutant.span(text)
    changed = (text[:start] + mutant.after + text[end:]).encode()
    get_code = machinery.SourceFileLoader.get_code

    def changed_code(self: machinery.SourceFileLoader, fullname: str) -> Any:
        if Path(self.path) != path:
            return get_code(self, fullname)
        return self.source_to_code(changed, self.path)  # type: ignore[attr-defined]

    machinery.SourceFileLoader.get_code = changed_code  # type: ignore[method-assign]


class FirstFailure:
    """Ends the process with the first test that fails, and writes its name."""

    def __init__(self, out: int) -> None:
        self.out = out

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os.write(self.out, report.nodeid.encode())
            os._exit(1)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            os.write(self.out, b"import of " + report.nodeid.encode())
            os._exit(1)


class Outcome(NamedTuple):
    """What the tests say of a mutant, or of the code without one; `failed` names the test."""

    passed: bool
    failed: str
    seconds: float


def forked(work: Callable[[int], int]) -> tuple[int, int]:
    """Do work in a process of its own, without output: its process id, and where it can be read what it writes to its argument."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        os.set_blocking(reader, False)
        return child, reader
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        os._exit(work(writer))
    except BaseException as error:  # noqa: BLE001 - the parent shows it
        os.write(writer, repr(error)[:200].encode())
        os._exit(3)


def waited(child: int, reader: int, begun: float) -> Outcome | None:
    """What became of a process; None while it runs. One that uses no processor time, and so hangs, is ended as well."""
    elapsed = time.monotonic() - begun
    if elapsed > WALL_SECONDS:
        os.kill(child, signal.SIGKILL)
    ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        return None
    try:
        failed = os.read(reader, 4096).decode()
    except BlockingIOError:  # a process that the tests started still has the other end
        failed = ""
    os.close(reader)
    return Outcome(status == 0, failed or ("" if status == 0 else f"status {status}"), elapsed)


def limited() -> None:
    """A mutant that loops uses up its processor time or its memory."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def collect(given: MutantList, plugin: object) -> int:
    """Have pytest find the tests of a list and do with them what the plugin says."""
    source = BUILD / "src" if given.native else ROOT / "src"
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(source), str(ROOT)]
    os.environ.update(PYTHONPATH=str(source), KWIRE_REQUIRE_NATIVE="1", HYPOTHESIS_STORAGE_DIRECTORY=str(BUILD / "hypothesis"))
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(TEMPORARY)
    return int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--capture=sys", *given.tests], plugins=[plugin]))


def run_python(given: MutantList, mutant: Mutant | None) -> Outcome:
    """A process that imports the source with a mutant, or without one, and runs the tests."""

    def work(writer: int) -> int:
        limited()
        if mutant is not None:
            mutate_import(mutant)
        return min(collect(given, FirstFailure(writer)), 3)

    begun, process = time.monotonic(), forked(work)
    while (outcome := waited(*process, begun)) is None:
        time.sleep(0.05)
    return outcome


class ForkedRuns(FirstFailure):
    """Runs the tests that pytest has found once for each mutant, each time in a copy of this process; `out` gets a line for each."""

    def __init__(self, out: int, mutants: list[Mutant], killers: dict[str, str], jobs: int) -> None:
        super().__init__(out)
        self.mutants = mutants
        self.killers = killers
        self.jobs = jobs

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """The code without a mutant first: nothing else is run when a test fails there."""
        if self._finished({None: self._begun(session.items, None)}):
            waiting, running = list(self.mutants), {}
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    mutant = waiting.pop(0)
                    running[mutant] = self._begun(session.items, mutant)
                self._finished(running)
        return True

    def _begun(self, items: list[pytest.Item], mutant: Mutant | None) -> tuple[int, int, float]:
        """Tests that have killed a mutant come first, before them the one that killed this mutant the last time."""
        kills = Counter(self.killers.values())
        last = self.killers.get(mutant.name) if mutant is not None else None
        order = sorted(items, key=lambda item: (item.nodeid != last, -kills[item.nodeid]))

        def work(writer: int) -> int:
            limited()
            self.out = writer
            if mutant is not None:
                os.environ[SWITCH] = str(mutant.number)
            for item, following in zip(order, [*order[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            return 0

        return *forked(work), time.monotonic()

    def _finished(self, running: dict[Mutant | None, tuple[int, int, float]]) -> bool:
        """Wait until a run ends, and say how: whether its tests passed."""
        while True:
            for mutant, process in running.items():
                if (outcome := waited(*process)) is not None:
                    del running[mutant]
                    name = "" if mutant is None else mutant.name
                    if mutant is not None and not outcome.passed:
                        self.killers[name] = outcome.failed
                    os.write(self.out, json.dumps([name, *outcome]).encode() + b"\n")
                    return outcome.passed
            time.sleep(0.05)


def run_native(given: MutantList, chosen: list[Mutant], jobs: int) -> Iterator[tuple[str, Outcome]]:
    """One process imports the build and finds the tests, for the code without a mutant, whose name is empty, and all mutants."""
    kept = BUILD / "killers" / f"{given.name}.json"
    killers = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    child, reader = forked(lambda writer: collect(given, ForkedRuns(writer, chosen, killers, jobs)))
    os.set_blocking(reader, True)
    with os.fdopen(reader, encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("["):
                yield "", Outcome(False, line, 0)
                continue
            name, *outcome = json.loads(line)
            yield name, Outcome(*outcome)
            if name and not outcome[0]:
                killers[name] = outcome[1]
    os.waitpid(child, 0)
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(killers, indent=1), "utf-8")


def run_list(given: MutantList, wanted: set[str], jobs: int) -> list[str]:
    """Run the mutants of a list; gives what is wrong."""
    chosen, killed, wrong = [each for each in given.mutants if not wanted or each.name in wanted], 0, []
    by_name = {each.name: each for each in chosen}
    if given.native:
        runs = run_native(given, chosen, jobs)
    else:
        runs = ((each.name if each is not None else "", run_python(given, each)) for each in (None, *chosen))
    for name, (passed, failed, seconds) in runs:
        if not name:
            if not passed:
                return [f"{given.name}: {failed} fails without a mutant"]
            print(f"passed   {given.name} {seconds:.0f} s", flush=True)
            continue
        equal = by_name.pop(name).equal
        killed += not passed
        word = "killed" if not passed else "equal" if equal else "SURVIVED"
        print(f"{word:8} {given.name}.{name} {failed[:150]} {seconds:.0f} s", flush=True)
        if passed == (equal is None):
            wrong.append(f"{given.name}.{name} {'survived' if passed else 'has an effect'}")
    wrong += [f"{given.name}.{name} was not run" for name in by_name]
    count = sum(each.equal is not None for each in chosen)
    print(f"{given.name}: {killed} of {len(chosen)} killed, {count} without effect", flush=True)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description="Run mutants; see the docstring.")
    parser.add_argument("names", nargs="*", metavar="LIST[.MUTANT]")
    parser.add_argument(
        "--build", default=f"{sys.executable} setup.py -q build_ext --inplace -j 2", help="compiles the copy of the sources"
    )
    parser.add_argument("--jobs", type=int, default=2, help="mutants of Cython that run at the same time")
    given = parser.parse_args()
    wanted: dict[str, set[str]] = {}
    for name in given.names:
        stem, _, mutant = name.partition(".")
        wanted.setdefault(stem, set()).update([mutant] if mutant else [])
    os.chdir(ROOT)
    lists = all_lists()
    for each in (mutant for found in lists for mutant in found.mutants):
        each.span((ROOT / each.file).read_text("utf-8"))
    chosen = [each for each in lists if not wanted or each.name in wanted]
    if any(each.native for each in chosen):
        build([mutant for each in lists if each.native for mutant in each.mutants], given.build)
    TEMPORARY.mkdir(parents=True, exist_ok=True)
    wrong = [fault for each in chosen for fault in run_list(each, wanted.get(each.name, set()), given.jobs)]
    shutil.rmtree(TEMPORARY, ignore_errors=True)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
