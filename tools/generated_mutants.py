"""Generate mutants of Python and Cython: small changes of one statement, of which a test has to fail.

Both languages share their tokens, so one generator reads both. mutmut and cosmic-ray change Python only. A mutant

    flips a comparison      `<` and `<=`, `>` and `>=`, `==` and `!=`, `is` and `is not`, `in` and `not in`
    changes a condition     to `True` or `False`, without one term of its `and` or `or`, without its `not`
    swaps a constant        `n` and `n + 1`, `True` and `False`, `+` and `-`
    drops a statement       of one logical line

Only statements of functions change: declarations, imports, decorators, docstrings and headers other than conditions do not.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

_FLIPS: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "in": "not in", "is": "is not", "+": "-", "-": "+"}
_SWAPS: Final = {"True": "False", "False": "True"}
_CONDITIONS: Final = ("if", "elif", "while")
# They begin lines that stay: a build could not choose between two of them, or nothing runs there.
_STAY: Final = frozenset((
    "def", "class", "cdef", "cpdef", "ctypedef", "cimport", "import", "from", "for", "with", "try", "else", "except", "finally", "async",
    "global", "nonlocal", "pass", "@", "include", "DEF", "IF",
))  # fmt: skip
_FUNCTION: Final = re.compile(r"(?:async +)?(?:def|cdef|cpdef)\b(?! (?:class|struct|enum|extern|union|cppclass)\b)[^=]*?\(.*:$", re.DOTALL)
_ENDS_OF_TERMS: Final = frozenset(("and", "or", "if", "else", "=", ",", "return", ":"))
_DECLARED_VALUE: Final = re.compile(r"cdef [\w .*\[\]:]+? = ")
_DECLARATION: Final = re.compile(r"[\w.]+ *: *[^=]+$")


Kind = Literal["statement", "condition", "value"]


class Mutant(NamedTuple):
    """One change of one file: `before` at `start` to `end` becomes `after`."""

    number: int  # chooses it in a build of Cython
    file: str  # path relative to the repository
    start: int
    end: int
    before: str
    after: str
    kind: Kind  # the text is a whole statement, the condition of an `if`, `elif` or `while`, or the value of a declared variable
    line: int  # number of its line, from 1

    @property
    def name(self) -> str:
        """Text that names it as long as its statement stays: file, before, after."""
        return " ".join(f"{self.file}: {self.before} -> {self.after or 'dropped'}".split())


def mutants_of(root: Path, files: Iterable[str], first: int = 1) -> list[Mutant]:
    """Generate all mutants of files below a folder; `first` is the number of the first mutant."""
    made: list[Mutant] = []
    for file in files:
        text = (root / file).read_text("utf-8")
        for start, end, kind, line in _statements(text):
            before = text[start:end]
            for after in dict.fromkeys(_changes(before, kind)):
                if after != before:
                    made.append(Mutant(first + len(made), file, start, end, before, after, kind, line))
    return made


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text).readline)


def _statements(text: str) -> Iterator[tuple[int, int, Kind, int]]:
    """Yield start, end, kind and line of what may change in functions."""
    begins = [0]
    for line in text.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    depth, functions, tokens = 0, list[int](), list[tokenize.TokenInfo]()
    for token in _tokens(text):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
            while functions and functions[-1] >= depth:
                functions.pop()
        elif token.type == tokenize.NEWLINE and tokens:
            start = begins[tokens[0].start[0] - 1] + tokens[0].start[1]
            end = begins[tokens[-1].end[0] - 1] + tokens[-1].end[1]
            first, whole = tokens[0].string, text[start:end]
            if first in _CONDITIONS:
                if functions and tokens[-1].string == ":":
                    yield start + len(first) + 1, end - 1, "condition", tokens[0].start[0]
            elif _FUNCTION.match(whole):
                functions.append(depth)
            elif functions and first not in _STAY and tokens[0].type != tokenize.STRING and not _DECLARATION.fullmatch(whole):
                yield start, end, "statement", tokens[0].start[0]
            elif functions and (declared := _DECLARED_VALUE.match(whole)):
                yield start + declared.end(), end, "value", tokens[0].start[0]
            tokens = []
        elif token.type not in (tokenize.COMMENT, tokenize.NL):
            tokens.append(token)


def _changes(text: str, kind: Kind) -> Iterator[str]:
    """Yield each text that stands for this one; an empty one drops the statement."""
    yield from {"condition": ("True", "False"), "statement": ("",), "value": ()}[kind]
    begins = [0]
    for line in text.splitlines(keepends=True):
        begins.append(begins[-1] + len(line))
    found = [
        (token.string, begins[token.start[0] - 1] + token.start[1], begins[token.end[0] - 1] + token.end[1])
        for token in _tokens(f"({text}\n)")
        if token.string.strip() and token.type not in (tokenize.COMMENT, tokenize.STRING)
    ]
    # the bracket, which lets lines end anywhere, moves the first line by one
    words = [(word, start - (start <= begins[1]), end - (end <= begins[1])) for word, start, end in found[1:-1]]
    for place, (word, start, end) in enumerate(words):
        next_word = words[place + 1][0] if place + 1 < len(words) else ""
        spaced = text[start - 1 : start].isspace() and text[end : end + 1].isspace()
        if word in _SWAPS:
            yield text[:start] + _SWAPS[word] + text[end:]
        elif word.isdecimal():
            yield f"{text[:start]}{int(word) + 1}{text[end:]}"
        elif word == "not":
            is_in = next_word == "in"
            yield text[:start] + ("in" if is_in else "") + text[words[place + 1][2] if is_in else end + 1 :]
        elif word == "is" and next_word == "not":
            yield f"{text[:end]}{text[words[place + 1][2] :]}"
        elif word in _FLIPS and spaced and not (word == "in" and words[place - 1][0] == "not") and not _is_loop(words, place):
            yield text[:start] + _FLIPS[word] + text[end:]
        elif word in ("and", "or"):
            yield from _without_a_term(text, words, place)


def _is_loop(words: list[tuple[str, int, int]], place: int) -> bool:
    """Return whether an `in` is of a `for` of a comprehension."""
    return words[place][0] == "in" and any(word == "for" for word, *_ in words[:place])


def _without_a_term(text: str, words: list[tuple[str, int, int]], place: int) -> Iterator[str]:
    """Drop the term before an `and` or `or`, and the one behind it."""
    for step, opening in ((-1, ")]}"), (1, "([{")):
        depth, last = 0, place + step
        while 0 <= last < len(words):
            word = words[last][0]
            if depth == 0 and word in _ENDS_OF_TERMS:
                break
            depth += (word in opening) - (word in "()[]{}" and word not in opening)
            if depth < 0:
                break
            last += step
        if step < 0:
            yield text[: words[last + 1][1]] + text[words[place][2] + 1 :]
        else:
            yield text[: words[place][1] - 1] + text[words[last - 1][2] :]
