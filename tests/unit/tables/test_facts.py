"""What a series learns of its cluster."""

from __future__ import annotations

from kwire.protocol.events import BrokerNode, BrokersLearned, VersionsLearned
from kwire.tables.facts import FACT_SCHEMAS, SeriesFacts


def versions(ranges: dict[int, tuple[int, int]], time: int = 5_000, error_code: int = 0, complete: bool = True) -> VersionsLearned:
    return VersionsLearned(request_index=0, time=time, versions=ranges, error_code=error_code, complete=complete)


def nodes(*found: BrokerNode, time: int = 5_000, cluster_id: str | None = None) -> BrokersLearned:
    return BrokersLearned(request_index=0, time=time, source="Metadata", nodes=list(found), cluster_id=cluster_id, controller_id=None)


def test_a_cut_answer_teaches_what_it_has_and_a_fallback_answer_nothing() -> None:
    facts = SeriesFacts()
    facts.learn_versions("10.0.0.1:9092", versions({18: (0, 4)}, error_code=35))
    facts.learn_versions("10.0.0.1:9092", versions({0: (0, 11)}, complete=False))
    facts.learn_versions("10.0.0.1:9092", versions({0: (0, 11), 1: (4, 17)}, time=9_000))
    assert facts.tables()["advertised"].select(["server", "api_key", "min_version", "max_version"]).to_pylist() == [
        {"server": "10.0.0.1:9092", "api_key": 0, "min_version": 0, "max_version": 11},
        {"server": "10.0.0.1:9092", "api_key": 1, "min_version": 4, "max_version": 17},
    ]


def test_nodes_keep_what_any_response_said_and_minus_one_is_no_node() -> None:
    facts = SeriesFacts()
    facts.learn_nodes(nodes(BrokerNode(1, "kafka-1", 9092, "rack-a"), cluster_id="C"))
    facts.learn_nodes(nodes(BrokerNode(1, "kafka-1", 9092), BrokerNode(-1, "", -1), time=8_000))  # FindCoordinator, then none available
    assert [(row["node_id"], row["rack"], row["cluster_id"]) for row in facts.tables()["nodes"].to_pylist()] == [(1, "rack-a", "C")]


def test_a_server_is_a_node_by_address_and_port_or_by_a_port_that_only_one_has() -> None:
    facts = SeriesFacts()
    facts.learn_nodes(nodes(BrokerNode(1, "10.0.0.1", 9092), BrokerNode(2, "10.0.0.2", 9092), BrokerNode(3, "kafka-3", 9093)))
    assert facts.node_of("10.0.0.2", 9092) == 2
    assert facts.node_of("10.0.0.9", 9093) == 3
    assert facts.node_of("10.0.0.9", 9092) is None
    assert facts.node_of("10.0.0.1", 9999) is None


def test_tables_have_their_schemas() -> None:
    facts = SeriesFacts()
    facts.learn_nodes(nodes(BrokerNode(1, "kafka-1", 9092)))
    facts.refusals.append(("c", "s", 3, 0, 2, "disconnected"))
    for name, table in facts.tables().items():
        assert table.schema == FACT_SCHEMAS[name]
