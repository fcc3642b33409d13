# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class StreamsGroupTopologyDescriptionUpdateRequest(MessageObject):  # request 93, versions 0
    api_key: ClassVar[Literal[ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE]]
    valid_versions: ClassVar[Versions]
    class TopologyDescription(MessageObject):
        subtopologies: list[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionSubtopology] = ...
        global_stores: list[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionGlobalStore] = ...

    class TopologyDescriptionSubtopology(MessageObject):
        subtopology_id: str = ""
        nodes: list[StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode] = ...

    class TopologyDescriptionNode(MessageObject):
        name: str = ""
        node_type: int = 0
        source_topics: tuple[str, ...] = ()
        sink_topic: str | None = None
        stores: tuple[str, ...] = ()
        successors: tuple[str, ...] = ()

    class TopologyDescriptionGlobalStore(MessageObject):
        source: StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode = ...
        processor: StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescriptionNode = ...

    group_id: str = ""
    member_id: str = ""
    topology_epoch: int = 0
    topology_description: StreamsGroupTopologyDescriptionUpdateRequest.TopologyDescription = ...

class StreamsGroupTopologyDescriptionUpdateResponse(MessageObject):  # response 93, versions 0
    api_key: ClassVar[Literal[ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
