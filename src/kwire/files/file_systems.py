"""File systems of paths and URIs: Arrow's for local disks, S3, Google, Azure and HDFS, fsspec's for all other schemes.

Region and endpoint are options of a run (`store_options`), for inputs and outputs. Credentials are found like in each store's own tools,
never in a URI, because file names are written to tables, manifests, pages and logs.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from kwire.errors import InputError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = [
    "StoreOptions", "as_location", "below", "current_store_options", "filesystem_of", "has_rename", "place_of", "place_of_file",
    "reason_of", "refuse_secrets", "store_options",
]  # fmt: skip

# Where a rename is one step, as seen by everybody. Azure has it in some accounts only, fsspec does not say.
_RENAMING: Final = frozenset(("local", "hdfs"))
_SECRET: Final = re.compile(r"secret|token|passw|signature|credential|(access|account|shared|api)[-_]?key|^sig$|^sas", re.IGNORECASE)
# user:password@, also where a slash in the password ends what a parser takes for the server; a port is digits.
_PASSWORD: Final = re.compile(r"[^/?#@]*:[^/?#]*@|[^/?#@\[]*:(?![0-9]*(?:[/?#]|$))")
_AWS: Final = re.compile(
    r"AWS Error (?P<code>\w+)(?: \(HTTP status (?P<status>\d+)\))? during \w+ operation: (?P<text>.*?)(?: \(Request ID|$)"
)
_BUCKET: Final = re.compile(r"(?:in|for) bucket '([^']*)'")
_REGION: Final = re.compile(r"(?:located in|expecting) '([\w-]+)'")
_CREDENTIAL_CODES: Final = frozenset(
    ("INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "INVALID_CLIENT_TOKEN_ID", "UNRECOGNIZED_CLIENT", "INVALID_SIGNATURE")
)
_FAILING_CODES: Final = frozenset(
    ("SLOW_DOWN", "INTERNAL_FAILURE", "SERVICE_UNAVAILABLE", "THROTTLING", "REQUEST_TIMEOUT", "REQUEST_TIME_TOO_SKEWED")
)


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Options that reach object stores.

    Attributes:
        region: region of S3 buckets; None asks AWS for each bucket's own.
        endpoint: server of ``s3://`` and ``gs://`` other than the provider's: ``http://host:9000`` or ``host:port`` (https).
    """

    region: str | None = None
    endpoint: str | None = None

    def check(self) -> None:
        if self.endpoint is None:
            return
        scheme, _, rest = self.endpoint.rpartition("://")
        if "@" in rest:
            raise InputError("the endpoint holds a name or password; give credentials in the environment (AWS_ACCESS_KEY_ID, AWS_PROFILE)")
        if scheme not in ("", "http", "https") or not rest.rstrip("/") or "/" in rest.rstrip("/"):
            raise InputError(f"the endpoint {self.endpoint} is invalid; expected a URL such as http://localhost:9000")

    def query(self) -> dict[str, str]:
        found = {"region": self.region} if self.region else {}
        if self.endpoint:
            scheme, _, server = self.endpoint.rpartition("://")
            found |= {"endpoint_override": server.rstrip("/"), "scheme": scheme or "https"}
        return {name: value for name, value in found.items() if value}


_options: ContextVar[StoreOptions | None] = ContextVar("kwire_store_options", default=None)


def current_store_options() -> StoreOptions:
    """Return the current options, completed from the environment (AWS_ENDPOINT_URL); a driver passes them to its tasks."""
    given = _options.get() or StoreOptions()
    endpoint = given.endpoint or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or None
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or None
    return StoreOptions(given.region or (region if endpoint else None), endpoint)  # AWS itself answers where a bucket lies


@contextmanager
def store_options(options: StoreOptions | None) -> Iterator[None]:
    """Use these options for all files opened in the block; None changes nothing.

    Raises:
        InputError: the endpoint is invalid.
    """
    if options is None:
        yield
        return
    options.check()
    before = _options.set(options)
    try:
        yield
    finally:
        with suppress(ValueError):  # a generator that somebody else closes
            _options.reset(before)


