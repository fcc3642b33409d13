"""A program at work: command_client.py kcat|kafka-console FOLDER BOOTSTRAP CLIENT_ID TOPIC GROUP COUNT SECONDS

Sends COUNT records and reads them in a group by Kafka's console tools or by kcat, and prints what came of it as a line of JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM, FOLDER, BOOTSTRAP, CLIENT_ID, TOPIC, GROUP, COUNT, SECONDS = sys.argv[1:]
JAVA = ["java", "-XX:TieredStopAtLevel=1", "-Xmx128m", "-cp", f"{FOLDER}/*"]
KCAT = ["kcat", "-b", BOOTSTRAP, "-X", f"client.id={CLIENT_ID}"]
LIMIT = str(int(SECONDS) * 1000)
PRODUCE = {
    "kcat": [*KCAT, "-P", "-t", TOPIC, "-X", "message.timeout.ms=10000"],
    "kafka-console": [*JAVA, "kafka.tools.ConsoleProducer", "--bootstrap-server", BOOTSTRAP, "--topic", TOPIC, "--sync", "--timeout", "1",
        "--message-send-max-retries", "0", "--producer-property", f"client.id={CLIENT_ID}"],
}  # fmt: skip
CONSUME = {
    "kcat": [*KCAT, "-G", GROUP, "-c", COUNT, "-X", "auto.offset.reset=earliest", TOPIC],
    "kafka-console": [*JAVA, "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", BOOTSTRAP, "--topic", TOPIC,
        "--group", GROUP, "--from-beginning", "--max-messages", COUNT, "--timeout-ms", LIMIT,
        "--consumer-property", f"client.id={CLIENT_ID}"],
}  # fmt: skip


def run(command: list[str], given: str = "") -> tuple[bool, str]:
    """Return whether the command succeeded, and its output."""
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=float(SECONDS) + 5, check=False)
    except subprocess.TimeoutExpired as late:
        return False, late.stdout.decode() if isinstance(late.stdout, bytes) else ""
    # the console producer ends with 0 whatever became of the records
    return done.returncode == 0 and "ERROR" not in done.stderr, done.stdout


def main() -> None:
    end = {"produced": 0, "consumed": 0, "error": ""}
    went_well, _ = run(PRODUCE[PROGRAM], "".join(f"record {number}\n" for number in range(int(COUNT))))
    if went_well:
        end["produced"] = int(COUNT)
        went_well, text = run(CONSUME[PROGRAM])
        end["consumed"] = sum(line.startswith("record ") for line in text.splitlines())
    end["error"] = "" if went_well else "failed"
    print(json.dumps(end))


main()
