"""Which clients a capture shows, and which of them Kafka 4.x rejects: the analysis as a library, in one process, without Spark.

Run it as: python examples/who_talks.py examples/upgrade-fleet.pcap.gz
"""

from __future__ import annotations

import sys

from kwire.analysis import Options, run


def main(captures: list[str]) -> None:
    tables = run(captures, options=Options(target_releases=("4.4.0",)))
    rejected = {row["client_id"] for row in tables["upgrade_impact"].to_pylist() if row["verdict"] == "breaks"}
    for client in tables["clients"].to_pylist():
        named = client["identity_source"] == "api_versions"
        library = f"{client['software_name']} {client['software_version']}" if named else client["library_guess"] or "unknown"
        breaks = "breaks on 4.4.0" if rejected & set(client["client_ids"]) else ""
        # client ids come from the wire: repr() keeps control characters off the terminal
        print(f"{library:45} {', '.join(map(repr, client['client_ids'])):35} {client['requests']:5} requests  {breaks}")


if __name__ == "__main__":
    main(sys.argv[1:])
