"""Sockets that listen: bound by the proxy, or passed by systemd, which keeps their ports during a restart.

With `reuse_port`, a second process listens on the same ports (SO_REUSEPORT) before the first one stops. The kernel distributes clients over
all sockets of a port, and resets those that wait at a socket that is closed. So the first process has the kernel choose a socket of the
second one, accepts the clients that are left, and then closes.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any, Final

from kwire.errors import InputError
from kwire.proxy.config import host_and_port

__all__ = ["BACKLOG", "ListeningSockets", "passed_sockets"]

BACKLOG: Final = 1024
_FIRST_PASSED: Final = 3  # SD_LISTEN_FDS_START
_WILDCARDS: Final = ("0.0.0.0", "::")
_SO_ATTACH_REUSEPORT_CBPF: Final = 51  # Linux 4.5
_RETURN: Final = 0x06  # BPF_RET | BPF_K: the program's result is its constant


class ListeningSockets:
    """Sockets of all listeners; `passed` are used before others are bound."""

    def __init__(self, passed: Sequence[socket.socket] = (), *, reuse_port: bool = False) -> None:
        self._passed = list(passed)
        self._reuse_port = reuse_port
        self._groups: list[list[socket.socket]] = []

    def listen(self, listen: str, copies: int = 1) -> list[list[socket.socket]]:
        """Listen on each address of `host:port`; return as many sockets of each as there are threads."""
        host, port = host_and_port(listen, "listen")
        with ExitStack() as opened:
            try:
                ends = _ends(host, port)
                found = self._taken(port, {address[0] for _, address in ends}, copies)
                found = found or [self._bound(family, address, copies, opened) for family, address in ends]
                for each in (each for group in found for each in group):
                    each.listen(BACKLOG)
            except OSError as error:
                raise InputError(f"{listen} cannot be listened on: {error.strerror or error}") from error
            opened.pop_all()
        self._groups += found
        return found

    def check_passed(self) -> None:
        """Raise an `InputError` if a passed socket was not used: its clients would wait for ever."""
        if self._passed:
            raise InputError(f"systemd passed a socket that no listener has: {self._passed[0].getsockname()}")

    def steer_away(self) -> None:
        """Have the kernel give new clients to the sockets of a process that listened later, if there is one."""
        for group in self._groups if self._reuse_port else ():
            program = ctypes.create_string_buffer(struct.pack("=HBBI", _RETURN, 0, 0, len(group)))  # the number of the first behind ours
            with suppress(OSError):  # without it, clients that have just come are reset
                group[0].setsockopt(socket.SOL_SOCKET, _SO_ATTACH_REUSEPORT_CBPF, struct.pack("@HP", 1, ctypes.addressof(program)))

    def _taken(self, port: int, hosts: set[str], copies: int) -> list[list[socket.socket]]:
        found = [each for each in self._passed if each.family in (socket.AF_INET, socket.AF_INET6)]
        found = [each for each in found if each.getsockname()[1] == port and each.getsockname()[0] in (*hosts, *_WILDCARDS)]
        self._passed = [each for each in self._passed if each not in found]
        return [[each, *(each.dup() for _ in range(copies - 1))] for each in found]

    def _bound(self, family: int, address: tuple[Any, ...], copies: int, opened: ExitStack) -> list[socket.socket]:
        if copies > 1 and address[1] and not self._reuse_port:
            # one without SO_REUSEPORT first: two proxies that are started by mistake would share the clients of a port
            with _bind(family, address, shared=False):
                pass
        found: list[socket.socket] = []
        for _ in range(copies):
            found.append(opened.enter_context(_bind(family, address, shared=self._reuse_port or copies > 1)))
            address = (address[0], found[0].getsockname()[1], *address[2:])
        return found


def passed_sockets() -> list[socket.socket]:
    """Return the sockets that systemd passed to this process (sd_listen_fds)."""
    count = os.environ.pop("LISTEN_FDS", "")
    if os.environ.pop("LISTEN_PID", "") != str(os.getpid()) or not count.isdecimal():
        return []
    found = [socket.socket(fileno=number) for number in range(_FIRST_PASSED, _FIRST_PASSED + int(count))]
    for each in found:
        each.setblocking(False)
        each.set_inheritable(False)
    return found


def _ends(host: str, port: int) -> list[tuple[int, tuple[Any, ...]]]:
    """Return addresses to listen on; an empty host means all, including IPv6 if this machine supports it."""
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    ends = [(int(family), address) for family, *_, address in found]
    return ends if host or _has_ipv6() else [(family, address) for family, address in ends if family != socket.AF_INET6]


def _has_ipv6() -> bool:
    try:
        _bind(socket.AF_INET6, ("::1", 0), shared=False).close()
    except OSError:
        return False
    return True


def _bind(family: int, address: tuple[Any, ...], *, shared: bool) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        if os.name == "posix":  # on Windows, another process could take the port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
    except OSError:
        made.close()
        raise
    return made
