"""The manifest of the proxy without Kubernetes: its command, configuration, secret, probes and end, as two pods run them."""

from __future__ import annotations

import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from naming_brokers import asked, naming
from running_proxy import until
from threaded_proxy import free_port

MANIFESTS = {
    each["kind"]: each for each in yaml.safe_load_all(Path(__file__).parents[2].joinpath("deploy/kubernetes/proxy.yaml").read_text())
}
POD = MANIFESTS["Deployment"]["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
MOUNTS = {each["name"]: each["mountPath"] for each in CONTAINER["volumeMounts"]}
DOMAIN = "kafka.example.com"


class Pod:
    """A process in place of a container: `ports` of the manifest are free ones of this machine, and `folder` has its volumes."""

    def __init__(self, folder: Path, bootstrap: str, authority: trustme.CA) -> None:
        self.ports = {each["name"]: free_port() for each in CONTAINER["ports"]}
        (folder / "tls").mkdir(parents=True)
        made = authority.issue_cert(f"*.{DOMAIN}")
        made.cert_chain_pems[0].write_to_path(str(folder / "tls" / "tls.crt"))  # the names that `kubectl create secret tls` gives
        made.private_key_pem.write_to_path(str(folder / "tls" / "tls.key"))
        text = MANIFESTS["ConfigMap"]["data"][Path(MOUNTS["config"]).name]
        moved = {MOUNTS["tls"]: str(folder / "tls"), "kafka-bootstrap.kafka.svc.cluster.local:9092": bootstrap}
        for port in CONTAINER["ports"]:
            moved[f":{port['containerPort']}"] = f":{self.ports[port['name']]}"
        for before, after in moved.items():
            assert before in text
            text = text.replace(before, after)
        (folder / "proxy.toml").write_text(text)
        arguments = [str(folder / "proxy.toml") if each == MOUNTS["config"] else each for each in CONTAINER["args"]]
        self.process = subprocess.Popen([sys.executable, "-m", "kwire", *arguments], stderr=subprocess.DEVNULL)

    def probe(self, name: str) -> int:
        """Return the status that a probe of the manifest gets; 0 without an answer."""
        asked = CONTAINER[name]["httpGet"]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.ports[asked['port']]}{asked['path']}", timeout=30) as answered:
                return int(answered.status)
        except urllib.error.HTTPError as error:
            return error.code
        except urllib.error.URLError:
            return 0

    def end(self) -> None:
        """End it as Kubernetes does after preStop; SIGKILL would follow after the grace period."""
        assert CONTAINER["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "5"]
        self.process.terminate()
        assert self.process.wait(POD["terminationGracePeriodSeconds"] - 5) == 0


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def test_pods_of_the_manifest_serve_all_brokers(tmp_path: Path, authority: trustme.CA, tls: ssl.SSLContext) -> None:
    brokers: dict[int, str] = {}

    def answer(pod: Pod, name: str) -> Any:
        return asked(pod.ports["kafka"], tls, f"{name}.{DOMAIN}")

    with naming(brokers) as one, naming(brokers) as two:
        brokers[1] = one
        pods = [Pod(tmp_path / str(number), one, authority) for number in range(MANIFESTS["Deployment"]["spec"]["replicas"])]
        try:
            for pod in pods:
                until(lambda pod=pod: pod.probe("readinessProbe") == 200, "a pod is not ready")
                assert pod.probe("livenessProbe") == 200
                found = answer(pod, "bootstrap")
                assert [(each.node_id, each.host, each.port) for each in found.brokers] == [(1, f"broker-1.{DOMAIN}", 443)]
                assert MANIFESTS["Service"]["spec"]["ports"][0]["port"] == 443
            brokers[2] = two  # a broker that comes later
            for pod in pods:
                assert len(answer(pod, "bootstrap").brokers) == 2
                until(lambda pod=pod: answer(pod, "broker-2") is not None, "the new broker has no name")
                assert answer(pod, "broker-2").controller_id == int(two.rpartition(":")[2])
            pods[0].end()
            assert pods[0].probe("livenessProbe") == 0
            assert answer(pods[1], "broker-1").controller_id == int(one.rpartition(":")[2])
            pods[1].end()
        finally:
            for pod in pods:
                pod.process.kill()
                pod.process.wait()
