from collections.abc import Callable, Sequence

__all__ = ["NAMES", "TlsContext", "load"]

NAMES: tuple[str, ...]

def load(addresses: Sequence[int | None]) -> None: ...

class TlsContext:
    def __init__(
        self,
        is_server: bool,
        certificate: bytes | None,
        key: bytes | None,
        authorities: bytes | None,
        must_present: bool,
        options: int,
        flags: int,
        host_flags: int,
        least: int,
        ciphers: bytes,
        knows: Callable[[str | None], bool] | None,
    ) -> None: ...
