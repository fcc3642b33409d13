"""Properties of every answer that a client gets through the proxy's rules, for every api and version."""

from __future__ import annotations

from collections import Counter

import pytest

import kwire
from arbitrary_messages import inconsistencies
from edited_answers import API_VERSIONS, CAPPED, CONFIGURATIONS, Exchange, exchanges


def check(exchange: Exchange, *, ordered: bool = True) -> str:
    """Read an answer strictly, which refuses a null where the schema has none, a wrong count and bytes that are left over."""
    if not exchange.got:
        return "closed"
    body = kwire.decode_response(exchange.got, exchange.api_key, exchange.body_version).body
    found = [each for each in inconsistencies(body) if ordered or "is above" in each]
    assert not found, (exchange.api_key, exchange.version, exchange.sent.hex())
    return "same" if exchange.got == exchange.sent else "edited"


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_an_edited_answer_does_not_contradict_itself(configuration: str, request: pytest.FixtureRequest) -> None:
    """Lowest values are not above highest, elements keep their order and are there once; refusals have the order of the request."""
    seen: Counter[str] = Counter()
    few, many = (20, 200) if request.config.getoption("--whole") else (2, 20)
    for keys, seeds in ((None, few), ((API_VERSIONS,), many)):
        for seed in range(seeds):
            seen.update(check(exchange, ordered=configuration != "refused") for exchange in exchanges(configuration, keys, seed))
    assert seen["edited"] > 50


def test_limits_of_a_release_do_not_contradict_themselves(request: pytest.FixtureRequest) -> None:
    for release in list(CAPPED)[:: 1 if request.config.getoption("--whole") else 9]:
        seen = [check(exchange) for seed in range(9) for exchange in exchanges(release, (API_VERSIONS,), seed)]
        assert seen.count("edited") > len(seen) / 2
