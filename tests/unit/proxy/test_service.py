"""The systemd unit and the image of the proxy: settings that keep it apart, paths that fit the documentation, and exact versions."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from kwire import __version__
from kwire.proxy.config import ProxyConfig, TapConfig

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "proxy.md").read_text("utf-8")


def unit(name: str = "service") -> dict[str, list[str]]:
    """Settings of a unit, each with its values in order: keys may be repeated, unlike in files that configparser reads."""
    found: dict[str, list[str]] = defaultdict(list)
    section = ""
    for line in (ROOT / "deploy" / "proxy" / f"kwire-proxy.{name}").read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith(("#", ";")):
            key, equals, value = line.partition("=")
            assert equals, line
            found[f"{section}.{key}"].append(value)
    return found


def image() -> dict[str, list[str]]:
    """Instructions of the container file, each with its arguments in order."""
    text = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    lines = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    found: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        instruction, _, value = line.partition(" ")
        found[instruction].append(value)
    return found


def test_the_unit_keeps_the_service_apart() -> None:
    settings = unit()
    wanted = {
        "DynamicUser": "yes", "UMask": "0077", "StateDirectoryMode": "0700", "CapabilityBoundingSet": "", "NoNewPrivileges": "yes",
        "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes", "RestrictNamespaces": "yes",
        "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "SystemCallFilter": "@system-service", "SystemCallArchitectures": "native",
        "MemoryDenyWriteExecute": "yes", "LockPersonality": "yes", "ProtectKernelTunables": "yes",
    }  # fmt: skip
    assert {key: settings[f"Service.{key}"] for key in wanted} == {key: [value] for key, value in wanted.items()}


def test_the_unit_has_room_for_the_limits_of_a_proxy() -> None:
    settings = unit()
    (memory,) = settings["Service.MemoryMax"]
    assert memory.endswith("G")
    limits = ProxyConfig(tap=TapConfig(file="tap"))
    assert limits.tap is not None
    assert int(memory[:-1]) << 30 >= 2 * (limits.max_held_in_all + 3 * limits.tap.max_queued)
    assert int(settings["Service.LimitNOFILE"][0]) >= 2 * limits.max_connections
    assert int(settings["Service.TimeoutStopSec"][0]) > limits.drain_seconds
    assert settings["Service.ExecReload"] == ["/bin/kill -HUP $MAINPID"]


def test_paths_of_the_unit_are_those_of_the_page() -> None:
    settings = unit()
    (state,) = settings["Service.StateDirectory"]
    files = set(re.findall(r'^file = "(/[^"]*)/[^/"]*"', PAGE, re.MULTILINE))
    assert files == {f"/var/lib/{state}"}
    (credential,) = settings["Service.LoadCredential"]
    name, _, folder = credential.partition(":")
    assert Path(folder).is_absolute()
    assert f"`{folder}/proxy.key`" in PAGE
    # a folder's files get its name as a prefix (systemd.exec, LoadCredential)
    assert f"`/run/credentials/kwire-proxy.service/{name}_proxy.key`" in PAGE
    (command,) = settings["Service.ExecStart"]
    assert command.startswith("/opt/kwire/bin/kwire proxy /")
    assert f" {command.rpartition(' ')[2]}\n" in PAGE.split("docker run ")[1]
    assert image()["VOLUME"] == [f"/var/lib/{state}"]


def test_a_socket_unit_holds_the_port_of_the_page() -> None:
    streams = unit("socket")["Socket.ListenStream"]  # a service of the same name gets them
    assert {each.rpartition(":")[0] for each in streams} == {"0.0.0.0", "[::]"}
    assert {f'listen = ":{each.rpartition(":")[2]}"' in PAGE for each in streams} == {True}
    assert "`kwire-proxy.socket`" in PAGE


def test_the_image_names_exact_versions() -> None:
    steps = image()
    base, *stages = steps["FROM"]
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64} AS base", base)
    assert stages == ["base AS build", "base"]
    assert steps["ARG"] == [f"KWIRE={__version__}"]
    assert any('"kwire[cli,proxy,tls,redact]==${KWIRE}"' in each for each in steps["RUN"])
    assert steps["USER"] == ["10001"]
    assert steps["ENTRYPOINT"] == ['["kwire"]']
    assert "KWIRE_REQUIRE_NATIVE=1" in steps["ENV"][0]
