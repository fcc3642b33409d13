"""Coverage-guided fuzzing of the native twin against the pure one, and of kwire against other decoders.

`python tests/fuzz/run.py [--minutes 10] [targets...]`

A target is a module of `tests/fuzz/targets` with `seeds()`, inputs of captures and vectors, and `compare(data)`, which raises where the
twins differ. atheris watches which lines of the pure twin an input reaches; the native twin reads the same input beside it. Then, for a
quarter of that time again, changes of what atheris found run without being watched, several times as fast (`fuzz.unwatched`). Each target
has processes of its own, which a fault in native code may end. Targets that begin with `peer_` give the same input to Kafka's Java classes,
kio and kafka-python, as far as they are on this machine; `begin()` of a target starts what it needs.

`--repeat FILE.hex` runs one input, without atheris. The file's name begins with its target: `headers-0123.hex`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).resolve().parents[1]
TARGETS = sorted(path.stem for path in (TESTS / "fuzz" / "targets").glob("*.py"))
SLOW_SECONDS = 60  # for one input, in both twins, with coverage
UNWATCHED = 0.25  # of the time of a target, beside it

if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))
# the folder of a script comes first on the path; its modules are known as fuzz.*
sys.path[:] = [each for each in sys.path if Path(each).resolve() != TESTS / "fuzz"]


def target(name: str) -> ModuleType:
    return importlib.import_module(f"fuzz.targets.{name}")


def target_of(path: Path) -> str:
    """The target of a file with an input, by the file's name."""
    name = path.name.partition("-")[0]
    if name not in TARGETS:
        raise ValueError(f"{path.name} begins with the name of none of the targets: {', '.join(TARGETS)}")
    return name


def repeat(path: Path) -> None:
    target(target_of(path)).compare(bytes.fromhex(path.read_text()))


def fuzz(name: str, corpus: Path, found: Path, minutes: float) -> None:
    """One target in this process, which libFuzzer ends."""
    import atheris

    # never left: modules that a first use imports are watched as well
    atheris.instrument_imports(include=["kwire"]).__enter__()
    module = target(name)
    if hasattr(module, "begin"):
        module.begin()
    longest = 0
    for seed in module.seeds():
        (corpus / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
        longest = max(longest, len(seed))
    options = [
        f"-max_total_time={round(minutes * 60)}", f"-timeout={SLOW_SECONDS}", f"-max_len={max(longest, 4096)}", "-rss_limit_mb=4096",
        f"-report_slow_units={SLOW_SECONDS}",  # it would write inputs of 10 seconds beside the crashes, which a busy machine takes for any
        f"-artifact_prefix={found}/{name}-", "-print_final_stats=1", "-verbosity=1", str(corpus),
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options], module.compare)
    atheris.Fuzz()


def feed_unwatched(name: str, corpus: Path, found: Path, minutes: float) -> None:
    """The same target without atheris; an input that is a fault, or that ends this process, is left as `found`/NAME-last."""
    from fuzz.unwatched import feed

    module = target(name)
    if hasattr(module, "begin"):
        module.begin()
    inputs = [data for path in sorted(corpus.iterdir()) if (data := path.read_bytes())]
    longest = max(4096, *map(len, inputs))
    begin = getattr(module, "PIECES_FROM", None)
    count = feed(module.compare, inputs, begin, longest, minutes * 60, time.time_ns(), found / f"{name}-last")
    print(f"number_of_executed_units: {count}")


def write_hex(name: str, found: Path) -> list[Path]:
    from fuzz.unwatched import last_input

    written = []
    last = last_input(found / f"{name}-last")
    if last is not None:
        (found / f"{name}-unwatched-{hashlib.sha1(last).hexdigest()}").write_bytes(last)
    for path in sorted(found.glob(f"{name}-*")):
        if path.suffix != ".hex":
            written.append(path.with_suffix(".hex"))
            written[-1].write_text(path.read_bytes().hex() + "\n")
            path.unlink()
    return written


def executions_of(command: list[str], seconds: float | None) -> int | None:
    """Run a process that fuzzes, for at most so many seconds; None if it fails, with its output shown."""
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=seconds
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        print(f"kwire: it had not ended after {error.timeout:g} seconds", flush=True)
        return None
    executed = re.findall(r"number_of_executed_units: *([0-9]+)", done.stdout)
    if done.returncode or not executed:
        print(done.stdout[-10_000:], flush=True)
        return None
    return int(executed[-1])


def run(name: str, minutes: float, folder: Path) -> tuple[int | None, list[Path]]:
    """Run one target in processes of its own, watched first; return how many inputs it read (None: it failed) and which failed."""
    command = [sys.executable, __file__, "--alone", name, "--folder", str(folder), "--minutes"]
    unwatched = minutes * UNWATCHED
    count = executions_of([*command, str(minutes)], None)
    if count is not None:
        more = executions_of([*command, str(unwatched), "--unwatched"], unwatched * 60 + 5 * SLOW_SECONDS)
        count = None if more is None else count + more
    return count, write_hex(name, folder / "crashes")


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the native twin against the pure one.")
    parser.add_argument("targets", nargs="*", metavar="target", help=f"of: {', '.join(TARGETS)}; all without any")
    parser.add_argument("--minutes", type=float, default=10, help="for each target (10)")
    parser.add_argument("--folder", type=Path, default=TESTS.parent / "build" / "fuzz", help="for corpus and crashes")
    parser.add_argument("--repeat", type=Path, metavar="FILE.hex", help="run this one input")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at a time (one for each processor)")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--unwatched", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    os.environ["KWIRE_ASK_JAVA"] = "1"
    if args.repeat:
        repeat(args.repeat)
        return 0
    if unknown := set(args.targets) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    if importlib.util.find_spec("atheris") is None:
        version = ".".join(map(str, sys.version_info[:2]))
        print(f"kwire: fuzzing needs atheris, which has no wheel for Python {version} on this machine; there are some for Linux on x86-64.")
        return 1
    os.environ["KWIRE_REQUIRE_NATIVE"] = "1"
    found = args.folder / "crashes"
    found.mkdir(parents=True, exist_ok=True)
    if args.alone:
        (name,) = args.targets
        corpus = args.folder / "corpus" / name
        corpus.mkdir(parents=True, exist_ok=True)
        if args.unwatched:
            feed_unwatched(name, corpus, found, args.minutes)
            return 0
        fuzz(name, corpus, found, args.minutes)

    names, faults, executions = args.targets or TARGETS, [], 0
    print(f"kwire: fuzzing {', '.join(names)} for {args.minutes:g} minutes each, {args.jobs} at once", flush=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        done = pool.map(lambda name: run(name, args.minutes, args.folder), names)
        for name, (executed, written) in zip(names, done, strict=True):
            for path in written:
                print(f"kwire: {name} found a fault; repeat it with: {sys.executable} tests/fuzz/run.py --repeat {path}", flush=True)
            if executed is None or written:
                faults.append(name)
            if executed is not None:
                executions += executed
                print(f"kwire: {name}: {executed:,} executions", flush=True)
    print(f"kwire: {executions:,} executions of {len(names)} targets")
    if faults:
        print(f"kwire: faults in {', '.join(faults)}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
