"""Options for object stores, for all commands that take URIs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import cloup

__all__ = ["with_store_options"]


def with_store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--region` and `--endpoint` to a command, which then opens all its URIs with them."""

    @cloup.option_group(
        "Object stores",
        cloup.option("--region", metavar="R", help="Region of s3:// buckets [default: as AWS reports it]."),
        cloup.option("--endpoint", metavar="URL", help="Server of s3:// and gs:// URIs other than the provider's: http://localhost:9000."),
    )
    @functools.wraps(command)
    def reached(*arguments: Any, region: str | None, endpoint: str | None, **options: Any) -> Any:
        if region is None and endpoint is None:
            return command(*arguments, **options)
        from kwire.files.file_systems import StoreOptions, store_options

        with store_options(StoreOptions(region, endpoint)):
            return command(*arguments, **options)

    return reached
