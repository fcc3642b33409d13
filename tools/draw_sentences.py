"""Draw random sentences of docs, docstrings and messages, for review: ``python tools/draw_sentences.py 100 SEED``.

Read each one aloud. At most 5 of 100 may need a second reading.
"""

from __future__ import annotations

import ast
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def page_texts(text: str) -> Iterator[str]:
    """Yield paragraphs, list items and table cells of Markdown, without code."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)", text):
        yield from paragraph.strip().strip("|").split(" | ") if paragraph.lstrip().startswith("|") else [paragraph]


def code_texts(text: str) -> Iterator[str]:
    """Yield paragraphs of docstrings and other texts of Python code; `{}` stands for values."""
    tree = ast.parse(text)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield from re.split(r"\n\s*\n|\n(?=\s+\w+: )", node.value)


def sentences() -> list[str]:
    """List all sentences of at least five words, with their files."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    found = [(path, text) for path in pages for text in page_texts(path.read_text("utf-8"))]
    found += [(path, text) for path in (ROOT / "src").rglob("*.py") for text in code_texts(path.read_text("utf-8"))]
    cut = [(path, each) for path, text in found for each in re.split(r"(?<=[.!?]) (?=[A-Z`])", " ".join(text.split()))]
    return sorted(
        {f"{path.relative_to(ROOT)}: {each}" for path, each in cut if len(re.findall(r"\b[a-zA-Z]+\b", each)) >= 5 and "<" not in each}
    )


if __name__ == "__main__":
    drawn = random.Random(int(sys.argv[2])).sample(sentences(), int(sys.argv[1]))
    print("\n".join(f"{number}. {each}" for number, each in enumerate(drawn, 1)))
