"""Container file, Compose file, manifests and GitHub Action: versions, volumes and rights fit, and options of their commands exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import trustme
import yaml
from mkdocs.config import load_config
from mkdocs.structure.files import Files

from kwire import __version__
from kwire.cli.entry import commands
from kwire.proxy import load_config as load_proxy

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "how-to" / "deploy.md").read_text("utf-8")
IMAGE = f"ghcr.io/kwire/kwire:{__version__}"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
MANIFESTS = [
    each
    for name in ("capture", "analyze", "proxy")
    for each in yaml.safe_load_all((DEPLOY / "kubernetes" / f"{name}.yaml").read_text("utf-8"))
]
PODS = {each["kind"]: each["spec"]["template"]["spec"] for each in MANIFESTS if "template" in each.get("spec", {})}
CONTAINERS = {each["name"]: each for pod in PODS.values() for each in (*pod.get("initContainers", ()), *pod["containers"])}
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
# text in which people read or run command lines, comments of the files included
TEXTS = [
    *(path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix != ".json"),
    *(ROOT / "docs" / "how-to" / f"{name}.md" for name in ("deploy", "pipelines", "proxy")),
    *(ROOT / ".github" / "workflows").glob("*.yml"),
    ROOT / "README.md",
]


def written() -> Iterator[tuple[str, str, list[str]]]:
    """Program and arguments of each command line, with the place where it is."""
    for name, service in COMPOSE["services"].items():
        if "command" in service:
            yield name, *([*service.get("entrypoint", ["kwire"])]), service["command"]
    for name, container in CONTAINERS.items():
        yield name, *([*container.get("command", ["kwire"])]), container["args"]
    for path in TEXTS:
        text = re.sub(r"\\\n[# ]*", "", path.read_text("utf-8"))
        for found in re.finditer(
            rf"(?:^|[\s`/])(?:kwire|{re.escape(IMAGE)}|\"\$IMAGE\"|run --rm(?: --no-TTY)? analyze) "
            r"((?:analyze|report|proxy|inspect) [^\n`|>#&;]+)",
            text,
        ):
            yield path.name, "kwire", shlex.split(found[1])


WRITTEN = list(written())


def test_command_lines_are_found_everywhere() -> None:
    assert {"analyze", "capture", "tcpdump", "page", "deploy.md", "pipelines.md", "proxy.md", "kwire-proxy.service", "README.md"} <= {
        where for where, _, _ in WRITTEN
    }


@pytest.mark.parametrize(("where", "program", "arguments"), WRITTEN, ids=lambda each: " ".join(each) if isinstance(each, list) else each)
def test_command_lines_have_options_that_exist(where: str, program: str, arguments: list[str]) -> None:
    if program == "kwire":
        name, command, rest = commands.resolve_command(click.Context(commands), list(arguments))
        assert command is not None
        command.make_context(name, rest, resilient_parsing=False)
        return
    assert program == "tcpdump"
    recipe = shlex.split(re.search(r"tcpdump (-i any -s .*)", (ROOT / "docs" / "how-to" / "capturing.md").read_text("utf-8"))[1])  # type: ignore[index]
    for option in ("-i", "-s", "-B"):
        assert arguments[arguments.index(option) + 1] == recipe[recipe.index(option) + 1]
    assert arguments[-1] == recipe[-1] == "tcp port 9092"
    # a ring, because a full disk would harm the broker beside it
    assert {"-C", "-W"} <= {*arguments}


def test_a_renamed_option_would_be_found() -> None:
    with pytest.raises(click.NoSuchOption):
        test_command_lines_have_options_that_exist("", "kwire", ["analyze", "a.pcap", "--outt", "b"])


def test_images_have_versions() -> None:
    used = [each["image"] for each in (*COMPOSE["services"].values(), *CONTAINERS.values())]
    assert {each for each in used if "kwire" in each} == {IMAGE}
    assert all(re.fullmatch(r"[\w./-]+:\d[\w.-]*", each) for each in used)
    assert ACTION["inputs"]["version"]["default"] == __version__
    for path in TEXTS:
        assert {*re.findall(r"ghcr\.io/kwire/kwire:[\d.]+", path.read_text("utf-8"))} <= {IMAGE}, path


def test_volumes_of_the_compose_file() -> None:
    mounted = [each.split(":") for service in COMPOSE["services"].values() for each in service.get("volumes", ())]
    assert {name for name, *_ in mounted} == {*COMPOSE["volumes"]}
    # a new volume takes its owner from the folder of the image
    made = re.search(r"install -d -o kwire -m 0700 (.*)", (DEPLOY / "Dockerfile").read_text("utf-8"))
    assert made is not None
    assert {folder for _, folder, *_ in mounted} == {*made[1].split()}


def test_volumes_of_the_pods() -> None:
    claims = {each["metadata"]["name"] for each in MANIFESTS if each["kind"] == "PersistentVolumeClaim"}
    for pod in PODS.values():
        volumes = {each["name"] for each in pod["volumes"]}
        assert {each["persistentVolumeClaim"]["claimName"] for each in pod["volumes"] if "persistentVolumeClaim" in each} <= claims
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            assert {each["name"] for each in container["volumeMounts"]} <= volumes


def test_pods_have_few_rights() -> None:
    user = re.search(r"useradd --system --uid (\d+)", (DEPLOY / "Dockerfile").read_text("utf-8"))
    assert user is not None
    for pod in PODS.values():
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] == int(user[1])
        assert pod["automountServiceAccountToken"] is False
    for name, container in CONTAINERS.items():
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"] is True
        assert rights["capabilities"] == {"drop": ["ALL"]} | ({"add": ["NET_RAW"]} if name == "tcpdump" else {})
        # a file capability counts only where privileges may grow (PR_SET_NO_NEW_PRIVS)
        assert rights["allowPrivilegeEscalation"] is (name == "tcpdump")
    (capture,) = (each for each in MANIFESTS if each["kind"] == "DaemonSet")
    assert capture["spec"]["selector"]["matchLabels"] == capture["spec"]["template"]["metadata"]["labels"]
    assert "setcap cap_net_raw+ep" in (DEPLOY / "Dockerfile").read_text("utf-8")


def test_the_proxy_on_kubernetes(tmp_path: Path) -> None:
    """Its configuration is valid, and ports, names, times and memory of the manifests are those of the configuration."""
    found = {each["kind"]: each for each in MANIFESTS[-4:]}
    made = trustme.CA().issue_cert("*.kafka.example.com")
    made.cert_chain_pems[0].write_to_path(str(tmp_path / "tls.crt"))
    made.private_key_pem.write_to_path(str(tmp_path / "tls.key"))
    pod = found["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    (tmp_path / "proxy.toml").write_text(found["ConfigMap"]["data"]["proxy.toml"].replace(mounts["tls"], str(tmp_path)))
    config = load_proxy(tmp_path / "proxy.toml")
    assert container["args"] == ["proxy", mounts["config"]]
    (listener,) = config.sni_listeners
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert (f":{ports['kafka']}", f"0.0.0.0:{ports['metrics']}") == (listener.listen, config.metrics)
    probes = {name: container[name]["httpGet"] for name in ("readinessProbe", "livenessProbe")}
    assert probes == {"readinessProbe": {"path": "/readyz", "port": "metrics"}, "livenessProbe": {"path": "/healthz", "port": "metrics"}}
    assert found["Service"]["spec"]["ports"] == [{"name": "kafka", "port": listener.port, "targetPort": "kafka"}]
    wait = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > wait + config.drain_seconds
    assert int(container["resources"]["limits"]["memory"].removesuffix("Gi")) << 30 >= 2 * config.max_held_in_all
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert labels == found["Deployment"]["spec"]["selector"]["matchLabels"] == found["Service"]["spec"]["selector"]
    assert labels == found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]


def test_the_page_lists_inputs_of_the_action() -> None:
    table = PAGE.split("| Input |")[1].split("\n\n")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == [*ACTION["inputs"]]


@pytest.fixture
def act(tmp_path: Path) -> Any:
    """Run the step that analyzes, as a runner would; return status and summary."""
    program = tmp_path / "kwire" / "bin" / "kwire"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m kwire "$@"\n')
    program.chmod(0o755)
    (step,) = (each for each in ACTION["runs"]["steps"] if each.get("id") == "analyze")

    def run(**inputs: str) -> tuple[int, str]:
        summary = tmp_path / "summary.md"
        summary.write_text("")
        given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | inputs
        values = {name: given[re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)[1]] for name, value in step["env"].items()}  # type: ignore[index]
        (tmp_path / "output").write_text("")
        files = {"RUNNER_TEMP": tmp_path, "GITHUB_OUTPUT": tmp_path / "output", "GITHUB_STEP_SUMMARY": summary}
        environment = {**os.environ, **values, **{name: str(path) for name, path in files.items()}}
        # `shell: bash` of GitHub
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert re.fullmatch(rf"report={tmp_path}/kwire-report-\w+/report\n", (tmp_path / "output").read_text())
        return done.returncode, summary.read_text()

    return run


def test_the_action_fails_where_a_client_breaks(act: Any) -> None:
    inputs = {"captures": "examples/three-brokers.pcap.gz", "arguments": "--owners examples/three-brokers-owners.csv --port 9092"}
    status, summary = act(**inputs, **{"target-release": "4.0\n4.1"})
    assert status == 5
    assert summary.startswith("# 3 of 20 applications break on Kafka 4.0 ")
    assert act(**inputs, **{"fail-on": "never"})[0] == 0
    assert act(captures="no-such.pcap") == (1, "")


def test_the_site_has_the_sample_report() -> None:
    config = load_config(str(ROOT / "mkdocs.yml"))
    (page,) = config.plugins.on_files(Files([]), config=config)
    assert "<title>" in page.content_string
    link = f"{config['site_url']}{page.src_uri}"
    assert link in (ROOT / "README.md").read_text("utf-8")
    assert link in (ROOT / "docs" / "index.md").read_text("utf-8")
