"""The files for Kubernetes, as far as they can be checked without it: what they name is there, and they agree with each other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
SETTINGS = dict(
    line.split(None, 1) for line in (FOLDER / "spark-defaults.conf").read_text().splitlines() if line and not line.startswith("#")
)


def test_the_settings_name_files_that_are_there() -> None:
    template = SETTINGS["spark.kubernetes.executor.podTemplateFile"]
    assert (ROOT / template).is_file()
    assert re.search(
        rf"name: {SETTINGS['spark.kubernetes.executor.podTemplateContainerName']}$", (ROOT / template).read_text(), re.MULTILINE
    )


def test_the_pod_has_the_volumes_that_it_mounts() -> None:
    template = (FOLDER / "executor-pod.yaml").read_text()
    mounts, volumes = template.split("\n  volumes:\n")
    mounted = set(re.findall(r"- name: (\w+)\n\s+mountPath: (\S+)", mounts))
    assert {name for name, _ in mounted} == set(re.findall(r"- name: (\w+)", volumes))
    assert re.search(r"name: TMPDIR\n\s+value: (\S+)", mounts)[1] in {path for _, path in mounted}  # type: ignore[index]


def test_image_and_settings_are_of_one_spark_that_is_tried() -> None:
    dockerfile = (FOLDER / "Dockerfile").read_text()
    spark = re.search(r"^ARG SPARK=([\d.]+)-", dockerfile, re.MULTILINE)
    assert spark is not None
    assert SETTINGS["spark.kubernetes.container.image"].endswith(f":{spark[1]}")
    assert f" {spark[1]} " in (ROOT / "docs" / "reference" / "spark-versions.md").read_text()
    for package in ("pyarrow", "numpy"):
        assert package in dockerfile
    assert "KWIRE_REQUIRE_NATIVE=1" in dockerfile


def test_memory_is_enough_for_the_tasks_of_an_executor() -> None:
    """docs/internals/capture-memory.md: a task holds up to 600 MB, outside the JVM."""
    cores, overhead = int(SETTINGS["spark.executor.cores"]), SETTINGS["spark.executor.memoryOverhead"]
    assert int(overhead.removesuffix("g")) * 1024 >= cores * 600