def refuse_secrets(location: str) -> None:
    """Reject a URI that contains a password, a key, a token or a signature, as Hadoop does (HADOOP-3733).

    Raises:
        InputError: the URI contains a secret.
    """
    for uri in location.split("|"):  # a set of files of several points is one location
        scheme, mark, rest = uri.partition("://")
        if not mark:
            continue
        named = next((name for name, _ in parse_qsl(rest.partition("?")[2], keep_blank_values=True) if _SECRET.search(name)), None)
        if _PASSWORD.match(rest) or named is not None:
            what = "a password" if named is None else f"a secret ({named})"
            raise InputError(
                f"a {scheme}:// URI holds {what}, which would appear in tables and logs; "
                "give credentials as the store's own tools expect them (AWS_ACCESS_KEY_ID, AWS_PROFILE, the machine's role)"
            )


def as_location(location: str) -> str:
    """Normalize a location: Hadoop's ``s3a://`` becomes ``s3://``."""
    scheme, mark, rest = location.partition("://")
    return f"s3://{rest}" if mark and scheme.lower() in ("s3a", "s3n") else location


def place_of(location: str) -> str:
    """Drop the parameters of a URI, so that each file has only one text."""
    location = as_location(location)
    return location.partition("?")[0] if "://" in location else location


def place_of_file(location: str) -> str:
    """Drop parameters, make paths absolute, and normalize the names of stores."""
    return place_of(location) if "://" in location else str(Path(location).absolute())


def below(location: str, path: str) -> str:
    """Join a location and a path below it; a URI keeps its parameters at its end."""
    bare, mark, query = location.partition("?") if "://" in location else (location, "", "")
    return f"{bare.rstrip('/')}/{path}{mark}{query}"


def has_rename(filesystem: FileSystem) -> bool:
    """Return whether the store can rename a file; object stores copy it."""
    return filesystem.type_name in _RENAMING


def filesystem_of(location: str) -> tuple[FileSystem, str]:
    """Split a path or URI into a file system and a path in it.

    Raises:
        InputError: the URI's scheme is unknown, it holds a secret, or its store cannot be reached.
    """
    from pyarrow import ArrowInvalid, fs

    if "://" not in location:
        return fs.LocalFileSystem(), location
    refuse_secrets(location)
    location = as_location(location)
    scheme = location.partition("://")[0].lower()
    try:
        if scheme == "s3":
            return _s3(location)
        if scheme in ("gs", "gcs"):
            more = {name: value for name, value in current_store_options().query().items() if name != "region"}
            location = _with_query(location, more)
        return fs.FileSystem.from_uri(location)
    except ArrowInvalid as error:
        if "Unrecognized filesystem type" in str(error):
            return _by_fsspec(location)
        raise InputError(f"{location} cannot be opened: {reason_of(error)}") from error
    except (OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"{location} cannot be opened: {reason_of(error)}") from error


def _with_query(location: str, more: dict[str, str]) -> str:
    bare, _, query = location.partition("?")
    given = dict(parse_qsl(query))
    if "endpoint_override" in given:
        more = {name: value for name, value in more.items() if name != "scheme"}
    whole = urlencode(more | given)
    return f"{bare}?{whole}" if whole else bare


def _s3(location: str) -> tuple[FileSystem, str]:
    parts = urlsplit(_with_query(location, current_store_options().query()), allow_fragments=False)
    if not parts.netloc:
        raise InputError(f"{location} names no bucket, as s3://bucket/key does")
    return _bucket(parts.netloc, parts.query), f"{parts.netloc}/{unquote(parts.path).strip('/')}".rstrip("/")


