# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

from typing_extensions import Buffer

from kwire import messages
from kwire.codec.classes import CompiledCatalog
from kwire.codec.frames import Response
from kwire.schema.wire_enums import ApiKey

_Paths: TypeAlias = Sequence[str] | None
_Yes: TypeAlias = Literal[True]

@overload
def decode(
    name: Literal["AbortTransactionRecord"] | type[messages.AbortTransactionRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AbortTransactionRecord: ...
@overload
def decode(
    name: Literal["AbortedTxn"] | type[messages.AbortedTxn], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AbortedTxn: ...
@overload
def decode(
    name: Literal["AccessControlEntryRecord"] | type[messages.AccessControlEntryRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AccessControlEntryRecord: ...
@overload
def decode(
    name: Literal["AccessControlRecord"] | type[messages.AccessControlRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AccessControlRecord: ...
@overload
def decode(
    name: Literal["AddOffsetsToTxnRequest"] | type[messages.AddOffsetsToTxnRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AddOffsetsToTxnRequest: ...
@overload
def decode(
    name: Literal["AddOffsetsToTxnResponse"] | type[messages.AddOffsetsToTxnResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AddOffsetsToTxnResponse: ...
@overload
def decode(
    name: Literal["AddPartitionsToTxnRequest"] | type[messages.AddPartitionsToTxnRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AddPartitionsToTxnRequest: ...
@overload
def decode(
    name: Literal["AddPartitionsToTxnResponse"] | type[messages.AddPartitionsToTxnResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AddPartitionsToTxnResponse: ...
@overload
def decode(
    name: Literal["AddRaftVoterRequest"] | type[messages.AddRaftVoterRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AddRaftVoterRequest: ...
@overload
def decode(
    name: Literal["AddRaftVoterResponse"] | type[messages.AddRaftVoterResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AddRaftVoterResponse: ...
@overload
def decode(
    name: Literal["AllocateProducerIdsRequest"] | type[messages.AllocateProducerIdsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AllocateProducerIdsRequest: ...
@overload
def decode(
    name: Literal["AllocateProducerIdsResponse"] | type[messages.AllocateProducerIdsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AllocateProducerIdsResponse: ...
@overload
def decode(
    name: Literal["AlterClientQuotasRequest"] | type[messages.AlterClientQuotasRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterClientQuotasRequest: ...
@overload
def decode(
    name: Literal["AlterClientQuotasResponse"] | type[messages.AlterClientQuotasResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterClientQuotasResponse: ...
@overload
def decode(
    name: Literal["AlterConfigsRequest"] | type[messages.AlterConfigsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterConfigsRequest: ...
@overload
def decode(
    name: Literal["AlterConfigsResponse"] | type[messages.AlterConfigsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterConfigsResponse: ...
@overload
def decode(
    name: Literal["AlterIsrRequest"] | type[messages.AlterIsrRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterIsrRequest: ...
@overload
def decode(
    name: Literal["AlterIsrResponse"] | type[messages.AlterIsrResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterIsrResponse: ...
@overload
def decode(
    name: Literal["AlterPartitionReassignmentsRequest"] | type[messages.AlterPartitionReassignmentsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterPartitionReassignmentsRequest: ...
@overload
def decode(
    name: Literal["AlterPartitionReassignmentsResponse"] | type[messages.AlterPartitionReassignmentsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterPartitionReassignmentsResponse: ...
@overload
def decode(
    name: Literal["AlterPartitionRequest"] | type[messages.AlterPartitionRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterPartitionRequest: ...
@overload
def decode(
    name: Literal["AlterPartitionResponse"] | type[messages.AlterPartitionResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterPartitionResponse: ...
@overload
def decode(
    name: Literal["AlterReplicaLogDirsRequest"] | type[messages.AlterReplicaLogDirsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterReplicaLogDirsRequest: ...
@overload
def decode(
    name: Literal["AlterReplicaLogDirsResponse"] | type[messages.AlterReplicaLogDirsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterReplicaLogDirsResponse: ...
@overload
def decode(
    name: Literal["AlterShareGroupOffsetsRequest"] | type[messages.AlterShareGroupOffsetsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterShareGroupOffsetsRequest: ...
@overload
def decode(
    name: Literal["AlterShareGroupOffsetsResponse"] | type[messages.AlterShareGroupOffsetsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterShareGroupOffsetsResponse: ...
@overload
def decode(
    name: Literal["AlterUserScramCredentialsRequest"] | type[messages.AlterUserScramCredentialsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterUserScramCredentialsRequest: ...
@overload
def decode(
    name: Literal["AlterUserScramCredentialsResponse"] | type[messages.AlterUserScramCredentialsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AlterUserScramCredentialsResponse: ...
@overload
def decode(
    name: Literal["ApiVersionsRequest"] | type[messages.ApiVersionsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ApiVersionsRequest: ...
@overload
def decode(
    name: Literal["ApiVersionsResponse"] | type[messages.ApiVersionsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ApiVersionsResponse: ...
@overload
def decode(
    name: Literal["AssignReplicasToDirsRequest"] | type[messages.AssignReplicasToDirsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AssignReplicasToDirsRequest: ...
@overload
def decode(
    name: Literal["AssignReplicasToDirsResponse"] | type[messages.AssignReplicasToDirsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.AssignReplicasToDirsResponse: ...
@overload
def decode(
    name: Literal["BeginQuorumEpochRequest"] | type[messages.BeginQuorumEpochRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.BeginQuorumEpochRequest: ...
@overload
def decode(
    name: Literal["BeginQuorumEpochResponse"] | type[messages.BeginQuorumEpochResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.BeginQuorumEpochResponse: ...
@overload
def decode(
    name: Literal["BeginTransactionRecord"] | type[messages.BeginTransactionRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.BeginTransactionRecord: ...
@overload
def decode(
    name: Literal["BrokerHeartbeatRequest"] | type[messages.BrokerHeartbeatRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.BrokerHeartbeatRequest: ...
@overload
def decode(
    name: Literal["BrokerHeartbeatResponse"] | type[messages.BrokerHeartbeatResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.BrokerHeartbeatResponse: ...
@overload
def decode(
    name: Literal["BrokerRegistrationChangeRecord"] | type[messages.BrokerRegistrationChangeRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.BrokerRegistrationChangeRecord: ...
@overload
def decode(
    name: Literal["BrokerRegistrationRequest"] | type[messages.BrokerRegistrationRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.BrokerRegistrationRequest: ...
@overload
def decode(
    name: Literal["BrokerRegistrationResponse"] | type[messages.BrokerRegistrationResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.BrokerRegistrationResponse: ...
@overload
def decode(
    name: Literal["ClearElrRecord"] | type[messages.ClearElrRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ClearElrRecord: ...
@overload
def decode(
    name: Literal["ClientQuotaRecord"] | type[messages.ClientQuotaRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ClientQuotaRecord: ...
@overload
def decode(
    name: Literal["ConfigRecord"] | type[messages.ConfigRecord], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConfigRecord: ...
@overload
def decode(
    name: Literal["ConsumerGroupCurrentMemberAssignmentKey"] | type[messages.ConsumerGroupCurrentMemberAssignmentKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupCurrentMemberAssignmentKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupCurrentMemberAssignmentValue"] | type[messages.ConsumerGroupCurrentMemberAssignmentValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupCurrentMemberAssignmentValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupDescribeRequest"] | type[messages.ConsumerGroupDescribeRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupDescribeRequest: ...
@overload
def decode(
    name: Literal["ConsumerGroupDescribeResponse"] | type[messages.ConsumerGroupDescribeResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupDescribeResponse: ...
@overload
def decode(
    name: Literal["ConsumerGroupHeartbeatRequest"] | type[messages.ConsumerGroupHeartbeatRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupHeartbeatRequest: ...
@overload
def decode(
    name: Literal["ConsumerGroupHeartbeatResponse"] | type[messages.ConsumerGroupHeartbeatResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupHeartbeatResponse: ...
@overload
def decode(
    name: Literal["ConsumerGroupMemberMetadataKey"] | type[messages.ConsumerGroupMemberMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupMemberMetadataKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupMemberMetadataValue"] | type[messages.ConsumerGroupMemberMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupMemberMetadataValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupMetadataKey"] | type[messages.ConsumerGroupMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupMetadataKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupMetadataValue"] | type[messages.ConsumerGroupMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupMetadataValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupPartitionMetadataKey"] | type[messages.ConsumerGroupPartitionMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupPartitionMetadataKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupPartitionMetadataValue"] | type[messages.ConsumerGroupPartitionMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupPartitionMetadataValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupRegularExpressionKey"] | type[messages.ConsumerGroupRegularExpressionKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupRegularExpressionKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupRegularExpressionValue"] | type[messages.ConsumerGroupRegularExpressionValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupRegularExpressionValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupTargetAssignmentMemberKey"] | type[messages.ConsumerGroupTargetAssignmentMemberKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupTargetAssignmentMemberKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupTargetAssignmentMemberValue"] | type[messages.ConsumerGroupTargetAssignmentMemberValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupTargetAssignmentMemberValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupTargetAssignmentMetadataKey"] | type[messages.ConsumerGroupTargetAssignmentMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupTargetAssignmentMetadataKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupTargetAssignmentMetadataValue"] | type[messages.ConsumerGroupTargetAssignmentMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerGroupTargetAssignmentMetadataValue: ...
@overload
def decode(
    name: Literal["ConsumerProtocolAssignment"] | type[messages.ConsumerProtocolAssignment],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerProtocolAssignment: ...
@overload
def decode(
    name: Literal["ConsumerProtocolSubscription"] | type[messages.ConsumerProtocolSubscription],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ConsumerProtocolSubscription: ...
@overload
def decode(
    name: Literal["ControlRecordTypeSchema"] | type[messages.ControlRecordTypeSchema],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ControlRecordTypeSchema: ...
@overload
def decode(
    name: Literal["ControlledShutdownRequest"] | type[messages.ControlledShutdownRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ControlledShutdownRequest: ...
@overload
def decode(
    name: Literal["ControlledShutdownResponse"] | type[messages.ControlledShutdownResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ControlledShutdownResponse: ...
@overload
def decode(
    name: Literal["ControllerRegistrationRequest"] | type[messages.ControllerRegistrationRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ControllerRegistrationRequest: ...
@overload
def decode(
    name: Literal["ControllerRegistrationResponse"] | type[messages.ControllerRegistrationResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ControllerRegistrationResponse: ...
@overload
def decode(
    name: Literal["CreateAclsRequest"] | type[messages.CreateAclsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.CreateAclsRequest: ...
@overload
def decode(
    name: Literal["CreateAclsResponse"] | type[messages.CreateAclsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.CreateAclsResponse: ...
@overload
def decode(
    name: Literal["CreateDelegationTokenRequest"] | type[messages.CreateDelegationTokenRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.CreateDelegationTokenRequest: ...
@overload
def decode(
    name: Literal["CreateDelegationTokenResponse"] | type[messages.CreateDelegationTokenResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.CreateDelegationTokenResponse: ...
@overload
def decode(
    name: Literal["CreatePartitionsRequest"] | type[messages.CreatePartitionsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.CreatePartitionsRequest: ...
@overload
def decode(
    name: Literal["CreatePartitionsResponse"] | type[messages.CreatePartitionsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.CreatePartitionsResponse: ...
@overload
def decode(
    name: Literal["CreateTopicsRequest"] | type[messages.CreateTopicsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.CreateTopicsRequest: ...
@overload
def decode(
    name: Literal["CreateTopicsResponse"] | type[messages.CreateTopicsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.CreateTopicsResponse: ...
@overload
def decode(
    name: Literal["DefaultPrincipalData"] | type[messages.DefaultPrincipalData],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DefaultPrincipalData: ...
@overload
def decode(
    name: Literal["DelegationTokenRecord"] | type[messages.DelegationTokenRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DelegationTokenRecord: ...
@overload
def decode(
    name: Literal["DeleteAclsRequest"] | type[messages.DeleteAclsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteAclsRequest: ...
@overload
def decode(
    name: Literal["DeleteAclsResponse"] | type[messages.DeleteAclsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteAclsResponse: ...
@overload
def decode(
    name: Literal["DeleteGroupsRequest"] | type[messages.DeleteGroupsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteGroupsRequest: ...
@overload
def decode(
    name: Literal["DeleteGroupsResponse"] | type[messages.DeleteGroupsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteGroupsResponse: ...
@overload
def decode(
    name: Literal["DeleteRecordsRequest"] | type[messages.DeleteRecordsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteRecordsRequest: ...
@overload
def decode(
    name: Literal["DeleteRecordsResponse"] | type[messages.DeleteRecordsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteRecordsResponse: ...
@overload
def decode(
    name: Literal["DeleteShareGroupOffsetsRequest"] | type[messages.DeleteShareGroupOffsetsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteShareGroupOffsetsRequest: ...
@overload
def decode(
    name: Literal["DeleteShareGroupOffsetsResponse"] | type[messages.DeleteShareGroupOffsetsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteShareGroupOffsetsResponse: ...
@overload
def decode(
    name: Literal["DeleteShareGroupStateRequest"] | type[messages.DeleteShareGroupStateRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteShareGroupStateRequest: ...
@overload
def decode(
    name: Literal["DeleteShareGroupStateResponse"] | type[messages.DeleteShareGroupStateResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteShareGroupStateResponse: ...
@overload
def decode(
    name: Literal["DeleteTopicsRequest"] | type[messages.DeleteTopicsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteTopicsRequest: ...
@overload
def decode(
    name: Literal["DeleteTopicsResponse"] | type[messages.DeleteTopicsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DeleteTopicsResponse: ...
@overload
def decode(
    name: Literal["DescribeAclsRequest"] | type[messages.DescribeAclsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeAclsRequest: ...
@overload
def decode(
    name: Literal["DescribeAclsResponse"] | type[messages.DescribeAclsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeAclsResponse: ...
@overload
def decode(
    name: Literal["DescribeClientQuotasRequest"] | type[messages.DescribeClientQuotasRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeClientQuotasRequest: ...
@overload
def decode(
    name: Literal["DescribeClientQuotasResponse"] | type[messages.DescribeClientQuotasResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeClientQuotasResponse: ...
@overload
def decode(
    name: Literal["DescribeClusterRequest"] | type[messages.DescribeClusterRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeClusterRequest: ...
@overload
def decode(
    name: Literal["DescribeClusterResponse"] | type[messages.DescribeClusterResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeClusterResponse: ...
@overload
def decode(
    name: Literal["DescribeConfigsRequest"] | type[messages.DescribeConfigsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeConfigsRequest: ...
@overload
def decode(
    name: Literal["DescribeConfigsResponse"] | type[messages.DescribeConfigsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeConfigsResponse: ...
@overload
def decode(
    name: Literal["DescribeDelegationTokenRequest"] | type[messages.DescribeDelegationTokenRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeDelegationTokenRequest: ...
@overload
def decode(
    name: Literal["DescribeDelegationTokenResponse"] | type[messages.DescribeDelegationTokenResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeDelegationTokenResponse: ...
@overload
def decode(
    name: Literal["DescribeGroupsRequest"] | type[messages.DescribeGroupsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeGroupsRequest: ...
@overload
def decode(
    name: Literal["DescribeGroupsResponse"] | type[messages.DescribeGroupsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeGroupsResponse: ...
@overload
def decode(
    name: Literal["DescribeLogDirsRequest"] | type[messages.DescribeLogDirsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeLogDirsRequest: ...
@overload
def decode(
    name: Literal["DescribeLogDirsResponse"] | type[messages.DescribeLogDirsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeLogDirsResponse: ...
@overload
def decode(
    name: Literal["DescribeProducersRequest"] | type[messages.DescribeProducersRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeProducersRequest: ...
@overload
def decode(
    name: Literal["DescribeProducersResponse"] | type[messages.DescribeProducersResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeProducersResponse: ...
@overload
def decode(
    name: Literal["DescribeQuorumRequest"] | type[messages.DescribeQuorumRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeQuorumRequest: ...
@overload
def decode(
    name: Literal["DescribeQuorumResponse"] | type[messages.DescribeQuorumResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeQuorumResponse: ...
@overload
def decode(
    name: Literal["DescribeShareGroupOffsetsRequest"] | type[messages.DescribeShareGroupOffsetsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeShareGroupOffsetsRequest: ...
@overload
def decode(
    name: Literal["DescribeShareGroupOffsetsResponse"] | type[messages.DescribeShareGroupOffsetsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeShareGroupOffsetsResponse: ...
@overload
def decode(
    name: Literal["DescribeTopicPartitionsRequest"] | type[messages.DescribeTopicPartitionsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeTopicPartitionsRequest: ...
@overload
def decode(
    name: Literal["DescribeTopicPartitionsResponse"] | type[messages.DescribeTopicPartitionsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeTopicPartitionsResponse: ...
@overload
def decode(
    name: Literal["DescribeTransactionsRequest"] | type[messages.DescribeTransactionsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeTransactionsRequest: ...
@overload
def decode(
    name: Literal["DescribeTransactionsResponse"] | type[messages.DescribeTransactionsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeTransactionsResponse: ...
@overload
def decode(
    name: Literal["DescribeUserScramCredentialsRequest"] | type[messages.DescribeUserScramCredentialsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeUserScramCredentialsRequest: ...
@overload
def decode(
    name: Literal["DescribeUserScramCredentialsResponse"] | type[messages.DescribeUserScramCredentialsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.DescribeUserScramCredentialsResponse: ...
@overload
def decode(
    name: Literal["ElectLeadersRequest"] | type[messages.ElectLeadersRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ElectLeadersRequest: ...
@overload
def decode(
    name: Literal["ElectLeadersResponse"] | type[messages.ElectLeadersResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ElectLeadersResponse: ...
@overload
def decode(
    name: Literal["ElectPreferredLeadersRequest"] | type[messages.ElectPreferredLeadersRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ElectPreferredLeadersRequest: ...
@overload
def decode(
    name: Literal["ElectPreferredLeadersResponse"] | type[messages.ElectPreferredLeadersResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ElectPreferredLeadersResponse: ...
@overload
def decode(
    name: Literal["EndQuorumEpochRequest"] | type[messages.EndQuorumEpochRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.EndQuorumEpochRequest: ...
@overload
def decode(
    name: Literal["EndQuorumEpochResponse"] | type[messages.EndQuorumEpochResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.EndQuorumEpochResponse: ...
@overload
def decode(
    name: Literal["EndTransactionRecord"] | type[messages.EndTransactionRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.EndTransactionRecord: ...
@overload
def decode(
    name: Literal["EndTxnMarker"] | type[messages.EndTxnMarker], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.EndTxnMarker: ...
@overload
def decode(
    name: Literal["EndTxnRequest"] | type[messages.EndTxnRequest], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.EndTxnRequest: ...
@overload
def decode(
    name: Literal["EndTxnResponse"] | type[messages.EndTxnResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.EndTxnResponse: ...
@overload
def decode(
    name: Literal["EnvelopeRequest"] | type[messages.EnvelopeRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.EnvelopeRequest: ...
@overload
def decode(
    name: Literal["EnvelopeResponse"] | type[messages.EnvelopeResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.EnvelopeResponse: ...
@overload
def decode(
    name: Literal["ExpireDelegationTokenRequest"] | type[messages.ExpireDelegationTokenRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ExpireDelegationTokenRequest: ...
@overload
def decode(
    name: Literal["ExpireDelegationTokenResponse"] | type[messages.ExpireDelegationTokenResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ExpireDelegationTokenResponse: ...
@overload
def decode(
    name: Literal["FeatureLevelRecord"] | type[messages.FeatureLevelRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.FeatureLevelRecord: ...
@overload
def decode(
    name: Literal["FenceBrokerRecord"] | type[messages.FenceBrokerRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.FenceBrokerRecord: ...
@overload
def decode(
    name: Literal["FetchRequest"] | type[messages.FetchRequest], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.FetchRequest: ...
@overload
def decode(
    name: Literal["FetchResponse"] | type[messages.FetchResponse], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.FetchResponse: ...
@overload
def decode(
    name: Literal["FetchSnapshotRequest"] | type[messages.FetchSnapshotRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.FetchSnapshotRequest: ...
@overload
def decode(
    name: Literal["FetchSnapshotResponse"] | type[messages.FetchSnapshotResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.FetchSnapshotResponse: ...
@overload
def decode(
    name: Literal["FindCoordinatorRequest"] | type[messages.FindCoordinatorRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.FindCoordinatorRequest: ...
@overload
def decode(
    name: Literal["FindCoordinatorResponse"] | type[messages.FindCoordinatorResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.FindCoordinatorResponse: ...
@overload
def decode(
    name: Literal["GetTelemetrySubscriptionsRequest"] | type[messages.GetTelemetrySubscriptionsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.GetTelemetrySubscriptionsRequest: ...
@overload
def decode(
    name: Literal["GetTelemetrySubscriptionsResponse"] | type[messages.GetTelemetrySubscriptionsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.GetTelemetrySubscriptionsResponse: ...
@overload
def decode(
    name: Literal["GroupMetadataKey"] | type[messages.GroupMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.GroupMetadataKey: ...
@overload
def decode(
    name: Literal["GroupMetadataValue"] | type[messages.GroupMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.GroupMetadataValue: ...
@overload
def decode(
    name: Literal["HeartbeatRequest"] | type[messages.HeartbeatRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.HeartbeatRequest: ...
@overload
def decode(
    name: Literal["HeartbeatResponse"] | type[messages.HeartbeatResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.HeartbeatResponse: ...
@overload
def decode(
    name: Literal["IncrementalAlterConfigsRequest"] | type[messages.IncrementalAlterConfigsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.IncrementalAlterConfigsRequest: ...
@overload
def decode(
    name: Literal["IncrementalAlterConfigsResponse"] | type[messages.IncrementalAlterConfigsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.IncrementalAlterConfigsResponse: ...
@overload
def decode(
    name: Literal["InitProducerIdRequest"] | type[messages.InitProducerIdRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.InitProducerIdRequest: ...
@overload
def decode(
    name: Literal["InitProducerIdResponse"] | type[messages.InitProducerIdResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.InitProducerIdResponse: ...
@overload
def decode(
    name: Literal["InitializeShareGroupStateRequest"] | type[messages.InitializeShareGroupStateRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.InitializeShareGroupStateRequest: ...
@overload
def decode(
    name: Literal["InitializeShareGroupStateResponse"] | type[messages.InitializeShareGroupStateResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.InitializeShareGroupStateResponse: ...
@overload
def decode(
    name: Literal["JoinGroupRequest"] | type[messages.JoinGroupRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.JoinGroupRequest: ...
@overload
def decode(
    name: Literal["JoinGroupResponse"] | type[messages.JoinGroupResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.JoinGroupResponse: ...
@overload
def decode(
    name: Literal["KRaftVersionRecord"] | type[messages.KRaftVersionRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.KRaftVersionRecord: ...
@overload
def decode(
    name: Literal["LeaderAndIsrRequest"] | type[messages.LeaderAndIsrRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.LeaderAndIsrRequest: ...
@overload
def decode(
    name: Literal["LeaderAndIsrResponse"] | type[messages.LeaderAndIsrResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.LeaderAndIsrResponse: ...
@overload
def decode(
    name: Literal["LeaderChangeMessage"] | type[messages.LeaderChangeMessage],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.LeaderChangeMessage: ...
@overload
def decode(
    name: Literal["LeaveGroupRequest"] | type[messages.LeaveGroupRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.LeaveGroupRequest: ...
@overload
def decode(
    name: Literal["LeaveGroupResponse"] | type[messages.LeaveGroupResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.LeaveGroupResponse: ...
@overload
def decode(
    name: Literal["LegacyOffsetCommitKey"] | type[messages.LegacyOffsetCommitKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.LegacyOffsetCommitKey: ...
@overload
def decode(
    name: Literal["LegacyOffsetCommitValue"] | type[messages.LegacyOffsetCommitValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.LegacyOffsetCommitValue: ...
@overload
def decode(
    name: Literal["ListClientMetricsResourcesRequest"] | type[messages.ListClientMetricsResourcesRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListClientMetricsResourcesRequest: ...
@overload
def decode(
    name: Literal["ListClientMetricsResourcesResponse"] | type[messages.ListClientMetricsResourcesResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListClientMetricsResourcesResponse: ...
@overload
def decode(
    name: Literal["ListConfigResourcesRequest"] | type[messages.ListConfigResourcesRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListConfigResourcesRequest: ...
@overload
def decode(
    name: Literal["ListConfigResourcesResponse"] | type[messages.ListConfigResourcesResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListConfigResourcesResponse: ...
@overload
def decode(
    name: Literal["ListGroupsRequest"] | type[messages.ListGroupsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListGroupsRequest: ...
@overload
def decode(
    name: Literal["ListGroupsResponse"] | type[messages.ListGroupsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListGroupsResponse: ...
@overload
def decode(
    name: Literal["ListOffsetRequest"] | type[messages.ListOffsetRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListOffsetRequest: ...
@overload
def decode(
    name: Literal["ListOffsetResponse"] | type[messages.ListOffsetResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListOffsetResponse: ...
@overload
def decode(
    name: Literal["ListOffsetsRequest"] | type[messages.ListOffsetsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListOffsetsRequest: ...
@overload
def decode(
    name: Literal["ListOffsetsResponse"] | type[messages.ListOffsetsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListOffsetsResponse: ...
@overload
def decode(
    name: Literal["ListPartitionReassignmentsRequest"] | type[messages.ListPartitionReassignmentsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListPartitionReassignmentsRequest: ...
@overload
def decode(
    name: Literal["ListPartitionReassignmentsResponse"] | type[messages.ListPartitionReassignmentsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListPartitionReassignmentsResponse: ...
@overload
def decode(
    name: Literal["ListTransactionsRequest"] | type[messages.ListTransactionsRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListTransactionsRequest: ...
@overload
def decode(
    name: Literal["ListTransactionsResponse"] | type[messages.ListTransactionsResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ListTransactionsResponse: ...
@overload
def decode(
    name: Literal["MetadataRequest"] | type[messages.MetadataRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.MetadataRequest: ...
@overload
def decode(
    name: Literal["MetadataResponse"] | type[messages.MetadataResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.MetadataResponse: ...
@overload
def decode(
    name: Literal["NoOpRecord"] | type[messages.NoOpRecord], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.NoOpRecord: ...
@overload
def decode(
    name: Literal["OffsetCommitKey"] | type[messages.OffsetCommitKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.OffsetCommitKey: ...
@overload
def decode(
    name: Literal["OffsetCommitRequest"] | type[messages.OffsetCommitRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.OffsetCommitRequest: ...
@overload
def decode(
    name: Literal["OffsetCommitResponse"] | type[messages.OffsetCommitResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.OffsetCommitResponse: ...
@overload
def decode(
    name: Literal["OffsetCommitValue"] | type[messages.OffsetCommitValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.OffsetCommitValue: ...
@overload
def decode(
    name: Literal["OffsetDeleteRequest"] | type[messages.OffsetDeleteRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.OffsetDeleteRequest: ...
@overload
def decode(
    name: Literal["OffsetDeleteResponse"] | type[messages.OffsetDeleteResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.OffsetDeleteResponse: ...
@overload
def decode(
    name: Literal["OffsetFetchRequest"] | type[messages.OffsetFetchRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.OffsetFetchRequest: ...
@overload
def decode(
    name: Literal["OffsetFetchResponse"] | type[messages.OffsetFetchResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.OffsetFetchResponse: ...
@overload
def decode(
    name: Literal["OffsetForLeaderEpochRequest"] | type[messages.OffsetForLeaderEpochRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.OffsetForLeaderEpochRequest: ...
@overload
def decode(
    name: Literal["OffsetForLeaderEpochResponse"] | type[messages.OffsetForLeaderEpochResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.OffsetForLeaderEpochResponse: ...
@overload
def decode(
    name: Literal["PartitionChangeRecord"] | type[messages.PartitionChangeRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.PartitionChangeRecord: ...
@overload
def decode(
    name: Literal["PartitionRecord"] | type[messages.PartitionRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.PartitionRecord: ...
@overload
def decode(
    name: Literal["ProduceRequest"] | type[messages.ProduceRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ProduceRequest: ...
@overload
def decode(
    name: Literal["ProduceResponse"] | type[messages.ProduceResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ProduceResponse: ...
@overload
def decode(
    name: Literal["ProducerIdsRecord"] | type[messages.ProducerIdsRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ProducerIdsRecord: ...
@overload
def decode(
    name: Literal["ProducerSnapshot"] | type[messages.ProducerSnapshot],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ProducerSnapshot: ...
@overload
def decode(
    name: Literal["PushTelemetryRequest"] | type[messages.PushTelemetryRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.PushTelemetryRequest: ...
@overload
def decode(
    name: Literal["PushTelemetryResponse"] | type[messages.PushTelemetryResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.PushTelemetryResponse: ...
@overload
def decode(
    name: Literal["QuorumStateData"] | type[messages.QuorumStateData],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.QuorumStateData: ...
@overload
def decode(
    name: Literal["QuotaRecord"] | type[messages.QuotaRecord], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.QuotaRecord: ...
@overload
def decode(
    name: Literal["ReadShareGroupStateRequest"] | type[messages.ReadShareGroupStateRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ReadShareGroupStateRequest: ...
@overload
def decode(
    name: Literal["ReadShareGroupStateResponse"] | type[messages.ReadShareGroupStateResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ReadShareGroupStateResponse: ...
@overload
def decode(
    name: Literal["ReadShareGroupStateSummaryRequest"] | type[messages.ReadShareGroupStateSummaryRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ReadShareGroupStateSummaryRequest: ...
@overload
def decode(
    name: Literal["ReadShareGroupStateSummaryResponse"] | type[messages.ReadShareGroupStateSummaryResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ReadShareGroupStateSummaryResponse: ...
@overload
def decode(
    name: Literal["RegisterBrokerRecord"] | type[messages.RegisterBrokerRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RegisterBrokerRecord: ...
@overload
def decode(
    name: Literal["RegisterControllerRecord"] | type[messages.RegisterControllerRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RegisterControllerRecord: ...
@overload
def decode(
    name: Literal["RemoteLogSegmentMetadataRecord"] | type[messages.RemoteLogSegmentMetadataRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemoteLogSegmentMetadataRecord: ...
@overload
def decode(
    name: Literal["RemoteLogSegmentMetadataSnapshotRecord"] | type[messages.RemoteLogSegmentMetadataSnapshotRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemoteLogSegmentMetadataSnapshotRecord: ...
@overload
def decode(
    name: Literal["RemoteLogSegmentMetadataUpdateRecord"] | type[messages.RemoteLogSegmentMetadataUpdateRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemoteLogSegmentMetadataUpdateRecord: ...
@overload
def decode(
    name: Literal["RemotePartitionDeleteMetadataRecord"] | type[messages.RemotePartitionDeleteMetadataRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemotePartitionDeleteMetadataRecord: ...
@overload
def decode(
    name: Literal["RemoveAccessControlEntryRecord"] | type[messages.RemoveAccessControlEntryRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemoveAccessControlEntryRecord: ...
@overload
def decode(
    name: Literal["RemoveDelegationTokenRecord"] | type[messages.RemoveDelegationTokenRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemoveDelegationTokenRecord: ...
@overload
def decode(
    name: Literal["RemoveFeatureLevelRecord"] | type[messages.RemoveFeatureLevelRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemoveFeatureLevelRecord: ...
@overload
def decode(
    name: Literal["RemoveRaftVoterRequest"] | type[messages.RemoveRaftVoterRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemoveRaftVoterRequest: ...
@overload
def decode(
    name: Literal["RemoveRaftVoterResponse"] | type[messages.RemoveRaftVoterResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemoveRaftVoterResponse: ...
@overload
def decode(
    name: Literal["RemoveTopicRecord"] | type[messages.RemoveTopicRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemoveTopicRecord: ...
@overload
def decode(
    name: Literal["RemoveUserScramCredentialRecord"] | type[messages.RemoveUserScramCredentialRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RemoveUserScramCredentialRecord: ...
@overload
def decode(
    name: Literal["RenewDelegationTokenRequest"] | type[messages.RenewDelegationTokenRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RenewDelegationTokenRequest: ...
@overload
def decode(
    name: Literal["RenewDelegationTokenResponse"] | type[messages.RenewDelegationTokenResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.RenewDelegationTokenResponse: ...
@overload
def decode(
    name: Literal["RequestHeader"] | type[messages.RequestHeader], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RequestHeader: ...
@overload
def decode(
    name: Literal["ResponseHeader"] | type[messages.ResponseHeader],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ResponseHeader: ...
@overload
def decode(
    name: Literal["SaslAuthenticateRequest"] | type[messages.SaslAuthenticateRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.SaslAuthenticateRequest: ...
@overload
def decode(
    name: Literal["SaslAuthenticateResponse"] | type[messages.SaslAuthenticateResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.SaslAuthenticateResponse: ...
@overload
def decode(
    name: Literal["SaslHandshakeRequest"] | type[messages.SaslHandshakeRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.SaslHandshakeRequest: ...
@overload
def decode(
    name: Literal["SaslHandshakeResponse"] | type[messages.SaslHandshakeResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.SaslHandshakeResponse: ...
@overload
def decode(
    name: Literal["ShareAcknowledgeRequest"] | type[messages.ShareAcknowledgeRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareAcknowledgeRequest: ...
@overload
def decode(
    name: Literal["ShareAcknowledgeResponse"] | type[messages.ShareAcknowledgeResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareAcknowledgeResponse: ...
@overload
def decode(
    name: Literal["ShareFetchRequest"] | type[messages.ShareFetchRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareFetchRequest: ...
@overload
def decode(
    name: Literal["ShareFetchResponse"] | type[messages.ShareFetchResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareFetchResponse: ...
@overload
def decode(
    name: Literal["ShareGroupCurrentMemberAssignmentKey"] | type[messages.ShareGroupCurrentMemberAssignmentKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupCurrentMemberAssignmentKey: ...
@overload
def decode(
    name: Literal["ShareGroupCurrentMemberAssignmentValue"] | type[messages.ShareGroupCurrentMemberAssignmentValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupCurrentMemberAssignmentValue: ...
@overload
def decode(
    name: Literal["ShareGroupDescribeRequest"] | type[messages.ShareGroupDescribeRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupDescribeRequest: ...
@overload
def decode(
    name: Literal["ShareGroupDescribeResponse"] | type[messages.ShareGroupDescribeResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupDescribeResponse: ...
@overload
def decode(
    name: Literal["ShareGroupHeartbeatRequest"] | type[messages.ShareGroupHeartbeatRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupHeartbeatRequest: ...
@overload
def decode(
    name: Literal["ShareGroupHeartbeatResponse"] | type[messages.ShareGroupHeartbeatResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupHeartbeatResponse: ...
@overload
def decode(
    name: Literal["ShareGroupMemberMetadataKey"] | type[messages.ShareGroupMemberMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupMemberMetadataKey: ...
@overload
def decode(
    name: Literal["ShareGroupMemberMetadataValue"] | type[messages.ShareGroupMemberMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupMemberMetadataValue: ...
@overload
def decode(
    name: Literal["ShareGroupMetadataKey"] | type[messages.ShareGroupMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupMetadataKey: ...
@overload
def decode(
    name: Literal["ShareGroupMetadataValue"] | type[messages.ShareGroupMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupMetadataValue: ...
@overload
def decode(
    name: Literal["ShareGroupPartitionMetadataKey"] | type[messages.ShareGroupPartitionMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupPartitionMetadataKey: ...
@overload
def decode(
    name: Literal["ShareGroupPartitionMetadataValue"] | type[messages.ShareGroupPartitionMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupPartitionMetadataValue: ...
@overload
def decode(
    name: Literal["ShareGroupStatePartitionMetadataKey"] | type[messages.ShareGroupStatePartitionMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupStatePartitionMetadataKey: ...
@overload
def decode(
    name: Literal["ShareGroupStatePartitionMetadataValue"] | type[messages.ShareGroupStatePartitionMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupStatePartitionMetadataValue: ...
@overload
def decode(
    name: Literal["ShareGroupTargetAssignmentMemberKey"] | type[messages.ShareGroupTargetAssignmentMemberKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupTargetAssignmentMemberKey: ...
@overload
def decode(
    name: Literal["ShareGroupTargetAssignmentMemberValue"] | type[messages.ShareGroupTargetAssignmentMemberValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupTargetAssignmentMemberValue: ...
@overload
def decode(
    name: Literal["ShareGroupTargetAssignmentMetadataKey"] | type[messages.ShareGroupTargetAssignmentMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupTargetAssignmentMetadataKey: ...
@overload
def decode(
    name: Literal["ShareGroupTargetAssignmentMetadataValue"] | type[messages.ShareGroupTargetAssignmentMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareGroupTargetAssignmentMetadataValue: ...
@overload
def decode(
    name: Literal["ShareSnapshotKey"] | type[messages.ShareSnapshotKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareSnapshotKey: ...
@overload
def decode(
    name: Literal["ShareSnapshotValue"] | type[messages.ShareSnapshotValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareSnapshotValue: ...
@overload
def decode(
    name: Literal["ShareUpdateKey"] | type[messages.ShareUpdateKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareUpdateKey: ...
@overload
def decode(
    name: Literal["ShareUpdateValue"] | type[messages.ShareUpdateValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ShareUpdateValue: ...
@overload
def decode(
    name: Literal["SnapshotFooterRecord"] | type[messages.SnapshotFooterRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.SnapshotFooterRecord: ...
@overload
def decode(
    name: Literal["SnapshotHeaderRecord"] | type[messages.SnapshotHeaderRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.SnapshotHeaderRecord: ...
@overload
def decode(
    name: Literal["StopReplicaRequest"] | type[messages.StopReplicaRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StopReplicaRequest: ...
@overload
def decode(
    name: Literal["StopReplicaResponse"] | type[messages.StopReplicaResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StopReplicaResponse: ...
@overload
def decode(
    name: Literal["StreamsGroupCurrentMemberAssignmentKey"] | type[messages.StreamsGroupCurrentMemberAssignmentKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupCurrentMemberAssignmentKey: ...
@overload
def decode(
    name: Literal["StreamsGroupCurrentMemberAssignmentValue"] | type[messages.StreamsGroupCurrentMemberAssignmentValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupCurrentMemberAssignmentValue: ...
@overload
def decode(
    name: Literal["StreamsGroupDescribeRequest"] | type[messages.StreamsGroupDescribeRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupDescribeRequest: ...
@overload
def decode(
    name: Literal["StreamsGroupDescribeResponse"] | type[messages.StreamsGroupDescribeResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupDescribeResponse: ...
@overload
def decode(
    name: Literal["StreamsGroupHeartbeatRequest"] | type[messages.StreamsGroupHeartbeatRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupHeartbeatRequest: ...
@overload
def decode(
    name: Literal["StreamsGroupHeartbeatResponse"] | type[messages.StreamsGroupHeartbeatResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupHeartbeatResponse: ...
@overload
def decode(
    name: Literal["StreamsGroupMemberMetadataKey"] | type[messages.StreamsGroupMemberMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupMemberMetadataKey: ...
@overload
def decode(
    name: Literal["StreamsGroupMemberMetadataValue"] | type[messages.StreamsGroupMemberMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupMemberMetadataValue: ...
@overload
def decode(
    name: Literal["StreamsGroupMetadataKey"] | type[messages.StreamsGroupMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupMetadataKey: ...
@overload
def decode(
    name: Literal["StreamsGroupMetadataValue"] | type[messages.StreamsGroupMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupMetadataValue: ...
@overload
def decode(
    name: Literal["StreamsGroupTargetAssignmentMemberKey"] | type[messages.StreamsGroupTargetAssignmentMemberKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupTargetAssignmentMemberKey: ...
@overload
def decode(
    name: Literal["StreamsGroupTargetAssignmentMemberValue"] | type[messages.StreamsGroupTargetAssignmentMemberValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupTargetAssignmentMemberValue: ...
@overload
def decode(
    name: Literal["StreamsGroupTargetAssignmentMetadataKey"] | type[messages.StreamsGroupTargetAssignmentMetadataKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupTargetAssignmentMetadataKey: ...
@overload
def decode(
    name: Literal["StreamsGroupTargetAssignmentMetadataValue"] | type[messages.StreamsGroupTargetAssignmentMetadataValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupTargetAssignmentMetadataValue: ...
@overload
def decode(
    name: Literal["StreamsGroupTopologyDescriptionUpdateRequest"] | type[messages.StreamsGroupTopologyDescriptionUpdateRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupTopologyDescriptionUpdateRequest: ...
@overload
def decode(
    name: Literal["StreamsGroupTopologyDescriptionUpdateResponse"] | type[messages.StreamsGroupTopologyDescriptionUpdateResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupTopologyDescriptionUpdateResponse: ...
@overload
def decode(
    name: Literal["StreamsGroupTopologyKey"] | type[messages.StreamsGroupTopologyKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupTopologyKey: ...
@overload
def decode(
    name: Literal["StreamsGroupTopologyValue"] | type[messages.StreamsGroupTopologyValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupTopologyValue: ...
@overload
def decode(
    name: Literal["SyncGroupRequest"] | type[messages.SyncGroupRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.SyncGroupRequest: ...
@overload
def decode(
    name: Literal["SyncGroupResponse"] | type[messages.SyncGroupResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.SyncGroupResponse: ...
@overload
def decode(
    name: Literal["TopicRecord"] | type[messages.TopicRecord], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.TopicRecord: ...
@overload
def decode(
    name: Literal["TransactionLogKey"] | type[messages.TransactionLogKey],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.TransactionLogKey: ...
@overload
def decode(
    name: Literal["TransactionLogValue"] | type[messages.TransactionLogValue],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.TransactionLogValue: ...
@overload
def decode(
    name: Literal["TxnOffsetCommitRequest"] | type[messages.TxnOffsetCommitRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.TxnOffsetCommitRequest: ...
@overload
def decode(
    name: Literal["TxnOffsetCommitResponse"] | type[messages.TxnOffsetCommitResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.TxnOffsetCommitResponse: ...
@overload
def decode(
    name: Literal["UnfenceBrokerRecord"] | type[messages.UnfenceBrokerRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UnfenceBrokerRecord: ...
@overload
def decode(
    name: Literal["UnregisterBrokerRecord"] | type[messages.UnregisterBrokerRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UnregisterBrokerRecord: ...
@overload
def decode(
    name: Literal["UnregisterBrokerRequest"] | type[messages.UnregisterBrokerRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UnregisterBrokerRequest: ...
@overload
def decode(
    name: Literal["UnregisterBrokerResponse"] | type[messages.UnregisterBrokerResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UnregisterBrokerResponse: ...
@overload
def decode(
    name: Literal["UnregisterControllerRecord"] | type[messages.UnregisterControllerRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UnregisterControllerRecord: ...
@overload
def decode(
    name: Literal["UnregisterControllerRequest"] | type[messages.UnregisterControllerRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UnregisterControllerRequest: ...
@overload
def decode(
    name: Literal["UnregisterControllerResponse"] | type[messages.UnregisterControllerResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UnregisterControllerResponse: ...
@overload
def decode(
    name: Literal["UpdateFeaturesRequest"] | type[messages.UpdateFeaturesRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UpdateFeaturesRequest: ...
@overload
def decode(
    name: Literal["UpdateFeaturesResponse"] | type[messages.UpdateFeaturesResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UpdateFeaturesResponse: ...
@overload
def decode(
    name: Literal["UpdateMetadataRequest"] | type[messages.UpdateMetadataRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UpdateMetadataRequest: ...
@overload
def decode(
    name: Literal["UpdateMetadataResponse"] | type[messages.UpdateMetadataResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UpdateMetadataResponse: ...
@overload
def decode(
    name: Literal["UpdateRaftVoterRequest"] | type[messages.UpdateRaftVoterRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UpdateRaftVoterRequest: ...
@overload
def decode(
    name: Literal["UpdateRaftVoterResponse"] | type[messages.UpdateRaftVoterResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UpdateRaftVoterResponse: ...
@overload
def decode(
    name: Literal["UserScramCredentialRecord"] | type[messages.UserScramCredentialRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.UserScramCredentialRecord: ...
@overload
def decode(
    name: Literal["VoteRequest"] | type[messages.VoteRequest], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.VoteRequest: ...
@overload
def decode(
    name: Literal["VoteResponse"] | type[messages.VoteResponse], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.VoteResponse: ...
@overload
def decode(
    name: Literal["VotersRecord"] | type[messages.VotersRecord], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.VotersRecord: ...
@overload
def decode(
    name: Literal["WriteShareGroupStateRequest"] | type[messages.WriteShareGroupStateRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.WriteShareGroupStateRequest: ...
@overload
def decode(
    name: Literal["WriteShareGroupStateResponse"] | type[messages.WriteShareGroupStateResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.WriteShareGroupStateResponse: ...
@overload
def decode(
    name: Literal["WriteTxnMarkersRequest"] | type[messages.WriteTxnMarkersRequest],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.WriteTxnMarkersRequest: ...
@overload
def decode(
    name: Literal["WriteTxnMarkersResponse"] | type[messages.WriteTxnMarkersResponse],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.WriteTxnMarkersResponse: ...
@overload
def decode(
    name: Literal["ZkMigrationStateRecord"] | type[messages.ZkMigrationStateRecord],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.ZkMigrationStateRecord: ...
@overload
def decode(
    name: str | type, data: Buffer, version: int, *, fields: _Paths = None, strict: bool = True, memoryviews: bool = False
) -> Any: ...
@overload
def from_json(
    name: Literal["AbortTransactionRecord"] | type[messages.AbortTransactionRecord], obj: Any, version: int, *, source: None = None
) -> messages.AbortTransactionRecord: ...
@overload
def from_json(
    name: Literal["AbortedTxn"] | type[messages.AbortedTxn], obj: Any, version: int, *, source: None = None
) -> messages.AbortedTxn: ...
@overload
def from_json(
    name: Literal["AccessControlEntryRecord"] | type[messages.AccessControlEntryRecord], obj: Any, version: int, *, source: None = None
) -> messages.AccessControlEntryRecord: ...
@overload
def from_json(
    name: Literal["AccessControlRecord"] | type[messages.AccessControlRecord], obj: Any, version: int, *, source: None = None
) -> messages.AccessControlRecord: ...
@overload
def from_json(
    name: Literal["AddOffsetsToTxnRequest"] | type[messages.AddOffsetsToTxnRequest], obj: Any, version: int, *, source: None = None
) -> messages.AddOffsetsToTxnRequest: ...
@overload
def from_json(
    name: Literal["AddOffsetsToTxnResponse"] | type[messages.AddOffsetsToTxnResponse], obj: Any, version: int, *, source: None = None
) -> messages.AddOffsetsToTxnResponse: ...
@overload
def from_json(
    name: Literal["AddPartitionsToTxnRequest"] | type[messages.AddPartitionsToTxnRequest], obj: Any, version: int, *, source: None = None
) -> messages.AddPartitionsToTxnRequest: ...
@overload
def from_json(
    name: Literal["AddPartitionsToTxnResponse"] | type[messages.AddPartitionsToTxnResponse], obj: Any, version: int, *, source: None = None
) -> messages.AddPartitionsToTxnResponse: ...
@overload
def from_json(
    name: Literal["AddRaftVoterRequest"] | type[messages.AddRaftVoterRequest], obj: Any, version: int, *, source: None = None
) -> messages.AddRaftVoterRequest: ...
@overload
def from_json(
    name: Literal["AddRaftVoterResponse"] | type[messages.AddRaftVoterResponse], obj: Any, version: int, *, source: None = None
) -> messages.AddRaftVoterResponse: ...
@overload
def from_json(
    name: Literal["AllocateProducerIdsRequest"] | type[messages.AllocateProducerIdsRequest], obj: Any, version: int, *, source: None = None
) -> messages.AllocateProducerIdsRequest: ...
@overload
def from_json(
    name: Literal["AllocateProducerIdsResponse"] | type[messages.AllocateProducerIdsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.AllocateProducerIdsResponse: ...
@overload
def from_json(
    name: Literal["AlterClientQuotasRequest"] | type[messages.AlterClientQuotasRequest], obj: Any, version: int, *, source: None = None
) -> messages.AlterClientQuotasRequest: ...
@overload
def from_json(
    name: Literal["AlterClientQuotasResponse"] | type[messages.AlterClientQuotasResponse], obj: Any, version: int, *, source: None = None
) -> messages.AlterClientQuotasResponse: ...
@overload
def from_json(
    name: Literal["AlterConfigsRequest"] | type[messages.AlterConfigsRequest], obj: Any, version: int, *, source: None = None
) -> messages.AlterConfigsRequest: ...
@overload
def from_json(
    name: Literal["AlterConfigsResponse"] | type[messages.AlterConfigsResponse], obj: Any, version: int, *, source: None = None
) -> messages.AlterConfigsResponse: ...
@overload
def from_json(
    name: Literal["AlterIsrRequest"] | type[messages.AlterIsrRequest], obj: Any, version: int, *, source: None = None
) -> messages.AlterIsrRequest: ...
@overload
def from_json(
    name: Literal["AlterIsrResponse"] | type[messages.AlterIsrResponse], obj: Any, version: int, *, source: None = None
) -> messages.AlterIsrResponse: ...
@overload
def from_json(
    name: Literal["AlterPartitionReassignmentsRequest"] | type[messages.AlterPartitionReassignmentsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.AlterPartitionReassignmentsRequest: ...
@overload
def from_json(
    name: Literal["AlterPartitionReassignmentsResponse"] | type[messages.AlterPartitionReassignmentsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.AlterPartitionReassignmentsResponse: ...
@overload
def from_json(
    name: Literal["AlterPartitionRequest"] | type[messages.AlterPartitionRequest], obj: Any, version: int, *, source: None = None
) -> messages.AlterPartitionRequest: ...
@overload
def from_json(
    name: Literal["AlterPartitionResponse"] | type[messages.AlterPartitionResponse], obj: Any, version: int, *, source: None = None
) -> messages.AlterPartitionResponse: ...
@overload
def from_json(
    name: Literal["AlterReplicaLogDirsRequest"] | type[messages.AlterReplicaLogDirsRequest], obj: Any, version: int, *, source: None = None
) -> messages.AlterReplicaLogDirsRequest: ...
@overload
def from_json(
    name: Literal["AlterReplicaLogDirsResponse"] | type[messages.AlterReplicaLogDirsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.AlterReplicaLogDirsResponse: ...
@overload
def from_json(
    name: Literal["AlterShareGroupOffsetsRequest"] | type[messages.AlterShareGroupOffsetsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.AlterShareGroupOffsetsRequest: ...
@overload
def from_json(
    name: Literal["AlterShareGroupOffsetsResponse"] | type[messages.AlterShareGroupOffsetsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.AlterShareGroupOffsetsResponse: ...
@overload
def from_json(
    name: Literal["AlterUserScramCredentialsRequest"] | type[messages.AlterUserScramCredentialsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.AlterUserScramCredentialsRequest: ...
@overload
def from_json(
    name: Literal["AlterUserScramCredentialsResponse"] | type[messages.AlterUserScramCredentialsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.AlterUserScramCredentialsResponse: ...
@overload
def from_json(
    name: Literal["ApiVersionsRequest"] | type[messages.ApiVersionsRequest], obj: Any, version: int, *, source: None = None
) -> messages.ApiVersionsRequest: ...
@overload
def from_json(
    name: Literal["ApiVersionsResponse"] | type[messages.ApiVersionsResponse], obj: Any, version: int, *, source: None = None
) -> messages.ApiVersionsResponse: ...
@overload
def from_json(
    name: Literal["AssignReplicasToDirsRequest"] | type[messages.AssignReplicasToDirsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.AssignReplicasToDirsRequest: ...
@overload
def from_json(
    name: Literal["AssignReplicasToDirsResponse"] | type[messages.AssignReplicasToDirsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.AssignReplicasToDirsResponse: ...
@overload
def from_json(
    name: Literal["BeginQuorumEpochRequest"] | type[messages.BeginQuorumEpochRequest], obj: Any, version: int, *, source: None = None
) -> messages.BeginQuorumEpochRequest: ...
@overload
def from_json(
    name: Literal["BeginQuorumEpochResponse"] | type[messages.BeginQuorumEpochResponse], obj: Any, version: int, *, source: None = None
) -> messages.BeginQuorumEpochResponse: ...
@overload
def from_json(
    name: Literal["BeginTransactionRecord"] | type[messages.BeginTransactionRecord], obj: Any, version: int, *, source: None = None
) -> messages.BeginTransactionRecord: ...
@overload
def from_json(
    name: Literal["BrokerHeartbeatRequest"] | type[messages.BrokerHeartbeatRequest], obj: Any, version: int, *, source: None = None
) -> messages.BrokerHeartbeatRequest: ...
@overload
def from_json(
    name: Literal["BrokerHeartbeatResponse"] | type[messages.BrokerHeartbeatResponse], obj: Any, version: int, *, source: None = None
) -> messages.BrokerHeartbeatResponse: ...
@overload
def from_json(
    name: Literal["BrokerRegistrationChangeRecord"] | type[messages.BrokerRegistrationChangeRecord],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.BrokerRegistrationChangeRecord: ...
@overload
def from_json(
    name: Literal["BrokerRegistrationRequest"] | type[messages.BrokerRegistrationRequest], obj: Any, version: int, *, source: None = None
) -> messages.BrokerRegistrationRequest: ...
@overload
def from_json(
    name: Literal["BrokerRegistrationResponse"] | type[messages.BrokerRegistrationResponse], obj: Any, version: int, *, source: None = None
) -> messages.BrokerRegistrationResponse: ...
@overload
def from_json(
    name: Literal["ClearElrRecord"] | type[messages.ClearElrRecord], obj: Any, version: int, *, source: None = None
) -> messages.ClearElrRecord: ...
@overload
def from_json(
    name: Literal["ClientQuotaRecord"] | type[messages.ClientQuotaRecord], obj: Any, version: int, *, source: None = None
) -> messages.ClientQuotaRecord: ...
@overload
def from_json(
    name: Literal["ConfigRecord"] | type[messages.ConfigRecord], obj: Any, version: int, *, source: None = None
) -> messages.ConfigRecord: ...
@overload
def from_json(
    name: Literal["ConsumerGroupCurrentMemberAssignmentKey"] | type[messages.ConsumerGroupCurrentMemberAssignmentKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupCurrentMemberAssignmentKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupCurrentMemberAssignmentValue"] | type[messages.ConsumerGroupCurrentMemberAssignmentValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupCurrentMemberAssignmentValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupDescribeRequest"] | type[messages.ConsumerGroupDescribeRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupDescribeRequest: ...
@overload
def from_json(
    name: Literal["ConsumerGroupDescribeResponse"] | type[messages.ConsumerGroupDescribeResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupDescribeResponse: ...
@overload
def from_json(
    name: Literal["ConsumerGroupHeartbeatRequest"] | type[messages.ConsumerGroupHeartbeatRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupHeartbeatRequest: ...
@overload
def from_json(
    name: Literal["ConsumerGroupHeartbeatResponse"] | type[messages.ConsumerGroupHeartbeatResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupHeartbeatResponse: ...
@overload
def from_json(
    name: Literal["ConsumerGroupMemberMetadataKey"] | type[messages.ConsumerGroupMemberMetadataKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupMemberMetadataKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupMemberMetadataValue"] | type[messages.ConsumerGroupMemberMetadataValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupMemberMetadataValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupMetadataKey"] | type[messages.ConsumerGroupMetadataKey], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupMetadataKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupMetadataValue"] | type[messages.ConsumerGroupMetadataValue], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupMetadataValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupPartitionMetadataKey"] | type[messages.ConsumerGroupPartitionMetadataKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupPartitionMetadataKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupPartitionMetadataValue"] | type[messages.ConsumerGroupPartitionMetadataValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupPartitionMetadataValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupRegularExpressionKey"] | type[messages.ConsumerGroupRegularExpressionKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupRegularExpressionKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupRegularExpressionValue"] | type[messages.ConsumerGroupRegularExpressionValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupRegularExpressionValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupTargetAssignmentMemberKey"] | type[messages.ConsumerGroupTargetAssignmentMemberKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupTargetAssignmentMemberKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupTargetAssignmentMemberValue"] | type[messages.ConsumerGroupTargetAssignmentMemberValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupTargetAssignmentMemberValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupTargetAssignmentMetadataKey"] | type[messages.ConsumerGroupTargetAssignmentMetadataKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupTargetAssignmentMetadataKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupTargetAssignmentMetadataValue"] | type[messages.ConsumerGroupTargetAssignmentMetadataValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerGroupTargetAssignmentMetadataValue: ...
@overload
def from_json(
    name: Literal["ConsumerProtocolAssignment"] | type[messages.ConsumerProtocolAssignment], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerProtocolAssignment: ...
@overload
def from_json(
    name: Literal["ConsumerProtocolSubscription"] | type[messages.ConsumerProtocolSubscription],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ConsumerProtocolSubscription: ...
@overload
def from_json(
    name: Literal["ControlRecordTypeSchema"] | type[messages.ControlRecordTypeSchema], obj: Any, version: int, *, source: None = None
) -> messages.ControlRecordTypeSchema: ...
@overload
def from_json(
    name: Literal["ControlledShutdownRequest"] | type[messages.ControlledShutdownRequest], obj: Any, version: int, *, source: None = None
) -> messages.ControlledShutdownRequest: ...
@overload
def from_json(
    name: Literal["ControlledShutdownResponse"] | type[messages.ControlledShutdownResponse], obj: Any, version: int, *, source: None = None
) -> messages.ControlledShutdownResponse: ...
@overload
def from_json(
    name: Literal["ControllerRegistrationRequest"] | type[messages.ControllerRegistrationRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ControllerRegistrationRequest: ...
@overload
def from_json(
    name: Literal["ControllerRegistrationResponse"] | type[messages.ControllerRegistrationResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ControllerRegistrationResponse: ...
@overload
def from_json(
    name: Literal["CreateAclsRequest"] | type[messages.CreateAclsRequest], obj: Any, version: int, *, source: None = None
) -> messages.CreateAclsRequest: ...
@overload
def from_json(
    name: Literal["CreateAclsResponse"] | type[messages.CreateAclsResponse], obj: Any, version: int, *, source: None = None
) -> messages.CreateAclsResponse: ...
@overload
def from_json(
    name: Literal["CreateDelegationTokenRequest"] | type[messages.CreateDelegationTokenRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.CreateDelegationTokenRequest: ...
@overload
def from_json(
    name: Literal["CreateDelegationTokenResponse"] | type[messages.CreateDelegationTokenResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.CreateDelegationTokenResponse: ...
@overload
def from_json(
    name: Literal["CreatePartitionsRequest"] | type[messages.CreatePartitionsRequest], obj: Any, version: int, *, source: None = None
) -> messages.CreatePartitionsRequest: ...
@overload
def from_json(
    name: Literal["CreatePartitionsResponse"] | type[messages.CreatePartitionsResponse], obj: Any, version: int, *, source: None = None
) -> messages.CreatePartitionsResponse: ...
@overload
def from_json(
    name: Literal["CreateTopicsRequest"] | type[messages.CreateTopicsRequest], obj: Any, version: int, *, source: None = None
) -> messages.CreateTopicsRequest: ...
@overload
def from_json(
    name: Literal["CreateTopicsResponse"] | type[messages.CreateTopicsResponse], obj: Any, version: int, *, source: None = None
) -> messages.CreateTopicsResponse: ...
@overload
def from_json(
    name: Literal["DefaultPrincipalData"] | type[messages.DefaultPrincipalData], obj: Any, version: int, *, source: None = None
) -> messages.DefaultPrincipalData: ...
@overload
def from_json(
    name: Literal["DelegationTokenRecord"] | type[messages.DelegationTokenRecord], obj: Any, version: int, *, source: None = None
) -> messages.DelegationTokenRecord: ...
@overload
def from_json(
    name: Literal["DeleteAclsRequest"] | type[messages.DeleteAclsRequest], obj: Any, version: int, *, source: None = None
) -> messages.DeleteAclsRequest: ...
@overload
def from_json(
    name: Literal["DeleteAclsResponse"] | type[messages.DeleteAclsResponse], obj: Any, version: int, *, source: None = None
) -> messages.DeleteAclsResponse: ...
@overload
def from_json(
    name: Literal["DeleteGroupsRequest"] | type[messages.DeleteGroupsRequest], obj: Any, version: int, *, source: None = None
) -> messages.DeleteGroupsRequest: ...
@overload
def from_json(
    name: Literal["DeleteGroupsResponse"] | type[messages.DeleteGroupsResponse], obj: Any, version: int, *, source: None = None
) -> messages.DeleteGroupsResponse: ...
@overload
def from_json(
    name: Literal["DeleteRecordsRequest"] | type[messages.DeleteRecordsRequest], obj: Any, version: int, *, source: None = None
) -> messages.DeleteRecordsRequest: ...
@overload
def from_json(
    name: Literal["DeleteRecordsResponse"] | type[messages.DeleteRecordsResponse], obj: Any, version: int, *, source: None = None
) -> messages.DeleteRecordsResponse: ...
@overload
def from_json(
    name: Literal["DeleteShareGroupOffsetsRequest"] | type[messages.DeleteShareGroupOffsetsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DeleteShareGroupOffsetsRequest: ...
@overload
def from_json(
    name: Literal["DeleteShareGroupOffsetsResponse"] | type[messages.DeleteShareGroupOffsetsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DeleteShareGroupOffsetsResponse: ...
@overload
def from_json(
    name: Literal["DeleteShareGroupStateRequest"] | type[messages.DeleteShareGroupStateRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DeleteShareGroupStateRequest: ...
@overload
def from_json(
    name: Literal["DeleteShareGroupStateResponse"] | type[messages.DeleteShareGroupStateResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DeleteShareGroupStateResponse: ...
@overload
def from_json(
    name: Literal["DeleteTopicsRequest"] | type[messages.DeleteTopicsRequest], obj: Any, version: int, *, source: None = None
) -> messages.DeleteTopicsRequest: ...
@overload
def from_json(
    name: Literal["DeleteTopicsResponse"] | type[messages.DeleteTopicsResponse], obj: Any, version: int, *, source: None = None
) -> messages.DeleteTopicsResponse: ...
@overload
def from_json(
    name: Literal["DescribeAclsRequest"] | type[messages.DescribeAclsRequest], obj: Any, version: int, *, source: None = None
) -> messages.DescribeAclsRequest: ...
@overload
def from_json(
    name: Literal["DescribeAclsResponse"] | type[messages.DescribeAclsResponse], obj: Any, version: int, *, source: None = None
) -> messages.DescribeAclsResponse: ...
@overload
def from_json(
    name: Literal["DescribeClientQuotasRequest"] | type[messages.DescribeClientQuotasRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeClientQuotasRequest: ...
@overload
def from_json(
    name: Literal["DescribeClientQuotasResponse"] | type[messages.DescribeClientQuotasResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeClientQuotasResponse: ...
@overload
def from_json(
    name: Literal["DescribeClusterRequest"] | type[messages.DescribeClusterRequest], obj: Any, version: int, *, source: None = None
) -> messages.DescribeClusterRequest: ...
@overload
def from_json(
    name: Literal["DescribeClusterResponse"] | type[messages.DescribeClusterResponse], obj: Any, version: int, *, source: None = None
) -> messages.DescribeClusterResponse: ...
@overload
def from_json(
    name: Literal["DescribeConfigsRequest"] | type[messages.DescribeConfigsRequest], obj: Any, version: int, *, source: None = None
) -> messages.DescribeConfigsRequest: ...
@overload
def from_json(
    name: Literal["DescribeConfigsResponse"] | type[messages.DescribeConfigsResponse], obj: Any, version: int, *, source: None = None
) -> messages.DescribeConfigsResponse: ...
@overload
def from_json(
    name: Literal["DescribeDelegationTokenRequest"] | type[messages.DescribeDelegationTokenRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeDelegationTokenRequest: ...
@overload
def from_json(
    name: Literal["DescribeDelegationTokenResponse"] | type[messages.DescribeDelegationTokenResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeDelegationTokenResponse: ...
@overload
def from_json(
    name: Literal["DescribeGroupsRequest"] | type[messages.DescribeGroupsRequest], obj: Any, version: int, *, source: None = None
) -> messages.DescribeGroupsRequest: ...
@overload
def from_json(
    name: Literal["DescribeGroupsResponse"] | type[messages.DescribeGroupsResponse], obj: Any, version: int, *, source: None = None
) -> messages.DescribeGroupsResponse: ...
@overload
def from_json(
    name: Literal["DescribeLogDirsRequest"] | type[messages.DescribeLogDirsRequest], obj: Any, version: int, *, source: None = None
) -> messages.DescribeLogDirsRequest: ...
@overload
def from_json(
    name: Literal["DescribeLogDirsResponse"] | type[messages.DescribeLogDirsResponse], obj: Any, version: int, *, source: None = None
) -> messages.DescribeLogDirsResponse: ...
@overload
def from_json(
    name: Literal["DescribeProducersRequest"] | type[messages.DescribeProducersRequest], obj: Any, version: int, *, source: None = None
) -> messages.DescribeProducersRequest: ...
@overload
def from_json(
    name: Literal["DescribeProducersResponse"] | type[messages.DescribeProducersResponse], obj: Any, version: int, *, source: None = None
) -> messages.DescribeProducersResponse: ...
@overload
def from_json(
    name: Literal["DescribeQuorumRequest"] | type[messages.DescribeQuorumRequest], obj: Any, version: int, *, source: None = None
) -> messages.DescribeQuorumRequest: ...
@overload
def from_json(
    name: Literal["DescribeQuorumResponse"] | type[messages.DescribeQuorumResponse], obj: Any, version: int, *, source: None = None
) -> messages.DescribeQuorumResponse: ...
@overload
def from_json(
    name: Literal["DescribeShareGroupOffsetsRequest"] | type[messages.DescribeShareGroupOffsetsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeShareGroupOffsetsRequest: ...
@overload
def from_json(
    name: Literal["DescribeShareGroupOffsetsResponse"] | type[messages.DescribeShareGroupOffsetsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeShareGroupOffsetsResponse: ...
@overload
def from_json(
    name: Literal["DescribeTopicPartitionsRequest"] | type[messages.DescribeTopicPartitionsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeTopicPartitionsRequest: ...
@overload
def from_json(
    name: Literal["DescribeTopicPartitionsResponse"] | type[messages.DescribeTopicPartitionsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeTopicPartitionsResponse: ...
@overload
def from_json(
    name: Literal["DescribeTransactionsRequest"] | type[messages.DescribeTransactionsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeTransactionsRequest: ...
@overload
def from_json(
    name: Literal["DescribeTransactionsResponse"] | type[messages.DescribeTransactionsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeTransactionsResponse: ...
@overload
def from_json(
    name: Literal["DescribeUserScramCredentialsRequest"] | type[messages.DescribeUserScramCredentialsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeUserScramCredentialsRequest: ...
@overload
def from_json(
    name: Literal["DescribeUserScramCredentialsResponse"] | type[messages.DescribeUserScramCredentialsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.DescribeUserScramCredentialsResponse: ...
@overload
def from_json(
    name: Literal["ElectLeadersRequest"] | type[messages.ElectLeadersRequest], obj: Any, version: int, *, source: None = None
) -> messages.ElectLeadersRequest: ...
@overload
def from_json(
    name: Literal["ElectLeadersResponse"] | type[messages.ElectLeadersResponse], obj: Any, version: int, *, source: None = None
) -> messages.ElectLeadersResponse: ...
@overload
def from_json(
    name: Literal["ElectPreferredLeadersRequest"] | type[messages.ElectPreferredLeadersRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ElectPreferredLeadersRequest: ...
@overload
def from_json(
    name: Literal["ElectPreferredLeadersResponse"] | type[messages.ElectPreferredLeadersResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ElectPreferredLeadersResponse: ...
@overload
def from_json(
    name: Literal["EndQuorumEpochRequest"] | type[messages.EndQuorumEpochRequest], obj: Any, version: int, *, source: None = None
) -> messages.EndQuorumEpochRequest: ...
@overload
def from_json(
    name: Literal["EndQuorumEpochResponse"] | type[messages.EndQuorumEpochResponse], obj: Any, version: int, *, source: None = None
) -> messages.EndQuorumEpochResponse: ...
@overload
def from_json(
    name: Literal["EndTransactionRecord"] | type[messages.EndTransactionRecord], obj: Any, version: int, *, source: None = None
) -> messages.EndTransactionRecord: ...
@overload
def from_json(
    name: Literal["EndTxnMarker"] | type[messages.EndTxnMarker], obj: Any, version: int, *, source: None = None
) -> messages.EndTxnMarker: ...
@overload
def from_json(
    name: Literal["EndTxnRequest"] | type[messages.EndTxnRequest], obj: Any, version: int, *, source: None = None
) -> messages.EndTxnRequest: ...
@overload
def from_json(
    name: Literal["EndTxnResponse"] | type[messages.EndTxnResponse], obj: Any, version: int, *, source: None = None
) -> messages.EndTxnResponse: ...
@overload
def from_json(
    name: Literal["EnvelopeRequest"] | type[messages.EnvelopeRequest], obj: Any, version: int, *, source: None = None
) -> messages.EnvelopeRequest: ...
@overload
def from_json(
    name: Literal["EnvelopeResponse"] | type[messages.EnvelopeResponse], obj: Any, version: int, *, source: None = None
) -> messages.EnvelopeResponse: ...
@overload
def from_json(
    name: Literal["ExpireDelegationTokenRequest"] | type[messages.ExpireDelegationTokenRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ExpireDelegationTokenRequest: ...
@overload
def from_json(
    name: Literal["ExpireDelegationTokenResponse"] | type[messages.ExpireDelegationTokenResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ExpireDelegationTokenResponse: ...
@overload
def from_json(
    name: Literal["FeatureLevelRecord"] | type[messages.FeatureLevelRecord], obj: Any, version: int, *, source: None = None
) -> messages.FeatureLevelRecord: ...
@overload
def from_json(
    name: Literal["FenceBrokerRecord"] | type[messages.FenceBrokerRecord], obj: Any, version: int, *, source: None = None
) -> messages.FenceBrokerRecord: ...
@overload
def from_json(
    name: Literal["FetchRequest"] | type[messages.FetchRequest], obj: Any, version: int, *, source: None = None
) -> messages.FetchRequest: ...
@overload
def from_json(
    name: Literal["FetchResponse"] | type[messages.FetchResponse], obj: Any, version: int, *, source: None = None
) -> messages.FetchResponse: ...
@overload
def from_json(
    name: Literal["FetchSnapshotRequest"] | type[messages.FetchSnapshotRequest], obj: Any, version: int, *, source: None = None
) -> messages.FetchSnapshotRequest: ...
@overload
def from_json(
    name: Literal["FetchSnapshotResponse"] | type[messages.FetchSnapshotResponse], obj: Any, version: int, *, source: None = None
) -> messages.FetchSnapshotResponse: ...
@overload
def from_json(
    name: Literal["FindCoordinatorRequest"] | type[messages.FindCoordinatorRequest], obj: Any, version: int, *, source: None = None
) -> messages.FindCoordinatorRequest: ...
@overload
def from_json(
    name: Literal["FindCoordinatorResponse"] | type[messages.FindCoordinatorResponse], obj: Any, version: int, *, source: None = None
) -> messages.FindCoordinatorResponse: ...
@overload
def from_json(
    name: Literal["GetTelemetrySubscriptionsRequest"] | type[messages.GetTelemetrySubscriptionsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.GetTelemetrySubscriptionsRequest: ...
@overload
def from_json(
    name: Literal["GetTelemetrySubscriptionsResponse"] | type[messages.GetTelemetrySubscriptionsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.GetTelemetrySubscriptionsResponse: ...
@overload
def from_json(
    name: Literal["GroupMetadataKey"] | type[messages.GroupMetadataKey], obj: Any, version: int, *, source: None = None
) -> messages.GroupMetadataKey: ...
@overload
def from_json(
    name: Literal["GroupMetadataValue"] | type[messages.GroupMetadataValue], obj: Any, version: int, *, source: None = None
) -> messages.GroupMetadataValue: ...
@overload
def from_json(
    name: Literal["HeartbeatRequest"] | type[messages.HeartbeatRequest], obj: Any, version: int, *, source: None = None
) -> messages.HeartbeatRequest: ...
@overload
def from_json(
    name: Literal["HeartbeatResponse"] | type[messages.HeartbeatResponse], obj: Any, version: int, *, source: None = None
) -> messages.HeartbeatResponse: ...
@overload
def from_json(
    name: Literal["IncrementalAlterConfigsRequest"] | type[messages.IncrementalAlterConfigsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.IncrementalAlterConfigsRequest: ...
@overload
def from_json(
    name: Literal["IncrementalAlterConfigsResponse"] | type[messages.IncrementalAlterConfigsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.IncrementalAlterConfigsResponse: ...
@overload
def from_json(
    name: Literal["InitProducerIdRequest"] | type[messages.InitProducerIdRequest], obj: Any, version: int, *, source: None = None
) -> messages.InitProducerIdRequest: ...
@overload
def from_json(
    name: Literal["InitProducerIdResponse"] | type[messages.InitProducerIdResponse], obj: Any, version: int, *, source: None = None
) -> messages.InitProducerIdResponse: ...
@overload
def from_json(
    name: Literal["InitializeShareGroupStateRequest"] | type[messages.InitializeShareGroupStateRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.InitializeShareGroupStateRequest: ...
@overload
def from_json(
    name: Literal["InitializeShareGroupStateResponse"] | type[messages.InitializeShareGroupStateResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.InitializeShareGroupStateResponse: ...
@overload
def from_json(
    name: Literal["JoinGroupRequest"] | type[messages.JoinGroupRequest], obj: Any, version: int, *, source: None = None
) -> messages.JoinGroupRequest: ...
@overload
def from_json(
    name: Literal["JoinGroupResponse"] | type[messages.JoinGroupResponse], obj: Any, version: int, *, source: None = None
) -> messages.JoinGroupResponse: ...
@overload
def from_json(
    name: Literal["KRaftVersionRecord"] | type[messages.KRaftVersionRecord], obj: Any, version: int, *, source: None = None
) -> messages.KRaftVersionRecord: ...
@overload
def from_json(
    name: Literal["LeaderAndIsrRequest"] | type[messages.LeaderAndIsrRequest], obj: Any, version: int, *, source: None = None
) -> messages.LeaderAndIsrRequest: ...
@overload
def from_json(
    name: Literal["LeaderAndIsrResponse"] | type[messages.LeaderAndIsrResponse], obj: Any, version: int, *, source: None = None
) -> messages.LeaderAndIsrResponse: ...
@overload
def from_json(
    name: Literal["LeaderChangeMessage"] | type[messages.LeaderChangeMessage], obj: Any, version: int, *, source: None = None
) -> messages.LeaderChangeMessage: ...
@overload
def from_json(
    name: Literal["LeaveGroupRequest"] | type[messages.LeaveGroupRequest], obj: Any, version: int, *, source: None = None
) -> messages.LeaveGroupRequest: ...
@overload
def from_json(
    name: Literal["LeaveGroupResponse"] | type[messages.LeaveGroupResponse], obj: Any, version: int, *, source: None = None
) -> messages.LeaveGroupResponse: ...
@overload
def from_json(
    name: Literal["LegacyOffsetCommitKey"] | type[messages.LegacyOffsetCommitKey], obj: Any, version: int, *, source: None = None
) -> messages.LegacyOffsetCommitKey: ...
@overload
def from_json(
    name: Literal["LegacyOffsetCommitValue"] | type[messages.LegacyOffsetCommitValue], obj: Any, version: int, *, source: None = None
) -> messages.LegacyOffsetCommitValue: ...
@overload
def from_json(
    name: Literal["ListClientMetricsResourcesRequest"] | type[messages.ListClientMetricsResourcesRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ListClientMetricsResourcesRequest: ...
@overload
def from_json(
    name: Literal["ListClientMetricsResourcesResponse"] | type[messages.ListClientMetricsResourcesResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ListClientMetricsResourcesResponse: ...
@overload
def from_json(
    name: Literal["ListConfigResourcesRequest"] | type[messages.ListConfigResourcesRequest], obj: Any, version: int, *, source: None = None
) -> messages.ListConfigResourcesRequest: ...
@overload
def from_json(
    name: Literal["ListConfigResourcesResponse"] | type[messages.ListConfigResourcesResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ListConfigResourcesResponse: ...
@overload
def from_json(
    name: Literal["ListGroupsRequest"] | type[messages.ListGroupsRequest], obj: Any, version: int, *, source: None = None
) -> messages.ListGroupsRequest: ...
@overload
def from_json(
    name: Literal["ListGroupsResponse"] | type[messages.ListGroupsResponse], obj: Any, version: int, *, source: None = None
) -> messages.ListGroupsResponse: ...
@overload
def from_json(
    name: Literal["ListOffsetRequest"] | type[messages.ListOffsetRequest], obj: Any, version: int, *, source: None = None
) -> messages.ListOffsetRequest: ...
@overload
def from_json(
    name: Literal["ListOffsetResponse"] | type[messages.ListOffsetResponse], obj: Any, version: int, *, source: None = None
) -> messages.ListOffsetResponse: ...
@overload
def from_json(
    name: Literal["ListOffsetsRequest"] | type[messages.ListOffsetsRequest], obj: Any, version: int, *, source: None = None
) -> messages.ListOffsetsRequest: ...
@overload
def from_json(
    name: Literal["ListOffsetsResponse"] | type[messages.ListOffsetsResponse], obj: Any, version: int, *, source: None = None
) -> messages.ListOffsetsResponse: ...
@overload
def from_json(
    name: Literal["ListPartitionReassignmentsRequest"] | type[messages.ListPartitionReassignmentsRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ListPartitionReassignmentsRequest: ...
@overload
def from_json(
    name: Literal["ListPartitionReassignmentsResponse"] | type[messages.ListPartitionReassignmentsResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ListPartitionReassignmentsResponse: ...
@overload
def from_json(
    name: Literal["ListTransactionsRequest"] | type[messages.ListTransactionsRequest], obj: Any, version: int, *, source: None = None
) -> messages.ListTransactionsRequest: ...
@overload
def from_json(
    name: Literal["ListTransactionsResponse"] | type[messages.ListTransactionsResponse], obj: Any, version: int, *, source: None = None
) -> messages.ListTransactionsResponse: ...
@overload
def from_json(
    name: Literal["MetadataRequest"] | type[messages.MetadataRequest], obj: Any, version: int, *, source: None = None
) -> messages.MetadataRequest: ...
@overload
def from_json(
    name: Literal["MetadataResponse"] | type[messages.MetadataResponse], obj: Any, version: int, *, source: None = None
) -> messages.MetadataResponse: ...
@overload
def from_json(
    name: Literal["NoOpRecord"] | type[messages.NoOpRecord], obj: Any, version: int, *, source: None = None
) -> messages.NoOpRecord: ...
@overload
def from_json(
    name: Literal["OffsetCommitKey"] | type[messages.OffsetCommitKey], obj: Any, version: int, *, source: None = None
) -> messages.OffsetCommitKey: ...
@overload
def from_json(
    name: Literal["OffsetCommitRequest"] | type[messages.OffsetCommitRequest], obj: Any, version: int, *, source: None = None
) -> messages.OffsetCommitRequest: ...
@overload
def from_json(
    name: Literal["OffsetCommitResponse"] | type[messages.OffsetCommitResponse], obj: Any, version: int, *, source: None = None
) -> messages.OffsetCommitResponse: ...
@overload
def from_json(
    name: Literal["OffsetCommitValue"] | type[messages.OffsetCommitValue], obj: Any, version: int, *, source: None = None
) -> messages.OffsetCommitValue: ...
@overload
def from_json(
    name: Literal["OffsetDeleteRequest"] | type[messages.OffsetDeleteRequest], obj: Any, version: int, *, source: None = None
) -> messages.OffsetDeleteRequest: ...
@overload
def from_json(
    name: Literal["OffsetDeleteResponse"] | type[messages.OffsetDeleteResponse], obj: Any, version: int, *, source: None = None
) -> messages.OffsetDeleteResponse: ...
@overload
def from_json(
    name: Literal["OffsetFetchRequest"] | type[messages.OffsetFetchRequest], obj: Any, version: int, *, source: None = None
) -> messages.OffsetFetchRequest: ...
@overload
def from_json(
    name: Literal["OffsetFetchResponse"] | type[messages.OffsetFetchResponse], obj: Any, version: int, *, source: None = None
) -> messages.OffsetFetchResponse: ...
@overload
def from_json(
    name: Literal["OffsetForLeaderEpochRequest"] | type[messages.OffsetForLeaderEpochRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.OffsetForLeaderEpochRequest: ...
@overload
def from_json(
    name: Literal["OffsetForLeaderEpochResponse"] | type[messages.OffsetForLeaderEpochResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.OffsetForLeaderEpochResponse: ...
@overload
def from_json(
    name: Literal["PartitionChangeRecord"] | type[messages.PartitionChangeRecord], obj: Any, version: int, *, source: None = None
) -> messages.PartitionChangeRecord: ...
@overload
def from_json(
    name: Literal["PartitionRecord"] | type[messages.PartitionRecord], obj: Any, version: int, *, source: None = None
) -> messages.PartitionRecord: ...
@overload
def from_json(
    name: Literal["ProduceRequest"] | type[messages.ProduceRequest], obj: Any, version: int, *, source: None = None
) -> messages.ProduceRequest: ...
@overload
def from_json(
    name: Literal["ProduceResponse"] | type[messages.ProduceResponse], obj: Any, version: int, *, source: None = None
) -> messages.ProduceResponse: ...
@overload
def from_json(
    name: Literal["ProducerIdsRecord"] | type[messages.ProducerIdsRecord], obj: Any, version: int, *, source: None = None
) -> messages.ProducerIdsRecord: ...
@overload
def from_json(
    name: Literal["ProducerSnapshot"] | type[messages.ProducerSnapshot], obj: Any, version: int, *, source: None = None
) -> messages.ProducerSnapshot: ...
@overload
def from_json(
    name: Literal["PushTelemetryRequest"] | type[messages.PushTelemetryRequest], obj: Any, version: int, *, source: None = None
) -> messages.PushTelemetryRequest: ...
@overload
def from_json(
    name: Literal["PushTelemetryResponse"] | type[messages.PushTelemetryResponse], obj: Any, version: int, *, source: None = None
) -> messages.PushTelemetryResponse: ...
@overload
def from_json(
    name: Literal["QuorumStateData"] | type[messages.QuorumStateData], obj: Any, version: int, *, source: None = None
) -> messages.QuorumStateData: ...
@overload
def from_json(
    name: Literal["QuotaRecord"] | type[messages.QuotaRecord], obj: Any, version: int, *, source: None = None
) -> messages.QuotaRecord: ...
@overload
def from_json(
    name: Literal["ReadShareGroupStateRequest"] | type[messages.ReadShareGroupStateRequest], obj: Any, version: int, *, source: None = None
) -> messages.ReadShareGroupStateRequest: ...
@overload
def from_json(
    name: Literal["ReadShareGroupStateResponse"] | type[messages.ReadShareGroupStateResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ReadShareGroupStateResponse: ...
@overload
def from_json(
    name: Literal["ReadShareGroupStateSummaryRequest"] | type[messages.ReadShareGroupStateSummaryRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ReadShareGroupStateSummaryRequest: ...
@overload
def from_json(
    name: Literal["ReadShareGroupStateSummaryResponse"] | type[messages.ReadShareGroupStateSummaryResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ReadShareGroupStateSummaryResponse: ...
@overload
def from_json(
    name: Literal["RegisterBrokerRecord"] | type[messages.RegisterBrokerRecord], obj: Any, version: int, *, source: None = None
) -> messages.RegisterBrokerRecord: ...
@overload
def from_json(
    name: Literal["RegisterControllerRecord"] | type[messages.RegisterControllerRecord], obj: Any, version: int, *, source: None = None
) -> messages.RegisterControllerRecord: ...
@overload
def from_json(
    name: Literal["RemoteLogSegmentMetadataRecord"] | type[messages.RemoteLogSegmentMetadataRecord],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.RemoteLogSegmentMetadataRecord: ...
@overload
def from_json(
    name: Literal["RemoteLogSegmentMetadataSnapshotRecord"] | type[messages.RemoteLogSegmentMetadataSnapshotRecord],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.RemoteLogSegmentMetadataSnapshotRecord: ...
@overload
def from_json(
    name: Literal["RemoteLogSegmentMetadataUpdateRecord"] | type[messages.RemoteLogSegmentMetadataUpdateRecord],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.RemoteLogSegmentMetadataUpdateRecord: ...
@overload
def from_json(
    name: Literal["RemotePartitionDeleteMetadataRecord"] | type[messages.RemotePartitionDeleteMetadataRecord],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.RemotePartitionDeleteMetadataRecord: ...
@overload
def from_json(
    name: Literal["RemoveAccessControlEntryRecord"] | type[messages.RemoveAccessControlEntryRecord],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.RemoveAccessControlEntryRecord: ...
@overload
def from_json(
    name: Literal["RemoveDelegationTokenRecord"] | type[messages.RemoveDelegationTokenRecord],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.RemoveDelegationTokenRecord: ...
@overload
def from_json(
    name: Literal["RemoveFeatureLevelRecord"] | type[messages.RemoveFeatureLevelRecord], obj: Any, version: int, *, source: None = None
) -> messages.RemoveFeatureLevelRecord: ...
@overload
def from_json(
    name: Literal["RemoveRaftVoterRequest"] | type[messages.RemoveRaftVoterRequest], obj: Any, version: int, *, source: None = None
) -> messages.RemoveRaftVoterRequest: ...
@overload
def from_json(
    name: Literal["RemoveRaftVoterResponse"] | type[messages.RemoveRaftVoterResponse], obj: Any, version: int, *, source: None = None
) -> messages.RemoveRaftVoterResponse: ...
@overload
def from_json(
    name: Literal["RemoveTopicRecord"] | type[messages.RemoveTopicRecord], obj: Any, version: int, *, source: None = None
) -> messages.RemoveTopicRecord: ...
@overload
def from_json(
    name: Literal["RemoveUserScramCredentialRecord"] | type[messages.RemoveUserScramCredentialRecord],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.RemoveUserScramCredentialRecord: ...
@overload
def from_json(
    name: Literal["RenewDelegationTokenRequest"] | type[messages.RenewDelegationTokenRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.RenewDelegationTokenRequest: ...
@overload
def from_json(
    name: Literal["RenewDelegationTokenResponse"] | type[messages.RenewDelegationTokenResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.RenewDelegationTokenResponse: ...
@overload
def from_json(
    name: Literal["RequestHeader"] | type[messages.RequestHeader], obj: Any, version: int, *, source: None = None
) -> messages.RequestHeader: ...
@overload
def from_json(
    name: Literal["ResponseHeader"] | type[messages.ResponseHeader], obj: Any, version: int, *, source: None = None
) -> messages.ResponseHeader: ...
@overload
def from_json(
    name: Literal["SaslAuthenticateRequest"] | type[messages.SaslAuthenticateRequest], obj: Any, version: int, *, source: None = None
) -> messages.SaslAuthenticateRequest: ...
@overload
def from_json(
    name: Literal["SaslAuthenticateResponse"] | type[messages.SaslAuthenticateResponse], obj: Any, version: int, *, source: None = None
) -> messages.SaslAuthenticateResponse: ...
@overload
def from_json(
    name: Literal["SaslHandshakeRequest"] | type[messages.SaslHandshakeRequest], obj: Any, version: int, *, source: None = None
) -> messages.SaslHandshakeRequest: ...
@overload
def from_json(
    name: Literal["SaslHandshakeResponse"] | type[messages.SaslHandshakeResponse], obj: Any, version: int, *, source: None = None
) -> messages.SaslHandshakeResponse: ...
@overload
def from_json(
    name: Literal["ShareAcknowledgeRequest"] | type[messages.ShareAcknowledgeRequest], obj: Any, version: int, *, source: None = None
) -> messages.ShareAcknowledgeRequest: ...
@overload
def from_json(
    name: Literal["ShareAcknowledgeResponse"] | type[messages.ShareAcknowledgeResponse], obj: Any, version: int, *, source: None = None
) -> messages.ShareAcknowledgeResponse: ...
@overload
def from_json(
    name: Literal["ShareFetchRequest"] | type[messages.ShareFetchRequest], obj: Any, version: int, *, source: None = None
) -> messages.ShareFetchRequest: ...
@overload
def from_json(
    name: Literal["ShareFetchResponse"] | type[messages.ShareFetchResponse], obj: Any, version: int, *, source: None = None
) -> messages.ShareFetchResponse: ...
@overload
def from_json(
    name: Literal["ShareGroupCurrentMemberAssignmentKey"] | type[messages.ShareGroupCurrentMemberAssignmentKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupCurrentMemberAssignmentKey: ...
@overload
def from_json(
    name: Literal["ShareGroupCurrentMemberAssignmentValue"] | type[messages.ShareGroupCurrentMemberAssignmentValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupCurrentMemberAssignmentValue: ...
@overload
def from_json(
    name: Literal["ShareGroupDescribeRequest"] | type[messages.ShareGroupDescribeRequest], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupDescribeRequest: ...
@overload
def from_json(
    name: Literal["ShareGroupDescribeResponse"] | type[messages.ShareGroupDescribeResponse], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupDescribeResponse: ...
@overload
def from_json(
    name: Literal["ShareGroupHeartbeatRequest"] | type[messages.ShareGroupHeartbeatRequest], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupHeartbeatRequest: ...
@overload
def from_json(
    name: Literal["ShareGroupHeartbeatResponse"] | type[messages.ShareGroupHeartbeatResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupHeartbeatResponse: ...
@overload
def from_json(
    name: Literal["ShareGroupMemberMetadataKey"] | type[messages.ShareGroupMemberMetadataKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupMemberMetadataKey: ...
@overload
def from_json(
    name: Literal["ShareGroupMemberMetadataValue"] | type[messages.ShareGroupMemberMetadataValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupMemberMetadataValue: ...
@overload
def from_json(
    name: Literal["ShareGroupMetadataKey"] | type[messages.ShareGroupMetadataKey], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupMetadataKey: ...
@overload
def from_json(
    name: Literal["ShareGroupMetadataValue"] | type[messages.ShareGroupMetadataValue], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupMetadataValue: ...
@overload
def from_json(
    name: Literal["ShareGroupPartitionMetadataKey"] | type[messages.ShareGroupPartitionMetadataKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupPartitionMetadataKey: ...
@overload
def from_json(
    name: Literal["ShareGroupPartitionMetadataValue"] | type[messages.ShareGroupPartitionMetadataValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupPartitionMetadataValue: ...
@overload
def from_json(
    name: Literal["ShareGroupStatePartitionMetadataKey"] | type[messages.ShareGroupStatePartitionMetadataKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupStatePartitionMetadataKey: ...
@overload
def from_json(
    name: Literal["ShareGroupStatePartitionMetadataValue"] | type[messages.ShareGroupStatePartitionMetadataValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupStatePartitionMetadataValue: ...
@overload
def from_json(
    name: Literal["ShareGroupTargetAssignmentMemberKey"] | type[messages.ShareGroupTargetAssignmentMemberKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupTargetAssignmentMemberKey: ...
@overload
def from_json(
    name: Literal["ShareGroupTargetAssignmentMemberValue"] | type[messages.ShareGroupTargetAssignmentMemberValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupTargetAssignmentMemberValue: ...
@overload
def from_json(
    name: Literal["ShareGroupTargetAssignmentMetadataKey"] | type[messages.ShareGroupTargetAssignmentMetadataKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupTargetAssignmentMetadataKey: ...
@overload
def from_json(
    name: Literal["ShareGroupTargetAssignmentMetadataValue"] | type[messages.ShareGroupTargetAssignmentMetadataValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.ShareGroupTargetAssignmentMetadataValue: ...
@overload
def from_json(
    name: Literal["ShareSnapshotKey"] | type[messages.ShareSnapshotKey], obj: Any, version: int, *, source: None = None
) -> messages.ShareSnapshotKey: ...
@overload
def from_json(
    name: Literal["ShareSnapshotValue"] | type[messages.ShareSnapshotValue], obj: Any, version: int, *, source: None = None
) -> messages.ShareSnapshotValue: ...
@overload
def from_json(
    name: Literal["ShareUpdateKey"] | type[messages.ShareUpdateKey], obj: Any, version: int, *, source: None = None
) -> messages.ShareUpdateKey: ...
@overload
def from_json(
    name: Literal["ShareUpdateValue"] | type[messages.ShareUpdateValue], obj: Any, version: int, *, source: None = None
) -> messages.ShareUpdateValue: ...
@overload
def from_json(
    name: Literal["SnapshotFooterRecord"] | type[messages.SnapshotFooterRecord], obj: Any, version: int, *, source: None = None
) -> messages.SnapshotFooterRecord: ...
@overload
def from_json(
    name: Literal["SnapshotHeaderRecord"] | type[messages.SnapshotHeaderRecord], obj: Any, version: int, *, source: None = None
) -> messages.SnapshotHeaderRecord: ...
@overload
def from_json(
    name: Literal["StopReplicaRequest"] | type[messages.StopReplicaRequest], obj: Any, version: int, *, source: None = None
) -> messages.StopReplicaRequest: ...
@overload
def from_json(
    name: Literal["StopReplicaResponse"] | type[messages.StopReplicaResponse], obj: Any, version: int, *, source: None = None
) -> messages.StopReplicaResponse: ...
@overload
def from_json(
    name: Literal["StreamsGroupCurrentMemberAssignmentKey"] | type[messages.StreamsGroupCurrentMemberAssignmentKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupCurrentMemberAssignmentKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupCurrentMemberAssignmentValue"] | type[messages.StreamsGroupCurrentMemberAssignmentValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupCurrentMemberAssignmentValue: ...
@overload
def from_json(
    name: Literal["StreamsGroupDescribeRequest"] | type[messages.StreamsGroupDescribeRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupDescribeRequest: ...
@overload
def from_json(
    name: Literal["StreamsGroupDescribeResponse"] | type[messages.StreamsGroupDescribeResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupDescribeResponse: ...
@overload
def from_json(
    name: Literal["StreamsGroupHeartbeatRequest"] | type[messages.StreamsGroupHeartbeatRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupHeartbeatRequest: ...
@overload
def from_json(
    name: Literal["StreamsGroupHeartbeatResponse"] | type[messages.StreamsGroupHeartbeatResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupHeartbeatResponse: ...
@overload
def from_json(
    name: Literal["StreamsGroupMemberMetadataKey"] | type[messages.StreamsGroupMemberMetadataKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupMemberMetadataKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupMemberMetadataValue"] | type[messages.StreamsGroupMemberMetadataValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupMemberMetadataValue: ...
@overload
def from_json(
    name: Literal["StreamsGroupMetadataKey"] | type[messages.StreamsGroupMetadataKey], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupMetadataKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupMetadataValue"] | type[messages.StreamsGroupMetadataValue], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupMetadataValue: ...
@overload
def from_json(
    name: Literal["StreamsGroupTargetAssignmentMemberKey"] | type[messages.StreamsGroupTargetAssignmentMemberKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupTargetAssignmentMemberKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupTargetAssignmentMemberValue"] | type[messages.StreamsGroupTargetAssignmentMemberValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupTargetAssignmentMemberValue: ...
@overload
def from_json(
    name: Literal["StreamsGroupTargetAssignmentMetadataKey"] | type[messages.StreamsGroupTargetAssignmentMetadataKey],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupTargetAssignmentMetadataKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupTargetAssignmentMetadataValue"] | type[messages.StreamsGroupTargetAssignmentMetadataValue],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupTargetAssignmentMetadataValue: ...
@overload
def from_json(
    name: Literal["StreamsGroupTopologyDescriptionUpdateRequest"] | type[messages.StreamsGroupTopologyDescriptionUpdateRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupTopologyDescriptionUpdateRequest: ...
@overload
def from_json(
    name: Literal["StreamsGroupTopologyDescriptionUpdateResponse"] | type[messages.StreamsGroupTopologyDescriptionUpdateResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.StreamsGroupTopologyDescriptionUpdateResponse: ...
@overload
def from_json(
    name: Literal["StreamsGroupTopologyKey"] | type[messages.StreamsGroupTopologyKey], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupTopologyKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupTopologyValue"] | type[messages.StreamsGroupTopologyValue], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupTopologyValue: ...
@overload
def from_json(
    name: Literal["SyncGroupRequest"] | type[messages.SyncGroupRequest], obj: Any, version: int, *, source: None = None
) -> messages.SyncGroupRequest: ...
@overload
def from_json(
    name: Literal["SyncGroupResponse"] | type[messages.SyncGroupResponse], obj: Any, version: int, *, source: None = None
) -> messages.SyncGroupResponse: ...
@overload
def from_json(
    name: Literal["TopicRecord"] | type[messages.TopicRecord], obj: Any, version: int, *, source: None = None
) -> messages.TopicRecord: ...
@overload
def from_json(
    name: Literal["TransactionLogKey"] | type[messages.TransactionLogKey], obj: Any, version: int, *, source: None = None
) -> messages.TransactionLogKey: ...
@overload
def from_json(
    name: Literal["TransactionLogValue"] | type[messages.TransactionLogValue], obj: Any, version: int, *, source: None = None
) -> messages.TransactionLogValue: ...
@overload
def from_json(
    name: Literal["TxnOffsetCommitRequest"] | type[messages.TxnOffsetCommitRequest], obj: Any, version: int, *, source: None = None
) -> messages.TxnOffsetCommitRequest: ...
@overload
def from_json(
    name: Literal["TxnOffsetCommitResponse"] | type[messages.TxnOffsetCommitResponse], obj: Any, version: int, *, source: None = None
) -> messages.TxnOffsetCommitResponse: ...
@overload
def from_json(
    name: Literal["UnfenceBrokerRecord"] | type[messages.UnfenceBrokerRecord], obj: Any, version: int, *, source: None = None
) -> messages.UnfenceBrokerRecord: ...
@overload
def from_json(
    name: Literal["UnregisterBrokerRecord"] | type[messages.UnregisterBrokerRecord], obj: Any, version: int, *, source: None = None
) -> messages.UnregisterBrokerRecord: ...
@overload
def from_json(
    name: Literal["UnregisterBrokerRequest"] | type[messages.UnregisterBrokerRequest], obj: Any, version: int, *, source: None = None
) -> messages.UnregisterBrokerRequest: ...
@overload
def from_json(
    name: Literal["UnregisterBrokerResponse"] | type[messages.UnregisterBrokerResponse], obj: Any, version: int, *, source: None = None
) -> messages.UnregisterBrokerResponse: ...
@overload
def from_json(
    name: Literal["UnregisterControllerRecord"] | type[messages.UnregisterControllerRecord], obj: Any, version: int, *, source: None = None
) -> messages.UnregisterControllerRecord: ...
@overload
def from_json(
    name: Literal["UnregisterControllerRequest"] | type[messages.UnregisterControllerRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.UnregisterControllerRequest: ...
@overload
def from_json(
    name: Literal["UnregisterControllerResponse"] | type[messages.UnregisterControllerResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.UnregisterControllerResponse: ...
@overload
def from_json(
    name: Literal["UpdateFeaturesRequest"] | type[messages.UpdateFeaturesRequest], obj: Any, version: int, *, source: None = None
) -> messages.UpdateFeaturesRequest: ...
@overload
def from_json(
    name: Literal["UpdateFeaturesResponse"] | type[messages.UpdateFeaturesResponse], obj: Any, version: int, *, source: None = None
) -> messages.UpdateFeaturesResponse: ...
@overload
def from_json(
    name: Literal["UpdateMetadataRequest"] | type[messages.UpdateMetadataRequest], obj: Any, version: int, *, source: None = None
) -> messages.UpdateMetadataRequest: ...
@overload
def from_json(
    name: Literal["UpdateMetadataResponse"] | type[messages.UpdateMetadataResponse], obj: Any, version: int, *, source: None = None
) -> messages.UpdateMetadataResponse: ...
@overload
def from_json(
    name: Literal["UpdateRaftVoterRequest"] | type[messages.UpdateRaftVoterRequest], obj: Any, version: int, *, source: None = None
) -> messages.UpdateRaftVoterRequest: ...
@overload
def from_json(
    name: Literal["UpdateRaftVoterResponse"] | type[messages.UpdateRaftVoterResponse], obj: Any, version: int, *, source: None = None
) -> messages.UpdateRaftVoterResponse: ...
@overload
def from_json(
    name: Literal["UserScramCredentialRecord"] | type[messages.UserScramCredentialRecord], obj: Any, version: int, *, source: None = None
) -> messages.UserScramCredentialRecord: ...
@overload
def from_json(
    name: Literal["VoteRequest"] | type[messages.VoteRequest], obj: Any, version: int, *, source: None = None
) -> messages.VoteRequest: ...
@overload
def from_json(
    name: Literal["VoteResponse"] | type[messages.VoteResponse], obj: Any, version: int, *, source: None = None
) -> messages.VoteResponse: ...
@overload
def from_json(
    name: Literal["VotersRecord"] | type[messages.VotersRecord], obj: Any, version: int, *, source: None = None
) -> messages.VotersRecord: ...
@overload
def from_json(
    name: Literal["WriteShareGroupStateRequest"] | type[messages.WriteShareGroupStateRequest],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.WriteShareGroupStateRequest: ...
@overload
def from_json(
    name: Literal["WriteShareGroupStateResponse"] | type[messages.WriteShareGroupStateResponse],
    obj: Any,
    version: int,
    *,
    source: None = None,
) -> messages.WriteShareGroupStateResponse: ...
@overload
def from_json(
    name: Literal["WriteTxnMarkersRequest"] | type[messages.WriteTxnMarkersRequest], obj: Any, version: int, *, source: None = None
) -> messages.WriteTxnMarkersRequest: ...
@overload
def from_json(
    name: Literal["WriteTxnMarkersResponse"] | type[messages.WriteTxnMarkersResponse], obj: Any, version: int, *, source: None = None
) -> messages.WriteTxnMarkersResponse: ...
@overload
def from_json(
    name: Literal["ZkMigrationStateRecord"] | type[messages.ZkMigrationStateRecord], obj: Any, version: int, *, source: None = None
) -> messages.ZkMigrationStateRecord: ...
@overload
def from_json(name: str | type, obj: Any, version: int, *, source: CompiledCatalog | None = None) -> Any: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[0, ApiKey.PRODUCE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ProduceResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[1, ApiKey.FETCH], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.FetchResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[2, ApiKey.LIST_OFFSETS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ListOffsetsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[3, ApiKey.METADATA], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.MetadataResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[4, ApiKey.LEADER_AND_ISR], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.LeaderAndIsrResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[5, ApiKey.STOP_REPLICA], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.StopReplicaResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[6, ApiKey.UPDATE_METADATA], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.UpdateMetadataResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[7, ApiKey.CONTROLLED_SHUTDOWN], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ControlledShutdownResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[8, ApiKey.OFFSET_COMMIT], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.OffsetCommitResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[9, ApiKey.OFFSET_FETCH], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.OffsetFetchResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[10, ApiKey.FIND_COORDINATOR], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.FindCoordinatorResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[11, ApiKey.JOIN_GROUP], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.JoinGroupResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[12, ApiKey.HEARTBEAT], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.HeartbeatResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[13, ApiKey.LEAVE_GROUP], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.LeaveGroupResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[14, ApiKey.SYNC_GROUP], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.SyncGroupResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[15, ApiKey.DESCRIBE_GROUPS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeGroupsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[16, ApiKey.LIST_GROUPS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ListGroupsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[17, ApiKey.SASL_HANDSHAKE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.SaslHandshakeResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[18, ApiKey.API_VERSIONS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ApiVersionsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[19, ApiKey.CREATE_TOPICS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.CreateTopicsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[20, ApiKey.DELETE_TOPICS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DeleteTopicsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[21, ApiKey.DELETE_RECORDS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DeleteRecordsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[22, ApiKey.INIT_PRODUCER_ID], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.InitProducerIdResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[23, ApiKey.OFFSET_FOR_LEADER_EPOCH], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.OffsetForLeaderEpochResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[24, ApiKey.ADD_PARTITIONS_TO_TXN], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.AddPartitionsToTxnResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[25, ApiKey.ADD_OFFSETS_TO_TXN], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.AddOffsetsToTxnResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[26, ApiKey.END_TXN], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.EndTxnResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[27, ApiKey.WRITE_TXN_MARKERS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.WriteTxnMarkersResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[28, ApiKey.TXN_OFFSET_COMMIT], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.TxnOffsetCommitResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[29, ApiKey.DESCRIBE_ACLS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeAclsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[30, ApiKey.CREATE_ACLS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.CreateAclsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[31, ApiKey.DELETE_ACLS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DeleteAclsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[32, ApiKey.DESCRIBE_CONFIGS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeConfigsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[33, ApiKey.ALTER_CONFIGS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.AlterConfigsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[34, ApiKey.ALTER_REPLICA_LOG_DIRS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.AlterReplicaLogDirsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[35, ApiKey.DESCRIBE_LOG_DIRS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeLogDirsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[36, ApiKey.SASL_AUTHENTICATE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.SaslAuthenticateResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[37, ApiKey.CREATE_PARTITIONS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.CreatePartitionsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[38, ApiKey.CREATE_DELEGATION_TOKEN], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.CreateDelegationTokenResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[39, ApiKey.RENEW_DELEGATION_TOKEN], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.RenewDelegationTokenResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[40, ApiKey.EXPIRE_DELEGATION_TOKEN], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ExpireDelegationTokenResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[41, ApiKey.DESCRIBE_DELEGATION_TOKEN], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeDelegationTokenResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[42, ApiKey.DELETE_GROUPS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DeleteGroupsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[43, ApiKey.ELECT_LEADERS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ElectLeadersResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[44, ApiKey.INCREMENTAL_ALTER_CONFIGS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.IncrementalAlterConfigsResponse]: ...
@overload
def decode_response(
    frame: Buffer,
    api_key: Literal[45, ApiKey.ALTER_PARTITION_REASSIGNMENTS],
    api_version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> Response[messages.AlterPartitionReassignmentsResponse]: ...
@overload
def decode_response(
    frame: Buffer,
    api_key: Literal[46, ApiKey.LIST_PARTITION_REASSIGNMENTS],
    api_version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> Response[messages.ListPartitionReassignmentsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[47, ApiKey.OFFSET_DELETE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.OffsetDeleteResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[48, ApiKey.DESCRIBE_CLIENT_QUOTAS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeClientQuotasResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[49, ApiKey.ALTER_CLIENT_QUOTAS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.AlterClientQuotasResponse]: ...
@overload
def decode_response(
    frame: Buffer,
    api_key: Literal[50, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS],
    api_version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> Response[messages.DescribeUserScramCredentialsResponse]: ...
@overload
def decode_response(
    frame: Buffer,
    api_key: Literal[51, ApiKey.ALTER_USER_SCRAM_CREDENTIALS],
    api_version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> Response[messages.AlterUserScramCredentialsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[52, ApiKey.VOTE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.VoteResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[53, ApiKey.BEGIN_QUORUM_EPOCH], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.BeginQuorumEpochResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[54, ApiKey.END_QUORUM_EPOCH], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.EndQuorumEpochResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[55, ApiKey.DESCRIBE_QUORUM], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeQuorumResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[56, ApiKey.ALTER_PARTITION], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.AlterPartitionResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[57, ApiKey.UPDATE_FEATURES], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.UpdateFeaturesResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[58, ApiKey.ENVELOPE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.EnvelopeResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[59, ApiKey.FETCH_SNAPSHOT], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.FetchSnapshotResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[60, ApiKey.DESCRIBE_CLUSTER], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeClusterResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[61, ApiKey.DESCRIBE_PRODUCERS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeProducersResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[62, ApiKey.BROKER_REGISTRATION], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.BrokerRegistrationResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[63, ApiKey.BROKER_HEARTBEAT], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.BrokerHeartbeatResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[64, ApiKey.UNREGISTER_BROKER], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.UnregisterBrokerResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[65, ApiKey.DESCRIBE_TRANSACTIONS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeTransactionsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[66, ApiKey.LIST_TRANSACTIONS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ListTransactionsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[67, ApiKey.ALLOCATE_PRODUCER_IDS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.AllocateProducerIdsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[68, ApiKey.CONSUMER_GROUP_HEARTBEAT], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ConsumerGroupHeartbeatResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[69, ApiKey.CONSUMER_GROUP_DESCRIBE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ConsumerGroupDescribeResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[70, ApiKey.CONTROLLER_REGISTRATION], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ControllerRegistrationResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[71, ApiKey.GET_TELEMETRY_SUBSCRIPTIONS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.GetTelemetrySubscriptionsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[72, ApiKey.PUSH_TELEMETRY], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.PushTelemetryResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[73, ApiKey.ASSIGN_REPLICAS_TO_DIRS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.AssignReplicasToDirsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[74, ApiKey.LIST_CONFIG_RESOURCES], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ListConfigResourcesResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[75, ApiKey.DESCRIBE_TOPIC_PARTITIONS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DescribeTopicPartitionsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[76, ApiKey.SHARE_GROUP_HEARTBEAT], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ShareGroupHeartbeatResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[77, ApiKey.SHARE_GROUP_DESCRIBE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ShareGroupDescribeResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[78, ApiKey.SHARE_FETCH], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ShareFetchResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[79, ApiKey.SHARE_ACKNOWLEDGE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ShareAcknowledgeResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[80, ApiKey.ADD_RAFT_VOTER], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.AddRaftVoterResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[81, ApiKey.REMOVE_RAFT_VOTER], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.RemoveRaftVoterResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[82, ApiKey.UPDATE_RAFT_VOTER], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.UpdateRaftVoterResponse]: ...
@overload
def decode_response(
    frame: Buffer,
    api_key: Literal[83, ApiKey.INITIALIZE_SHARE_GROUP_STATE],
    api_version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> Response[messages.InitializeShareGroupStateResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[84, ApiKey.READ_SHARE_GROUP_STATE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.ReadShareGroupStateResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[85, ApiKey.WRITE_SHARE_GROUP_STATE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.WriteShareGroupStateResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[86, ApiKey.DELETE_SHARE_GROUP_STATE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DeleteShareGroupStateResponse]: ...
@overload
def decode_response(
    frame: Buffer,
    api_key: Literal[87, ApiKey.READ_SHARE_GROUP_STATE_SUMMARY],
    api_version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> Response[messages.ReadShareGroupStateSummaryResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[88, ApiKey.STREAMS_GROUP_HEARTBEAT], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.StreamsGroupHeartbeatResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[89, ApiKey.STREAMS_GROUP_DESCRIBE], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.StreamsGroupDescribeResponse]: ...
@overload
def decode_response(
    frame: Buffer,
    api_key: Literal[90, ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS],
    api_version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> Response[messages.DescribeShareGroupOffsetsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[91, ApiKey.ALTER_SHARE_GROUP_OFFSETS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.AlterShareGroupOffsetsResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[92, ApiKey.DELETE_SHARE_GROUP_OFFSETS], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.DeleteShareGroupOffsetsResponse]: ...
@overload
def decode_response(
    frame: Buffer,
    api_key: Literal[93, ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE],
    api_version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> Response[messages.StreamsGroupTopologyDescriptionUpdateResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: Literal[94, ApiKey.UNREGISTER_CONTROLLER], api_version: int, *, fields: _Paths = None, strict: _Yes = True
) -> Response[messages.UnregisterControllerResponse]: ...
@overload
def decode_response(
    frame: Buffer, api_key: int, api_version: int, *, fields: _Paths = None, strict: bool = True, memoryviews: bool = False
) -> Response[Any]: ...
