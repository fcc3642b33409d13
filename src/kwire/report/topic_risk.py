"""Topics that lose producers or consumers when the brokers are upgraded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kwire.report.lineage import SideRisk, Topic

__all__ = ["TopicRisk", "topics_at_risk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRisk:
    """A topic with what an upgrade takes from it."""

    topic: Topic
    producers: SideRisk
    consumers: SideRisk

    @property
    def breaks(self) -> int:
        return self.producers.breaks + self.consumers.breaks

    @property
    def unknown(self) -> int:
        return self.producers.unknown + self.consumers.unknown

    @property
    def clients(self) -> int:
        return self.producers.clients + self.consumers.clients

    @property
    def worst(self) -> str:
        """Verdict of its worst client, as in the tables; ``compatible`` also where nothing of them was judged."""
        return "breaks" if self.breaks else "unknown" if self.unknown else "compatible"

    @property
    def is_stopped(self) -> bool:
        """Whether all its producers or all its consumers break."""
        return any(side.clients and side.breaks == side.clients for side in (self.producers, self.consumers))


def topics_at_risk(topics: Iterable[Topic]) -> tuple[TopicRisk, ...]:
    """What each topic loses: topics that stop first, then those that lose most, then the busiest.

    Args:
        topics: from `read_lineage`, the busiest first.
    """
    found = [TopicRisk(topic=topic, producers=topic.producers, consumers=topic.consumers) for topic in topics]
    return tuple(sorted(found, key=lambda one: (not one.is_stopped, -one.breaks, -one.unknown)))
