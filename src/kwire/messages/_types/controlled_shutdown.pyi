# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class ControlledShutdownRequest(MessageObject):  # request 7, versions 0-3
    broker_id: int = 0
    broker_epoch: int = -1  # 2+

class ControlledShutdownResponse(MessageObject):  # response 7, versions 0-3
    class RemainingPartition(MessageObject):
        topic_name: str = ""
        partition_index: int = 0

    error_code: int = 0
    remaining_partitions: list[ControlledShutdownResponse.RemainingPartition] = ...
