# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeUserScramCredentialsRequest(MessageObject):  # request 50, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS]]
    valid_versions: ClassVar[Versions]
    class UserName(MessageObject):
        name: str = ""

    users: list[DescribeUserScramCredentialsRequest.UserName] | None = ...

class DescribeUserScramCredentialsResponse(MessageObject):  # response 50, versions 0
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS]]
    valid_versions: ClassVar[Versions]
    class DescribeUserScramCredentialsResult(MessageObject):
        user: str = ""
        error_code: int = 0
        error_message: str | None = ""
        credential_infos: list[DescribeUserScramCredentialsResponse.CredentialInfo] = ...

    class CredentialInfo(MessageObject):
        mechanism: int = 0
        iterations: int = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    results: list[DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult] = ...
