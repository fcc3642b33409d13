"""Run generated mutants: small changes of a statement, of which a test has to fail.

    python tools/mutants.py                  # 40 of each subject of tools/mutants.toml
    python tools/mutants.py tcp --sample 0   # all of a subject
    python tools/mutants.py tcp --named 'position <= end'

A subject has its files and its nearest tests; tests/unit/tools/test_mutants.py checks that they exist. One build holds all chosen mutants
of Cython, and the environment chooses one. `equal` lists mutants without effect, by name, with the reason. The run names the survivors. It
fails when a subject kills less than the share `--least` of the others, and when one of `equal` dies.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import machinery
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from generated_mutants import Mutant, mutants_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
LISTS = ROOT / "tools" / "mutants.toml"
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


class Subject(NamedTuple):
    """Files that change, and the options of pytest that run their nearest tests."""

    name: str
    files: list[str]
    tests: list[str]

    @property
    def native(self) -> bool:
        return not self.files[0].endswith(".py")


def all_subjects() -> tuple[list[Subject], dict[str, str]]:
    """Return the subjects, and the reason of each mutant without effect by its name."""
    found = tomllib.loads(LISTS.read_text("utf-8"))
    equal = found.pop("equal", {})
    return [Subject(name, each["files"], each["tests"]) for name, each in found.items()], equal


# Cython: all mutants in one build


def switched(text: str, mutants: Iterable[Mutant]) -> str:
    """Return the text of a Cython file with a choice where mutants are; those of one statement share its text."""
    by_start: dict[int, list[Mutant]] = {}
    for each in mutants:
        by_start.setdefault(each.start, []).append(each)
    for start, found in sorted(by_start.items(), reverse=True):
        made = found[0].before
        for each in found:
            test, after = f"is_mutant({each.number})", each.after
            if each.kind == "condition":
                made = f"(({test} and ({after})) or (not {test} and ({made})))"
            elif each.kind == "value":
                made = f"(({after}) if {test} else ({made}))"
            else:
                indent = " " * (start - text.rfind("\n", 0, start) - 1)
                inner = made.replace("\n", "\n    ")
                made = f"if {test}:\n{indent}    {after or 'pass'}\n{indent}else:\n{indent}    {inner}"
        text = text[:start] + made + text[found[0].end :]
    first = re.search(r"^(?:from \S+ cimport|cimport) ", text, re.MULTILINE)
    return text if first is None else text[: first.start()] + "from mutant_switch cimport is_mutant\n" + text[first.start() :]


def build(mutants: list[Mutant], command: str) -> None:
    """Compile a copy of the sources with all mutants."""
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
    for file in (ROOT / "pyx").rglob("*.pyx"):
        by_file.setdefault(file.relative_to(ROOT).as_posix(), [])
    for file, found in by_file.items():
        _written(BUILD / file, switched((ROOT / file).read_text("utf-8"), found))
    subprocess.run(command, shell=True, cwd=BUILD, check=True, env={**os.environ, "PYTHONPATH": ""})


def _copied(source: str, target: str) -> str:
    """Copy a file that is newer than its copy."""
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
    changed = (text[: mutant.start] + (mutant.after or "pass") + text[mutant.end :]).encode()
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
    """Return the outcome of a process, None while it runs. End one that hangs."""
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
    """Limit processor time and memory, for mutants that loop."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def collect(given: Subject, plugin: object) -> int:
    """Have pytest find the tests of a list and do with them what the plugin says."""
    source = BUILD / "src" if given.native else ROOT / "src"
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(source), str(ROOT)]
    os.environ.update(PYTHONPATH=str(source), KWIRE_REQUIRE_NATIVE="1", HYPOTHESIS_STORAGE_DIRECTORY=str(BUILD / "hypothesis"))
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(TEMPORARY)
    return int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--capture=sys", *given.tests], plugins=[plugin]))


def run_python(given: Subject, mutant: Mutant | None) -> Outcome:
    """Run the tests in a process that imports the source with a mutant, or without one."""

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
        """Run the code without a mutant first, and nothing else if a test fails there."""
        if self._finished({None: self._begun(session.items, None)}):
            waiting, running = list(self.mutants), {}
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    mutant = waiting.pop(0)
                    running[mutant] = self._begun(session.items, mutant)
                self._finished(running)
        return True

    def _begun(self, items: list[pytest.Item], mutant: Mutant | None) -> tuple[int, int, float]:
        """Begin a run: first the test that killed this mutant the last time, then tests that killed others."""
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


def run_native(given: Subject, chosen: list[Mutant], jobs: int) -> Iterator[tuple[str, Outcome]]:
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


def run_subject(given: Subject, chosen: list[Mutant], equal: dict[str, str], jobs: int, least: float) -> list[str]:
    """Run mutants of a subject; return what is wrong."""
    killed, wrong = 0, []
    waiting = {each.name for each in chosen}
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
        waiting.discard(name)
        killed += not passed
        word = "killed" if not passed else "equal" if name in equal else "SURVIVED"
        print(f"{word:8} {name} {failed[:150]} {seconds:.0f} s", flush=True)
        if name in equal and not passed:
            wrong.append(f"has an effect: {name}")
    wrong += [f"was not run: {name}" for name in waiting]
    count = sum(each.name not in equal for each in chosen)
    print(f"{given.name}: {killed} of {count} killed, {len(chosen) - count} without effect", flush=True)
    return [*wrong, f"{given.name}: killed {killed} of {count}, expected {least:.0%}"] if killed < least * count else wrong


def main() -> None:
    parser = argparse.ArgumentParser(description="Run mutants; see the docstring.")
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT")
    parser.add_argument("--named", default="", help="only mutants with this text in their name")
    parser.add_argument("--sample", type=int, default=40, help="mutants of each subject; 0 for all")
    parser.add_argument("--least", type=float, default=0.8, help="share of a subject's mutants that tests must kill")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample")
    parser.add_argument(
        "--build", default=f"{sys.executable} setup.py -q build_ext --inplace -j 2", help="compiles the copy of the sources"
    )
    parser.add_argument("--jobs", type=int, default=2, help="mutants of Cython that run at the same time")
    given = parser.parse_args()
    os.chdir(ROOT)
    subjects, equal = all_subjects()
    chosen, number = [], 1
    for subject in subjects:
        if given.subjects and subject.name not in given.subjects:
            continue
        made = [each for each in mutants_of(ROOT, subject.files, number) if given.named in each.name]
        number += len(made)
        chosen.append((subject, random.Random(given.seed).sample(made, min(given.sample, len(made))) if given.sample else made))
    native = [mutant for subject, made in chosen if subject.native for mutant in made]
    if native:
        build(native, given.build)
    TEMPORARY.mkdir(parents=True, exist_ok=True)
    wrong = [fault for subject, made in chosen for fault in run_subject(subject, made, equal, given.jobs, given.least)]
    shutil.rmtree(TEMPORARY, ignore_errors=True)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
