#!/usr/bin/env python3
"""Rebuild kwire's catalog from the jars of Kafka's releases: `python tools/build_catalog.py --cache DIR`."""

from __future__ import annotations

import argparse
from pathlib import Path

import build_messages
import build_releases
from kafka_jars import newest_patches

SCHEMA = Path(__file__).resolve().parent.parent / "src" / "kwire" / "schema"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="folder where fetched jars are kept")
    parser.add_argument("--out", type=Path, default=SCHEMA, help="folder to write to (default: the package's own)")
    parser.add_argument("--release", action="append", help="take the definitions of these releases only, newest first")
    options = parser.parse_args()
    messages = build_messages.build(options.release or newest_patches(), options.cache)
    build_messages.write(messages, options.out)
    print(f"{len(messages)} messages, {sum(len(m.notes) for m in messages.values())} notes")
    if options.release is None:
        print(f"{build_releases.write_releases(options.cache, options.out)} changes of accepted versions over all releases")
        print(f"{build_releases.write_error_codes(options.cache, options.out)} error codes")


if __name__ == "__main__":
    main()
