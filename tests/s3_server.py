"""An S3 that a test starts: moto's server, and in front of it what moto leaves out and AWS documents: it asks for credentials, has buckets
in other regions, and is slow at times.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

__all__ = ["ACCESS_KEY", "SECRET_KEY", "S3Server", "running_s3"]

ACCESS_KEY: Final = "AKIAIOSFODNN7EXAMPLE"
SECRET_KEY: Final = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
# https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
_ERROR: Final = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{}</Code><Message>{}</Message></Error>'
_STATUS: Final = {
    "AccessDenied": ("403 Forbidden", "Access Denied"),
    "InvalidAccessKeyId": ("403 Forbidden", "The AWS Access Key Id you provided does not exist in our records."),
    "PermanentRedirect": (
        "301 Moved Permanently",
        "The bucket you are attempting to access must be addressed using the specified endpoint.",
    ),
    "SlowDown": ("503 Slow Down", "Please reduce your request rate."),
}


class S3Server:
    """The server, a WSGI application.

    Attributes:
        endpoint: its address, ``http://host:port``.
        elsewhere: buckets that lie in eu-central-1, while the server is of another region.
        shaky: buckets of which every third request is told to slow down.
        log: what was asked, method and path, in order.
        heard: called with method, path and query after a request was answered.
    """

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

        self.endpoint = ""
        self.elsewhere: set[str] = set()
        self.shaky: set[str] = set()
        self.log: list[tuple[str, str]] = []
        self.copies = 0
        self.heard: Callable[[str, str, str], None] = lambda _method, _path, _query: None
        self._count = 0
        self._moto = DomainDispatcherApplication(create_backend_app)  # type: ignore[arg-type]

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.log.append((method, path))
        self.copies += "HTTP_X_AMZ_COPY_SOURCE" in environ
        fault = self._fault(path.split("/")[1], environ.get("HTTP_AUTHORIZATION", ""))
        if not fault:
            try:
                return self._moto(environ, start)  # type: ignore[no-any-return]
            finally:
                self.heard(method, path, environ.get("QUERY_STRING", ""))
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        status, message = _STATUS[fault]
        start(status, [("Content-Type", "application/xml"), ("x-amz-bucket-region", "eu-central-1")])
        return [b"" if method == "HEAD" else _ERROR.format(fault, message).encode()]

    def _fault(self, bucket: str, authorization: str) -> str:
        if not authorization:
            return "AccessDenied"
        if f"Credential={ACCESS_KEY}/" not in authorization:
            return "InvalidAccessKeyId"
        if bucket in self.elsewhere:
            return "PermanentRedirect"
        if bucket in self.shaky:
            self._count += 1
            return "SlowDown" if self._count % 3 == 1 else ""
        return ""


@contextmanager
def running_s3() -> Iterator[S3Server]:
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    found = S3Server()
    server = make_server("127.0.0.1", 0, found, threaded=True)
    found.endpoint = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
