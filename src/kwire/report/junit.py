"""Verdicts as JUnit XML for CI servers: one test case per application, which fails if the application breaks."""

from __future__ import annotations

from xml.etree import ElementTree

from kwire.report.answer import kafka_names
from kwire.report.contents import Report
from kwire.report.inventory import applications
from kwire.report.owner_tasks import OwnerTask
from kwire.report.tickets import outcome, ticket, what_to_do
from kwire.report.wire_text import SENTENCE, visible

__all__ = ["junit"]


def junit(report: Report) -> str:
    names = kafka_names(report.matrix.targets)
    tasks = {task.client_key: task for task in report.tasks}
    judged = {line.client_key for line in report.matrix.clients}
    cases = [client for client in applications(report.clients) if client.client_key in judged]
    found = [tasks[case.client_key].verdict for case in cases if case.client_key in tasks]
    counts = {
        "tests": str(len(cases)),
        "failures": str(found.count("breaks")),
        "skipped": str(found.count("unknown")),
        "errors": "0",
    }
    suites = ElementTree.Element("testsuites", counts)
    newest = f" to {names[report.newest]}" if report.newest else ""
    suite = ElementTree.SubElement(
        suites, "testsuite", {"name": f"Kafka upgrade{newest}", **counts, "timestamp": f"{report.made:%Y-%m-%dT%H:%M:%S}"}
    )
    for client in cases:
        task = tasks.get(client.client_key)
        name = visible(", ".join(each for each in client.client_ids if each) or ", ".join(client.addresses) or client.client_key)
        case = ElementTree.SubElement(
            suite, "testcase", {"name": name, "classname": f"kafka-clients.{visible(client.library) or 'unknown'}"}
        )
        if task is not None:
            _outcome(case, task, names)
    ElementTree.indent(suites, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _outcome(case: ElementTree.Element, task: OwnerTask, names: dict[str, str]) -> None:
    message = visible(f"{outcome(task, names)}: {' '.join(what_to_do(task))}", SENTENCE)
    text = "\n".join(visible(line, SENTENCE) for line in ticket(task, names).splitlines())
    if task.verdict == "breaks":
        ElementTree.SubElement(case, "failure", {"message": message, "type": "breaks"}).text = text
    elif task.verdict == "unknown":
        ElementTree.SubElement(case, "skipped", {"message": message})
    else:
        ElementTree.SubElement(case, "system-out").text = message