@lru_cache(maxsize=32)
def _bucket(bucket: str, query: str) -> FileSystem:
    """Return the cached file system of a bucket, which reuses connections."""
    from pyarrow import ArrowInvalid, fs

    filesystem: FileSystem
    whole = f"s3://{bucket}?{query}"
    try:
        # what is small is then put in one request, where a multipart upload takes three; older Arrows do not know the parameter
        filesystem, _ = fs.FileSystem.from_uri(f"{whole}{'&' if query else ''}allow_delayed_open=true")
    except ArrowInvalid:
        filesystem, _ = fs.FileSystem.from_uri(whole)
    return filesystem


def _by_fsspec(location: str) -> tuple[FileSystem, str]:
    from pyarrow import fs

    scheme = location.partition("://")[0]
    try:
        from fsspec.core import url_to_fs  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise InputError(f"{location} cannot be opened: {scheme}:// is not one of Arrow's, and fsspec is not installed") from error
    try:
        # a URI is quoted; the addresses of web servers have to stay so
        filesystem, path = url_to_fs(location if scheme.startswith("http") else unquote(location))
    except (ImportError, ValueError, OSError) as error:
        raise InputError(f"{location} cannot be opened: {reason_of(error)}") from error
    handler: Any = fs.FSSpecHandler
    return fs.PyFileSystem(handler(filesystem)), path.rstrip("/") or path


def reason_of(error: BaseException) -> str:
    """Return the cause of a file's error in a few words."""
    # Arrow's own text names the operation that failed, which a user has not asked for; what the system says is enough
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    line = (str(error).splitlines() or [""])[0].strip() or type(error).__name__
    told = _AWS.search(line)
    if told is not None:
        return _of_aws(told["code"], told["status"] or "", told["text"].strip(), line)
    if "libjvm" in line or "libhdfs" in line:
        return f"{line.rstrip('.')}; HDFS is reached through libhdfs, which wants JAVA_HOME, and Hadoop's jars in CLASSPATH"
    return line.rstrip(".")


def _who_asked() -> str:
    """Return where the credentials were looked for: the driver may have some that an executor has not."""
    spark: Any = sys.modules.get("pyspark")  # not imported to find out
    if spark is None or spark.TaskContext.get() is None:
        return "; credentials are taken from AWS_ACCESS_KEY_ID, AWS_PROFILE or the machine's role"
    return (
        f" to the executor on {socket.gethostname()}; give its machine a role, or set spark.executorEnv.AWS_ACCESS_KEY_ID and "
        "spark.executorEnv.AWS_SECRET_ACCESS_KEY"
    )


def _of_aws(code: str, status: str, text: str, line: str) -> str:
    """Translate an error of the AWS SDK, which has only codes."""
    bucket = _BUCKET.search(line)
    name = f"the bucket {bucket[1]}" if bucket else "the bucket"
    # to those without access, Arrow tells of another region than '', whatever is configured
    region = _REGION.search(line) if code != "ACCESS_DENIED" else None
    if code == "NO_SUCH_BUCKET":
        return f"there is no bucket {bucket[1]}" if bucket else "there is no such bucket"
    if region or status == "301" or "PermanentRedirect" in line or "AuthorizationHeaderMalformed" in line:
        return f"{name} lies in another region{f', {region[1]}' if region else ''}; name the region"
    if code in _CREDENTIAL_CODES:
        return f"the store does not take the credentials ({text.rstrip('.')})"
    if code.startswith("EXPIRED") or "expired" in text:
        return "the credentials have expired"
    if code == "ACCESS_DENIED" or status == "403":
        return f"access to {name} is denied{_who_asked()}"
    if code == "NETWORK_CONNECTION":
        return f"the store cannot be reached: {text.rpartition('Details: ')[2].rstrip('.')}"
    if code in _FAILING_CODES or status.startswith("5"):
        return f"the store fails, after several tries too ({status or code})"
    return text.rstrip(".") or f"the store answers {status or code}"
