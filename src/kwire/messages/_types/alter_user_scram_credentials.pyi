# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AlterUserScramCredentialsRequest(MessageObject):  # request 51, versions 0
    api_key: ClassVar[Literal[ApiKey.ALTER_USER_SCRAM_CREDENTIALS]]
    valid_versions: ClassVar[Versions]
    class ScramCredentialDeletion(MessageObject):
        name: str = ""
        mechanism: int = 0

    class ScramCredentialUpsertion(MessageObject):
        name: str = ""
        mechanism: int = 0
        iterations: int = 0
        salt: bytes = b""
        salted_password: bytes = b""

    deletions: list[AlterUserScramCredentialsRequest.ScramCredentialDeletion] = ...
    upsertions: list[AlterUserScramCredentialsRequest.ScramCredentialUpsertion] = ...

class AlterUserScramCredentialsResponse(MessageObject):  # response 51, versions 0
    api_key: ClassVar[Literal[ApiKey.ALTER_USER_SCRAM_CREDENTIALS]]
    valid_versions: ClassVar[Versions]
    class AlterUserScramCredentialsResult(MessageObject):
        user: str = ""
        error_code: int = 0
        error_message: str | None = ""

    throttle_time_ms: int = 0
    results: list[AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult] = ...
