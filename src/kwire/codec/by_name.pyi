# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

from typing_extensions import Buffer

from kwire import messages
from kwire.codec.classes import CompiledCatalog

_Paths: TypeAlias = Sequence[str] | None
_Yes: TypeAlias = Literal[True]

@overload
def decode(
    name: Literal["AbortTransactionRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AbortTransactionRecord: ...
@overload
def decode(
    name: Literal["AbortedTxn"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AbortedTxn: ...
@overload
def decode(
    name: Literal["AccessControlEntryRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AccessControlEntryRecord: ...
@overload
def decode(
    name: Literal["AccessControlRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AccessControlRecord: ...
@overload
def decode(
    name: Literal["AddOffsetsToTxnRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AddOffsetsToTxnRequest: ...
@overload
def decode(
    name: Literal["AddOffsetsToTxnResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AddOffsetsToTxnResponse: ...
@overload
def decode(
    name: Literal["AddPartitionsToTxnRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AddPartitionsToTxnRequest: ...
@overload
def decode(
    name: Literal["AddPartitionsToTxnResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AddPartitionsToTxnResponse: ...
@overload
def decode(
    name: Literal["AddRaftVoterRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AddRaftVoterRequest: ...
@overload
def decode(
    name: Literal["AddRaftVoterResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AddRaftVoterResponse: ...
@overload
def decode(
    name: Literal["AllocateProducerIdsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AllocateProducerIdsRequest: ...
@overload
def decode(
    name: Literal["AllocateProducerIdsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AllocateProducerIdsResponse: ...
@overload
def decode(
    name: Literal["AlterClientQuotasRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterClientQuotasRequest: ...
@overload
def decode(
    name: Literal["AlterClientQuotasResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterClientQuotasResponse: ...
@overload
def decode(
    name: Literal["AlterConfigsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterConfigsRequest: ...
@overload
def decode(
    name: Literal["AlterConfigsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterConfigsResponse: ...
@overload
def decode(
    name: Literal["AlterIsrRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterIsrRequest: ...
@overload
def decode(
    name: Literal["AlterIsrResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterIsrResponse: ...
@overload
def decode(
    name: Literal["AlterPartitionReassignmentsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterPartitionReassignmentsRequest: ...
@overload
def decode(
    name: Literal["AlterPartitionReassignmentsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterPartitionReassignmentsResponse: ...
@overload
def decode(
    name: Literal["AlterPartitionRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterPartitionRequest: ...
@overload
def decode(
    name: Literal["AlterPartitionResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterPartitionResponse: ...
@overload
def decode(
    name: Literal["AlterReplicaLogDirsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterReplicaLogDirsRequest: ...
@overload
def decode(
    name: Literal["AlterReplicaLogDirsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterReplicaLogDirsResponse: ...
@overload
def decode(
    name: Literal["AlterShareGroupOffsetsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterShareGroupOffsetsRequest: ...
@overload
def decode(
    name: Literal["AlterShareGroupOffsetsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterShareGroupOffsetsResponse: ...
@overload
def decode(
    name: Literal["AlterUserScramCredentialsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterUserScramCredentialsRequest: ...
@overload
def decode(
    name: Literal["AlterUserScramCredentialsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AlterUserScramCredentialsResponse: ...
@overload
def decode(
    name: Literal["ApiVersionsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ApiVersionsRequest: ...
@overload
def decode(
    name: Literal["ApiVersionsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ApiVersionsResponse: ...
@overload
def decode(
    name: Literal["AssignReplicasToDirsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AssignReplicasToDirsRequest: ...
@overload
def decode(
    name: Literal["AssignReplicasToDirsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.AssignReplicasToDirsResponse: ...
@overload
def decode(
    name: Literal["BeginQuorumEpochRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.BeginQuorumEpochRequest: ...
@overload
def decode(
    name: Literal["BeginQuorumEpochResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.BeginQuorumEpochResponse: ...
@overload
def decode(
    name: Literal["BeginTransactionRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.BeginTransactionRecord: ...
@overload
def decode(
    name: Literal["BrokerHeartbeatRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.BrokerHeartbeatRequest: ...
@overload
def decode(
    name: Literal["BrokerHeartbeatResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.BrokerHeartbeatResponse: ...
@overload
def decode(
    name: Literal["BrokerRegistrationChangeRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.BrokerRegistrationChangeRecord: ...
@overload
def decode(
    name: Literal["BrokerRegistrationRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.BrokerRegistrationRequest: ...
@overload
def decode(
    name: Literal["BrokerRegistrationResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.BrokerRegistrationResponse: ...
@overload
def decode(
    name: Literal["ClearElrRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ClearElrRecord: ...
@overload
def decode(
    name: Literal["ClientQuotaRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ClientQuotaRecord: ...
@overload
def decode(
    name: Literal["ConfigRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConfigRecord: ...
@overload
def decode(
    name: Literal["ConsumerGroupCurrentMemberAssignmentKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupCurrentMemberAssignmentKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupCurrentMemberAssignmentValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupCurrentMemberAssignmentValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupDescribeRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupDescribeRequest: ...
@overload
def decode(
    name: Literal["ConsumerGroupDescribeResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupDescribeResponse: ...
@overload
def decode(
    name: Literal["ConsumerGroupHeartbeatRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupHeartbeatRequest: ...
@overload
def decode(
    name: Literal["ConsumerGroupHeartbeatResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupHeartbeatResponse: ...
@overload
def decode(
    name: Literal["ConsumerGroupMemberMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupMemberMetadataKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupMemberMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupMemberMetadataValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupMetadataKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupMetadataValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupPartitionMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupPartitionMetadataKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupPartitionMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupPartitionMetadataValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupRegularExpressionKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupRegularExpressionKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupRegularExpressionValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupRegularExpressionValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupTargetAssignmentMemberKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupTargetAssignmentMemberKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupTargetAssignmentMemberValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupTargetAssignmentMemberValue: ...
@overload
def decode(
    name: Literal["ConsumerGroupTargetAssignmentMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupTargetAssignmentMetadataKey: ...
@overload
def decode(
    name: Literal["ConsumerGroupTargetAssignmentMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerGroupTargetAssignmentMetadataValue: ...
@overload
def decode(
    name: Literal["ConsumerProtocolAssignment"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerProtocolAssignment: ...
@overload
def decode(
    name: Literal["ConsumerProtocolSubscription"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ConsumerProtocolSubscription: ...
@overload
def decode(
    name: Literal["ControlRecordTypeSchema"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ControlRecordTypeSchema: ...
@overload
def decode(
    name: Literal["ControlledShutdownRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ControlledShutdownRequest: ...
@overload
def decode(
    name: Literal["ControlledShutdownResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ControlledShutdownResponse: ...
@overload
def decode(
    name: Literal["ControllerRegistrationRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ControllerRegistrationRequest: ...
@overload
def decode(
    name: Literal["ControllerRegistrationResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ControllerRegistrationResponse: ...
@overload
def decode(
    name: Literal["CreateAclsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.CreateAclsRequest: ...
@overload
def decode(
    name: Literal["CreateAclsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.CreateAclsResponse: ...
@overload
def decode(
    name: Literal["CreateDelegationTokenRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.CreateDelegationTokenRequest: ...
@overload
def decode(
    name: Literal["CreateDelegationTokenResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.CreateDelegationTokenResponse: ...
@overload
def decode(
    name: Literal["CreatePartitionsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.CreatePartitionsRequest: ...
@overload
def decode(
    name: Literal["CreatePartitionsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.CreatePartitionsResponse: ...
@overload
def decode(
    name: Literal["CreateTopicsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.CreateTopicsRequest: ...
@overload
def decode(
    name: Literal["CreateTopicsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.CreateTopicsResponse: ...
@overload
def decode(
    name: Literal["DefaultPrincipalData"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DefaultPrincipalData: ...
@overload
def decode(
    name: Literal["DelegationTokenRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DelegationTokenRecord: ...
@overload
def decode(
    name: Literal["DeleteAclsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteAclsRequest: ...
@overload
def decode(
    name: Literal["DeleteAclsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteAclsResponse: ...
@overload
def decode(
    name: Literal["DeleteGroupsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteGroupsRequest: ...
@overload
def decode(
    name: Literal["DeleteGroupsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteGroupsResponse: ...
@overload
def decode(
    name: Literal["DeleteRecordsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteRecordsRequest: ...
@overload
def decode(
    name: Literal["DeleteRecordsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteRecordsResponse: ...
@overload
def decode(
    name: Literal["DeleteShareGroupOffsetsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteShareGroupOffsetsRequest: ...
@overload
def decode(
    name: Literal["DeleteShareGroupOffsetsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteShareGroupOffsetsResponse: ...
@overload
def decode(
    name: Literal["DeleteShareGroupStateRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteShareGroupStateRequest: ...
@overload
def decode(
    name: Literal["DeleteShareGroupStateResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteShareGroupStateResponse: ...
@overload
def decode(
    name: Literal["DeleteTopicsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteTopicsRequest: ...
@overload
def decode(
    name: Literal["DeleteTopicsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DeleteTopicsResponse: ...
@overload
def decode(
    name: Literal["DescribeAclsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeAclsRequest: ...
@overload
def decode(
    name: Literal["DescribeAclsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeAclsResponse: ...
@overload
def decode(
    name: Literal["DescribeClientQuotasRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeClientQuotasRequest: ...
@overload
def decode(
    name: Literal["DescribeClientQuotasResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeClientQuotasResponse: ...
@overload
def decode(
    name: Literal["DescribeClusterRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeClusterRequest: ...
@overload
def decode(
    name: Literal["DescribeClusterResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeClusterResponse: ...
@overload
def decode(
    name: Literal["DescribeConfigsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeConfigsRequest: ...
@overload
def decode(
    name: Literal["DescribeConfigsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeConfigsResponse: ...
@overload
def decode(
    name: Literal["DescribeDelegationTokenRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeDelegationTokenRequest: ...
@overload
def decode(
    name: Literal["DescribeDelegationTokenResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeDelegationTokenResponse: ...
@overload
def decode(
    name: Literal["DescribeGroupsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeGroupsRequest: ...
@overload
def decode(
    name: Literal["DescribeGroupsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeGroupsResponse: ...
@overload
def decode(
    name: Literal["DescribeLogDirsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeLogDirsRequest: ...
@overload
def decode(
    name: Literal["DescribeLogDirsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeLogDirsResponse: ...
@overload
def decode(
    name: Literal["DescribeProducersRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeProducersRequest: ...
@overload
def decode(
    name: Literal["DescribeProducersResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeProducersResponse: ...
@overload
def decode(
    name: Literal["DescribeQuorumRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeQuorumRequest: ...
@overload
def decode(
    name: Literal["DescribeQuorumResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeQuorumResponse: ...
@overload
def decode(
    name: Literal["DescribeShareGroupOffsetsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeShareGroupOffsetsRequest: ...
@overload
def decode(
    name: Literal["DescribeShareGroupOffsetsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeShareGroupOffsetsResponse: ...
@overload
def decode(
    name: Literal["DescribeTopicPartitionsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeTopicPartitionsRequest: ...
@overload
def decode(
    name: Literal["DescribeTopicPartitionsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeTopicPartitionsResponse: ...
@overload
def decode(
    name: Literal["DescribeTransactionsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeTransactionsRequest: ...
@overload
def decode(
    name: Literal["DescribeTransactionsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeTransactionsResponse: ...
@overload
def decode(
    name: Literal["DescribeUserScramCredentialsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeUserScramCredentialsRequest: ...
@overload
def decode(
    name: Literal["DescribeUserScramCredentialsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.DescribeUserScramCredentialsResponse: ...
@overload
def decode(
    name: Literal["ElectLeadersRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ElectLeadersRequest: ...
@overload
def decode(
    name: Literal["ElectLeadersResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ElectLeadersResponse: ...
@overload
def decode(
    name: Literal["ElectPreferredLeadersRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ElectPreferredLeadersRequest: ...
@overload
def decode(
    name: Literal["ElectPreferredLeadersResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ElectPreferredLeadersResponse: ...
@overload
def decode(
    name: Literal["EndQuorumEpochRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.EndQuorumEpochRequest: ...
@overload
def decode(
    name: Literal["EndQuorumEpochResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.EndQuorumEpochResponse: ...
@overload
def decode(
    name: Literal["EndTransactionRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.EndTransactionRecord: ...
@overload
def decode(
    name: Literal["EndTxnMarker"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.EndTxnMarker: ...
@overload
def decode(
    name: Literal["EndTxnRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.EndTxnRequest: ...
@overload
def decode(
    name: Literal["EndTxnResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.EndTxnResponse: ...
@overload
def decode(
    name: Literal["EnvelopeRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.EnvelopeRequest: ...
@overload
def decode(
    name: Literal["EnvelopeResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.EnvelopeResponse: ...
@overload
def decode(
    name: Literal["ExpireDelegationTokenRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ExpireDelegationTokenRequest: ...
@overload
def decode(
    name: Literal["ExpireDelegationTokenResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ExpireDelegationTokenResponse: ...
@overload
def decode(
    name: Literal["FeatureLevelRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.FeatureLevelRecord: ...
@overload
def decode(
    name: Literal["FenceBrokerRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.FenceBrokerRecord: ...
@overload
def decode(
    name: Literal["FetchRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.FetchRequest: ...
@overload
def decode(
    name: Literal["FetchResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.FetchResponse: ...
@overload
def decode(
    name: Literal["FetchSnapshotRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.FetchSnapshotRequest: ...
@overload
def decode(
    name: Literal["FetchSnapshotResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.FetchSnapshotResponse: ...
@overload
def decode(
    name: Literal["FindCoordinatorRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.FindCoordinatorRequest: ...
@overload
def decode(
    name: Literal["FindCoordinatorResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.FindCoordinatorResponse: ...
@overload
def decode(
    name: Literal["GetTelemetrySubscriptionsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.GetTelemetrySubscriptionsRequest: ...
@overload
def decode(
    name: Literal["GetTelemetrySubscriptionsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.GetTelemetrySubscriptionsResponse: ...
@overload
def decode(
    name: Literal["GroupMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.GroupMetadataKey: ...
@overload
def decode(
    name: Literal["GroupMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.GroupMetadataValue: ...
@overload
def decode(
    name: Literal["HeartbeatRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.HeartbeatRequest: ...
@overload
def decode(
    name: Literal["HeartbeatResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.HeartbeatResponse: ...
@overload
def decode(
    name: Literal["IncrementalAlterConfigsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.IncrementalAlterConfigsRequest: ...
@overload
def decode(
    name: Literal["IncrementalAlterConfigsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.IncrementalAlterConfigsResponse: ...
@overload
def decode(
    name: Literal["InitProducerIdRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.InitProducerIdRequest: ...
@overload
def decode(
    name: Literal["InitProducerIdResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.InitProducerIdResponse: ...
@overload
def decode(
    name: Literal["InitializeShareGroupStateRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.InitializeShareGroupStateRequest: ...
@overload
def decode(
    name: Literal["InitializeShareGroupStateResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.InitializeShareGroupStateResponse: ...
@overload
def decode(
    name: Literal["JoinGroupRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.JoinGroupRequest: ...
@overload
def decode(
    name: Literal["JoinGroupResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.JoinGroupResponse: ...
@overload
def decode(
    name: Literal["KRaftVersionRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.KRaftVersionRecord: ...
@overload
def decode(
    name: Literal["LeaderAndIsrRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.LeaderAndIsrRequest: ...
@overload
def decode(
    name: Literal["LeaderAndIsrResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.LeaderAndIsrResponse: ...
@overload
def decode(
    name: Literal["LeaderChangeMessage"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.LeaderChangeMessage: ...
@overload
def decode(
    name: Literal["LeaveGroupRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.LeaveGroupRequest: ...
@overload
def decode(
    name: Literal["LeaveGroupResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.LeaveGroupResponse: ...
@overload
def decode(
    name: Literal["LegacyOffsetCommitKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.LegacyOffsetCommitKey: ...
@overload
def decode(
    name: Literal["LegacyOffsetCommitValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.LegacyOffsetCommitValue: ...
@overload
def decode(
    name: Literal["ListClientMetricsResourcesRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListClientMetricsResourcesRequest: ...
@overload
def decode(
    name: Literal["ListClientMetricsResourcesResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListClientMetricsResourcesResponse: ...
@overload
def decode(
    name: Literal["ListConfigResourcesRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListConfigResourcesRequest: ...
@overload
def decode(
    name: Literal["ListConfigResourcesResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListConfigResourcesResponse: ...
@overload
def decode(
    name: Literal["ListGroupsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListGroupsRequest: ...
@overload
def decode(
    name: Literal["ListGroupsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListGroupsResponse: ...
@overload
def decode(
    name: Literal["ListOffsetRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListOffsetRequest: ...
@overload
def decode(
    name: Literal["ListOffsetResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListOffsetResponse: ...
@overload
def decode(
    name: Literal["ListOffsetsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListOffsetsRequest: ...
@overload
def decode(
    name: Literal["ListOffsetsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListOffsetsResponse: ...
@overload
def decode(
    name: Literal["ListPartitionReassignmentsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListPartitionReassignmentsRequest: ...
@overload
def decode(
    name: Literal["ListPartitionReassignmentsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListPartitionReassignmentsResponse: ...
@overload
def decode(
    name: Literal["ListTransactionsRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListTransactionsRequest: ...
@overload
def decode(
    name: Literal["ListTransactionsResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ListTransactionsResponse: ...
@overload
def decode(
    name: Literal["MetadataRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.MetadataRequest: ...
@overload
def decode(
    name: Literal["MetadataResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.MetadataResponse: ...
@overload
def decode(
    name: Literal["NoOpRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.NoOpRecord: ...
@overload
def decode(
    name: Literal["OffsetCommitKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.OffsetCommitKey: ...
@overload
def decode(
    name: Literal["OffsetCommitRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.OffsetCommitRequest: ...
@overload
def decode(
    name: Literal["OffsetCommitResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.OffsetCommitResponse: ...
@overload
def decode(
    name: Literal["OffsetCommitValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.OffsetCommitValue: ...
@overload
def decode(
    name: Literal["OffsetDeleteRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.OffsetDeleteRequest: ...
@overload
def decode(
    name: Literal["OffsetDeleteResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.OffsetDeleteResponse: ...
@overload
def decode(
    name: Literal["OffsetFetchRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.OffsetFetchRequest: ...
@overload
def decode(
    name: Literal["OffsetFetchResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.OffsetFetchResponse: ...
@overload
def decode(
    name: Literal["OffsetForLeaderEpochRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.OffsetForLeaderEpochRequest: ...
@overload
def decode(
    name: Literal["OffsetForLeaderEpochResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.OffsetForLeaderEpochResponse: ...
@overload
def decode(
    name: Literal["PartitionChangeRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.PartitionChangeRecord: ...
@overload
def decode(
    name: Literal["PartitionRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.PartitionRecord: ...
@overload
def decode(
    name: Literal["ProduceRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ProduceRequest: ...
@overload
def decode(
    name: Literal["ProduceResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ProduceResponse: ...
@overload
def decode(
    name: Literal["ProducerIdsRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ProducerIdsRecord: ...
@overload
def decode(
    name: Literal["ProducerSnapshot"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ProducerSnapshot: ...
@overload
def decode(
    name: Literal["PushTelemetryRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.PushTelemetryRequest: ...
@overload
def decode(
    name: Literal["PushTelemetryResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.PushTelemetryResponse: ...
@overload
def decode(
    name: Literal["QuorumStateData"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.QuorumStateData: ...
@overload
def decode(
    name: Literal["QuotaRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.QuotaRecord: ...
@overload
def decode(
    name: Literal["ReadShareGroupStateRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ReadShareGroupStateRequest: ...
@overload
def decode(
    name: Literal["ReadShareGroupStateResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ReadShareGroupStateResponse: ...
@overload
def decode(
    name: Literal["ReadShareGroupStateSummaryRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ReadShareGroupStateSummaryRequest: ...
@overload
def decode(
    name: Literal["ReadShareGroupStateSummaryResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ReadShareGroupStateSummaryResponse: ...
@overload
def decode(
    name: Literal["RegisterBrokerRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RegisterBrokerRecord: ...
@overload
def decode(
    name: Literal["RegisterControllerRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RegisterControllerRecord: ...
@overload
def decode(
    name: Literal["RemoteLogSegmentMetadataRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemoteLogSegmentMetadataRecord: ...
@overload
def decode(
    name: Literal["RemoteLogSegmentMetadataSnapshotRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemoteLogSegmentMetadataSnapshotRecord: ...
@overload
def decode(
    name: Literal["RemoteLogSegmentMetadataUpdateRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemoteLogSegmentMetadataUpdateRecord: ...
@overload
def decode(
    name: Literal["RemotePartitionDeleteMetadataRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemotePartitionDeleteMetadataRecord: ...
@overload
def decode(
    name: Literal["RemoveAccessControlEntryRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemoveAccessControlEntryRecord: ...
@overload
def decode(
    name: Literal["RemoveDelegationTokenRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemoveDelegationTokenRecord: ...
@overload
def decode(
    name: Literal["RemoveFeatureLevelRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemoveFeatureLevelRecord: ...
@overload
def decode(
    name: Literal["RemoveRaftVoterRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemoveRaftVoterRequest: ...
@overload
def decode(
    name: Literal["RemoveRaftVoterResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemoveRaftVoterResponse: ...
@overload
def decode(
    name: Literal["RemoveTopicRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemoveTopicRecord: ...
@overload
def decode(
    name: Literal["RemoveUserScramCredentialRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RemoveUserScramCredentialRecord: ...
@overload
def decode(
    name: Literal["RenewDelegationTokenRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RenewDelegationTokenRequest: ...
@overload
def decode(
    name: Literal["RenewDelegationTokenResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RenewDelegationTokenResponse: ...
@overload
def decode(
    name: Literal["RequestHeader"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.RequestHeader: ...
@overload
def decode(
    name: Literal["ResponseHeader"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ResponseHeader: ...
@overload
def decode(
    name: Literal["SaslAuthenticateRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.SaslAuthenticateRequest: ...
@overload
def decode(
    name: Literal["SaslAuthenticateResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.SaslAuthenticateResponse: ...
@overload
def decode(
    name: Literal["SaslHandshakeRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.SaslHandshakeRequest: ...
@overload
def decode(
    name: Literal["SaslHandshakeResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.SaslHandshakeResponse: ...
@overload
def decode(
    name: Literal["ShareAcknowledgeRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareAcknowledgeRequest: ...
@overload
def decode(
    name: Literal["ShareAcknowledgeResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareAcknowledgeResponse: ...
@overload
def decode(
    name: Literal["ShareFetchRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareFetchRequest: ...
@overload
def decode(
    name: Literal["ShareFetchResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareFetchResponse: ...
@overload
def decode(
    name: Literal["ShareGroupCurrentMemberAssignmentKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupCurrentMemberAssignmentKey: ...
@overload
def decode(
    name: Literal["ShareGroupCurrentMemberAssignmentValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupCurrentMemberAssignmentValue: ...
@overload
def decode(
    name: Literal["ShareGroupDescribeRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupDescribeRequest: ...
@overload
def decode(
    name: Literal["ShareGroupDescribeResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupDescribeResponse: ...
@overload
def decode(
    name: Literal["ShareGroupHeartbeatRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupHeartbeatRequest: ...
@overload
def decode(
    name: Literal["ShareGroupHeartbeatResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupHeartbeatResponse: ...
@overload
def decode(
    name: Literal["ShareGroupMemberMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupMemberMetadataKey: ...
@overload
def decode(
    name: Literal["ShareGroupMemberMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupMemberMetadataValue: ...
@overload
def decode(
    name: Literal["ShareGroupMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupMetadataKey: ...
@overload
def decode(
    name: Literal["ShareGroupMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupMetadataValue: ...
@overload
def decode(
    name: Literal["ShareGroupPartitionMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupPartitionMetadataKey: ...
@overload
def decode(
    name: Literal["ShareGroupPartitionMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupPartitionMetadataValue: ...
@overload
def decode(
    name: Literal["ShareGroupStatePartitionMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupStatePartitionMetadataKey: ...
@overload
def decode(
    name: Literal["ShareGroupStatePartitionMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupStatePartitionMetadataValue: ...
@overload
def decode(
    name: Literal["ShareGroupTargetAssignmentMemberKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupTargetAssignmentMemberKey: ...
@overload
def decode(
    name: Literal["ShareGroupTargetAssignmentMemberValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupTargetAssignmentMemberValue: ...
@overload
def decode(
    name: Literal["ShareGroupTargetAssignmentMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupTargetAssignmentMetadataKey: ...
@overload
def decode(
    name: Literal["ShareGroupTargetAssignmentMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareGroupTargetAssignmentMetadataValue: ...
@overload
def decode(
    name: Literal["ShareSnapshotKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareSnapshotKey: ...
@overload
def decode(
    name: Literal["ShareSnapshotValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareSnapshotValue: ...
@overload
def decode(
    name: Literal["ShareUpdateKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareUpdateKey: ...
@overload
def decode(
    name: Literal["ShareUpdateValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ShareUpdateValue: ...
@overload
def decode(
    name: Literal["SnapshotFooterRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.SnapshotFooterRecord: ...
@overload
def decode(
    name: Literal["SnapshotHeaderRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.SnapshotHeaderRecord: ...
@overload
def decode(
    name: Literal["StopReplicaRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StopReplicaRequest: ...
@overload
def decode(
    name: Literal["StopReplicaResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StopReplicaResponse: ...
@overload
def decode(
    name: Literal["StreamsGroupCurrentMemberAssignmentKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupCurrentMemberAssignmentKey: ...
@overload
def decode(
    name: Literal["StreamsGroupCurrentMemberAssignmentValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupCurrentMemberAssignmentValue: ...
@overload
def decode(
    name: Literal["StreamsGroupDescribeRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupDescribeRequest: ...
@overload
def decode(
    name: Literal["StreamsGroupDescribeResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupDescribeResponse: ...
@overload
def decode(
    name: Literal["StreamsGroupHeartbeatRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupHeartbeatRequest: ...
@overload
def decode(
    name: Literal["StreamsGroupHeartbeatResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupHeartbeatResponse: ...
@overload
def decode(
    name: Literal["StreamsGroupMemberMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupMemberMetadataKey: ...
@overload
def decode(
    name: Literal["StreamsGroupMemberMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupMemberMetadataValue: ...
@overload
def decode(
    name: Literal["StreamsGroupMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupMetadataKey: ...
@overload
def decode(
    name: Literal["StreamsGroupMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupMetadataValue: ...
@overload
def decode(
    name: Literal["StreamsGroupTargetAssignmentMemberKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupTargetAssignmentMemberKey: ...
@overload
def decode(
    name: Literal["StreamsGroupTargetAssignmentMemberValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupTargetAssignmentMemberValue: ...
@overload
def decode(
    name: Literal["StreamsGroupTargetAssignmentMetadataKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupTargetAssignmentMetadataKey: ...
@overload
def decode(
    name: Literal["StreamsGroupTargetAssignmentMetadataValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupTargetAssignmentMetadataValue: ...
@overload
def decode(
    name: Literal["StreamsGroupTopologyDescriptionUpdateRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupTopologyDescriptionUpdateRequest: ...
@overload
def decode(
    name: Literal["StreamsGroupTopologyDescriptionUpdateResponse"],
    data: Buffer,
    version: int,
    *,
    fields: _Paths = None,
    strict: _Yes = True,
) -> messages.StreamsGroupTopologyDescriptionUpdateResponse: ...
@overload
def decode(
    name: Literal["StreamsGroupTopologyKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupTopologyKey: ...
@overload
def decode(
    name: Literal["StreamsGroupTopologyValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.StreamsGroupTopologyValue: ...
@overload
def decode(
    name: Literal["SyncGroupRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.SyncGroupRequest: ...
@overload
def decode(
    name: Literal["SyncGroupResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.SyncGroupResponse: ...
@overload
def decode(
    name: Literal["TopicRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.TopicRecord: ...
@overload
def decode(
    name: Literal["TransactionLogKey"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.TransactionLogKey: ...
@overload
def decode(
    name: Literal["TransactionLogValue"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.TransactionLogValue: ...
@overload
def decode(
    name: Literal["TxnOffsetCommitRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.TxnOffsetCommitRequest: ...
@overload
def decode(
    name: Literal["TxnOffsetCommitResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.TxnOffsetCommitResponse: ...
@overload
def decode(
    name: Literal["UnfenceBrokerRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UnfenceBrokerRecord: ...
@overload
def decode(
    name: Literal["UnregisterBrokerRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UnregisterBrokerRecord: ...
@overload
def decode(
    name: Literal["UnregisterBrokerRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UnregisterBrokerRequest: ...
@overload
def decode(
    name: Literal["UnregisterBrokerResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UnregisterBrokerResponse: ...
@overload
def decode(
    name: Literal["UnregisterControllerRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UnregisterControllerRecord: ...
@overload
def decode(
    name: Literal["UnregisterControllerRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UnregisterControllerRequest: ...
@overload
def decode(
    name: Literal["UnregisterControllerResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UnregisterControllerResponse: ...
@overload
def decode(
    name: Literal["UpdateFeaturesRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UpdateFeaturesRequest: ...
@overload
def decode(
    name: Literal["UpdateFeaturesResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UpdateFeaturesResponse: ...
@overload
def decode(
    name: Literal["UpdateMetadataRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UpdateMetadataRequest: ...
@overload
def decode(
    name: Literal["UpdateMetadataResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UpdateMetadataResponse: ...
@overload
def decode(
    name: Literal["UpdateRaftVoterRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UpdateRaftVoterRequest: ...
@overload
def decode(
    name: Literal["UpdateRaftVoterResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UpdateRaftVoterResponse: ...
@overload
def decode(
    name: Literal["UserScramCredentialRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.UserScramCredentialRecord: ...
@overload
def decode(
    name: Literal["VoteRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.VoteRequest: ...
@overload
def decode(
    name: Literal["VoteResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.VoteResponse: ...
@overload
def decode(
    name: Literal["VotersRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.VotersRecord: ...
@overload
def decode(
    name: Literal["WriteShareGroupStateRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.WriteShareGroupStateRequest: ...
@overload
def decode(
    name: Literal["WriteShareGroupStateResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.WriteShareGroupStateResponse: ...
@overload
def decode(
    name: Literal["WriteTxnMarkersRequest"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.WriteTxnMarkersRequest: ...
@overload
def decode(
    name: Literal["WriteTxnMarkersResponse"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.WriteTxnMarkersResponse: ...
@overload
def decode(
    name: Literal["ZkMigrationStateRecord"], data: Buffer, version: int, *, fields: _Paths = None, strict: _Yes = True
) -> messages.ZkMigrationStateRecord: ...
@overload
def decode(name: str, data: Buffer, version: int, *, fields: _Paths = None, strict: bool = True) -> Any: ...
@overload
def from_json(
    name: Literal["AbortTransactionRecord"], obj: Any, version: int, *, source: None = None
) -> messages.AbortTransactionRecord: ...
@overload
def from_json(name: Literal["AbortedTxn"], obj: Any, version: int, *, source: None = None) -> messages.AbortedTxn: ...
@overload
def from_json(
    name: Literal["AccessControlEntryRecord"], obj: Any, version: int, *, source: None = None
) -> messages.AccessControlEntryRecord: ...
@overload
def from_json(name: Literal["AccessControlRecord"], obj: Any, version: int, *, source: None = None) -> messages.AccessControlRecord: ...
@overload
def from_json(
    name: Literal["AddOffsetsToTxnRequest"], obj: Any, version: int, *, source: None = None
) -> messages.AddOffsetsToTxnRequest: ...
@overload
def from_json(
    name: Literal["AddOffsetsToTxnResponse"], obj: Any, version: int, *, source: None = None
) -> messages.AddOffsetsToTxnResponse: ...
@overload
def from_json(
    name: Literal["AddPartitionsToTxnRequest"], obj: Any, version: int, *, source: None = None
) -> messages.AddPartitionsToTxnRequest: ...
@overload
def from_json(
    name: Literal["AddPartitionsToTxnResponse"], obj: Any, version: int, *, source: None = None
) -> messages.AddPartitionsToTxnResponse: ...
@overload
def from_json(name: Literal["AddRaftVoterRequest"], obj: Any, version: int, *, source: None = None) -> messages.AddRaftVoterRequest: ...
@overload
def from_json(name: Literal["AddRaftVoterResponse"], obj: Any, version: int, *, source: None = None) -> messages.AddRaftVoterResponse: ...
@overload
def from_json(
    name: Literal["AllocateProducerIdsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.AllocateProducerIdsRequest: ...
@overload
def from_json(
    name: Literal["AllocateProducerIdsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.AllocateProducerIdsResponse: ...
@overload
def from_json(
    name: Literal["AlterClientQuotasRequest"], obj: Any, version: int, *, source: None = None
) -> messages.AlterClientQuotasRequest: ...
@overload
def from_json(
    name: Literal["AlterClientQuotasResponse"], obj: Any, version: int, *, source: None = None
) -> messages.AlterClientQuotasResponse: ...
@overload
def from_json(name: Literal["AlterConfigsRequest"], obj: Any, version: int, *, source: None = None) -> messages.AlterConfigsRequest: ...
@overload
def from_json(name: Literal["AlterConfigsResponse"], obj: Any, version: int, *, source: None = None) -> messages.AlterConfigsResponse: ...
@overload
def from_json(name: Literal["AlterIsrRequest"], obj: Any, version: int, *, source: None = None) -> messages.AlterIsrRequest: ...
@overload
def from_json(name: Literal["AlterIsrResponse"], obj: Any, version: int, *, source: None = None) -> messages.AlterIsrResponse: ...
@overload
def from_json(
    name: Literal["AlterPartitionReassignmentsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.AlterPartitionReassignmentsRequest: ...
@overload
def from_json(
    name: Literal["AlterPartitionReassignmentsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.AlterPartitionReassignmentsResponse: ...
@overload
def from_json(name: Literal["AlterPartitionRequest"], obj: Any, version: int, *, source: None = None) -> messages.AlterPartitionRequest: ...
@overload
def from_json(
    name: Literal["AlterPartitionResponse"], obj: Any, version: int, *, source: None = None
) -> messages.AlterPartitionResponse: ...
@overload
def from_json(
    name: Literal["AlterReplicaLogDirsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.AlterReplicaLogDirsRequest: ...
@overload
def from_json(
    name: Literal["AlterReplicaLogDirsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.AlterReplicaLogDirsResponse: ...
@overload
def from_json(
    name: Literal["AlterShareGroupOffsetsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.AlterShareGroupOffsetsRequest: ...
@overload
def from_json(
    name: Literal["AlterShareGroupOffsetsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.AlterShareGroupOffsetsResponse: ...
@overload
def from_json(
    name: Literal["AlterUserScramCredentialsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.AlterUserScramCredentialsRequest: ...
@overload
def from_json(
    name: Literal["AlterUserScramCredentialsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.AlterUserScramCredentialsResponse: ...
@overload
def from_json(name: Literal["ApiVersionsRequest"], obj: Any, version: int, *, source: None = None) -> messages.ApiVersionsRequest: ...
@overload
def from_json(name: Literal["ApiVersionsResponse"], obj: Any, version: int, *, source: None = None) -> messages.ApiVersionsResponse: ...
@overload
def from_json(
    name: Literal["AssignReplicasToDirsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.AssignReplicasToDirsRequest: ...
@overload
def from_json(
    name: Literal["AssignReplicasToDirsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.AssignReplicasToDirsResponse: ...
@overload
def from_json(
    name: Literal["BeginQuorumEpochRequest"], obj: Any, version: int, *, source: None = None
) -> messages.BeginQuorumEpochRequest: ...
@overload
def from_json(
    name: Literal["BeginQuorumEpochResponse"], obj: Any, version: int, *, source: None = None
) -> messages.BeginQuorumEpochResponse: ...
@overload
def from_json(
    name: Literal["BeginTransactionRecord"], obj: Any, version: int, *, source: None = None
) -> messages.BeginTransactionRecord: ...
@overload
def from_json(
    name: Literal["BrokerHeartbeatRequest"], obj: Any, version: int, *, source: None = None
) -> messages.BrokerHeartbeatRequest: ...
@overload
def from_json(
    name: Literal["BrokerHeartbeatResponse"], obj: Any, version: int, *, source: None = None
) -> messages.BrokerHeartbeatResponse: ...
@overload
def from_json(
    name: Literal["BrokerRegistrationChangeRecord"], obj: Any, version: int, *, source: None = None
) -> messages.BrokerRegistrationChangeRecord: ...
@overload
def from_json(
    name: Literal["BrokerRegistrationRequest"], obj: Any, version: int, *, source: None = None
) -> messages.BrokerRegistrationRequest: ...
@overload
def from_json(
    name: Literal["BrokerRegistrationResponse"], obj: Any, version: int, *, source: None = None
) -> messages.BrokerRegistrationResponse: ...
@overload
def from_json(name: Literal["ClearElrRecord"], obj: Any, version: int, *, source: None = None) -> messages.ClearElrRecord: ...
@overload
def from_json(name: Literal["ClientQuotaRecord"], obj: Any, version: int, *, source: None = None) -> messages.ClientQuotaRecord: ...
@overload
def from_json(name: Literal["ConfigRecord"], obj: Any, version: int, *, source: None = None) -> messages.ConfigRecord: ...
@overload
def from_json(
    name: Literal["ConsumerGroupCurrentMemberAssignmentKey"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupCurrentMemberAssignmentKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupCurrentMemberAssignmentValue"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupCurrentMemberAssignmentValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupDescribeRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupDescribeRequest: ...
@overload
def from_json(
    name: Literal["ConsumerGroupDescribeResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupDescribeResponse: ...
@overload
def from_json(
    name: Literal["ConsumerGroupHeartbeatRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupHeartbeatRequest: ...
@overload
def from_json(
    name: Literal["ConsumerGroupHeartbeatResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupHeartbeatResponse: ...
@overload
def from_json(
    name: Literal["ConsumerGroupMemberMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupMemberMetadataKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupMemberMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupMemberMetadataValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupMetadataKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupMetadataValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupPartitionMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupPartitionMetadataKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupPartitionMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupPartitionMetadataValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupRegularExpressionKey"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupRegularExpressionKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupRegularExpressionValue"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupRegularExpressionValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupTargetAssignmentMemberKey"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupTargetAssignmentMemberKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupTargetAssignmentMemberValue"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupTargetAssignmentMemberValue: ...
@overload
def from_json(
    name: Literal["ConsumerGroupTargetAssignmentMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupTargetAssignmentMetadataKey: ...
@overload
def from_json(
    name: Literal["ConsumerGroupTargetAssignmentMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerGroupTargetAssignmentMetadataValue: ...
@overload
def from_json(
    name: Literal["ConsumerProtocolAssignment"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerProtocolAssignment: ...
@overload
def from_json(
    name: Literal["ConsumerProtocolSubscription"], obj: Any, version: int, *, source: None = None
) -> messages.ConsumerProtocolSubscription: ...
@overload
def from_json(
    name: Literal["ControlRecordTypeSchema"], obj: Any, version: int, *, source: None = None
) -> messages.ControlRecordTypeSchema: ...
@overload
def from_json(
    name: Literal["ControlledShutdownRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ControlledShutdownRequest: ...
@overload
def from_json(
    name: Literal["ControlledShutdownResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ControlledShutdownResponse: ...
@overload
def from_json(
    name: Literal["ControllerRegistrationRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ControllerRegistrationRequest: ...
@overload
def from_json(
    name: Literal["ControllerRegistrationResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ControllerRegistrationResponse: ...
@overload
def from_json(name: Literal["CreateAclsRequest"], obj: Any, version: int, *, source: None = None) -> messages.CreateAclsRequest: ...
@overload
def from_json(name: Literal["CreateAclsResponse"], obj: Any, version: int, *, source: None = None) -> messages.CreateAclsResponse: ...
@overload
def from_json(
    name: Literal["CreateDelegationTokenRequest"], obj: Any, version: int, *, source: None = None
) -> messages.CreateDelegationTokenRequest: ...
@overload
def from_json(
    name: Literal["CreateDelegationTokenResponse"], obj: Any, version: int, *, source: None = None
) -> messages.CreateDelegationTokenResponse: ...
@overload
def from_json(
    name: Literal["CreatePartitionsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.CreatePartitionsRequest: ...
@overload
def from_json(
    name: Literal["CreatePartitionsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.CreatePartitionsResponse: ...
@overload
def from_json(name: Literal["CreateTopicsRequest"], obj: Any, version: int, *, source: None = None) -> messages.CreateTopicsRequest: ...
@overload
def from_json(name: Literal["CreateTopicsResponse"], obj: Any, version: int, *, source: None = None) -> messages.CreateTopicsResponse: ...
@overload
def from_json(name: Literal["DefaultPrincipalData"], obj: Any, version: int, *, source: None = None) -> messages.DefaultPrincipalData: ...
@overload
def from_json(name: Literal["DelegationTokenRecord"], obj: Any, version: int, *, source: None = None) -> messages.DelegationTokenRecord: ...
@overload
def from_json(name: Literal["DeleteAclsRequest"], obj: Any, version: int, *, source: None = None) -> messages.DeleteAclsRequest: ...
@overload
def from_json(name: Literal["DeleteAclsResponse"], obj: Any, version: int, *, source: None = None) -> messages.DeleteAclsResponse: ...
@overload
def from_json(name: Literal["DeleteGroupsRequest"], obj: Any, version: int, *, source: None = None) -> messages.DeleteGroupsRequest: ...
@overload
def from_json(name: Literal["DeleteGroupsResponse"], obj: Any, version: int, *, source: None = None) -> messages.DeleteGroupsResponse: ...
@overload
def from_json(name: Literal["DeleteRecordsRequest"], obj: Any, version: int, *, source: None = None) -> messages.DeleteRecordsRequest: ...
@overload
def from_json(name: Literal["DeleteRecordsResponse"], obj: Any, version: int, *, source: None = None) -> messages.DeleteRecordsResponse: ...
@overload
def from_json(
    name: Literal["DeleteShareGroupOffsetsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DeleteShareGroupOffsetsRequest: ...
@overload
def from_json(
    name: Literal["DeleteShareGroupOffsetsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DeleteShareGroupOffsetsResponse: ...
@overload
def from_json(
    name: Literal["DeleteShareGroupStateRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DeleteShareGroupStateRequest: ...
@overload
def from_json(
    name: Literal["DeleteShareGroupStateResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DeleteShareGroupStateResponse: ...
@overload
def from_json(name: Literal["DeleteTopicsRequest"], obj: Any, version: int, *, source: None = None) -> messages.DeleteTopicsRequest: ...
@overload
def from_json(name: Literal["DeleteTopicsResponse"], obj: Any, version: int, *, source: None = None) -> messages.DeleteTopicsResponse: ...
@overload
def from_json(name: Literal["DescribeAclsRequest"], obj: Any, version: int, *, source: None = None) -> messages.DescribeAclsRequest: ...
@overload
def from_json(name: Literal["DescribeAclsResponse"], obj: Any, version: int, *, source: None = None) -> messages.DescribeAclsResponse: ...
@overload
def from_json(
    name: Literal["DescribeClientQuotasRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeClientQuotasRequest: ...
@overload
def from_json(
    name: Literal["DescribeClientQuotasResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeClientQuotasResponse: ...
@overload
def from_json(
    name: Literal["DescribeClusterRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeClusterRequest: ...
@overload
def from_json(
    name: Literal["DescribeClusterResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeClusterResponse: ...
@overload
def from_json(
    name: Literal["DescribeConfigsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeConfigsRequest: ...
@overload
def from_json(
    name: Literal["DescribeConfigsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeConfigsResponse: ...
@overload
def from_json(
    name: Literal["DescribeDelegationTokenRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeDelegationTokenRequest: ...
@overload
def from_json(
    name: Literal["DescribeDelegationTokenResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeDelegationTokenResponse: ...
@overload
def from_json(name: Literal["DescribeGroupsRequest"], obj: Any, version: int, *, source: None = None) -> messages.DescribeGroupsRequest: ...
@overload
def from_json(
    name: Literal["DescribeGroupsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeGroupsResponse: ...
@overload
def from_json(
    name: Literal["DescribeLogDirsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeLogDirsRequest: ...
@overload
def from_json(
    name: Literal["DescribeLogDirsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeLogDirsResponse: ...
@overload
def from_json(
    name: Literal["DescribeProducersRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeProducersRequest: ...
@overload
def from_json(
    name: Literal["DescribeProducersResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeProducersResponse: ...
@overload
def from_json(name: Literal["DescribeQuorumRequest"], obj: Any, version: int, *, source: None = None) -> messages.DescribeQuorumRequest: ...
@overload
def from_json(
    name: Literal["DescribeQuorumResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeQuorumResponse: ...
@overload
def from_json(
    name: Literal["DescribeShareGroupOffsetsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeShareGroupOffsetsRequest: ...
@overload
def from_json(
    name: Literal["DescribeShareGroupOffsetsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeShareGroupOffsetsResponse: ...
@overload
def from_json(
    name: Literal["DescribeTopicPartitionsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeTopicPartitionsRequest: ...
@overload
def from_json(
    name: Literal["DescribeTopicPartitionsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeTopicPartitionsResponse: ...
@overload
def from_json(
    name: Literal["DescribeTransactionsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeTransactionsRequest: ...
@overload
def from_json(
    name: Literal["DescribeTransactionsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeTransactionsResponse: ...
@overload
def from_json(
    name: Literal["DescribeUserScramCredentialsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeUserScramCredentialsRequest: ...
@overload
def from_json(
    name: Literal["DescribeUserScramCredentialsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.DescribeUserScramCredentialsResponse: ...
@overload
def from_json(name: Literal["ElectLeadersRequest"], obj: Any, version: int, *, source: None = None) -> messages.ElectLeadersRequest: ...
@overload
def from_json(name: Literal["ElectLeadersResponse"], obj: Any, version: int, *, source: None = None) -> messages.ElectLeadersResponse: ...
@overload
def from_json(
    name: Literal["ElectPreferredLeadersRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ElectPreferredLeadersRequest: ...
@overload
def from_json(
    name: Literal["ElectPreferredLeadersResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ElectPreferredLeadersResponse: ...
@overload
def from_json(name: Literal["EndQuorumEpochRequest"], obj: Any, version: int, *, source: None = None) -> messages.EndQuorumEpochRequest: ...
@overload
def from_json(
    name: Literal["EndQuorumEpochResponse"], obj: Any, version: int, *, source: None = None
) -> messages.EndQuorumEpochResponse: ...
@overload
def from_json(name: Literal["EndTransactionRecord"], obj: Any, version: int, *, source: None = None) -> messages.EndTransactionRecord: ...
@overload
def from_json(name: Literal["EndTxnMarker"], obj: Any, version: int, *, source: None = None) -> messages.EndTxnMarker: ...
@overload
def from_json(name: Literal["EndTxnRequest"], obj: Any, version: int, *, source: None = None) -> messages.EndTxnRequest: ...
@overload
def from_json(name: Literal["EndTxnResponse"], obj: Any, version: int, *, source: None = None) -> messages.EndTxnResponse: ...
@overload
def from_json(name: Literal["EnvelopeRequest"], obj: Any, version: int, *, source: None = None) -> messages.EnvelopeRequest: ...
@overload
def from_json(name: Literal["EnvelopeResponse"], obj: Any, version: int, *, source: None = None) -> messages.EnvelopeResponse: ...
@overload
def from_json(
    name: Literal["ExpireDelegationTokenRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ExpireDelegationTokenRequest: ...
@overload
def from_json(
    name: Literal["ExpireDelegationTokenResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ExpireDelegationTokenResponse: ...
@overload
def from_json(name: Literal["FeatureLevelRecord"], obj: Any, version: int, *, source: None = None) -> messages.FeatureLevelRecord: ...
@overload
def from_json(name: Literal["FenceBrokerRecord"], obj: Any, version: int, *, source: None = None) -> messages.FenceBrokerRecord: ...
@overload
def from_json(name: Literal["FetchRequest"], obj: Any, version: int, *, source: None = None) -> messages.FetchRequest: ...
@overload
def from_json(name: Literal["FetchResponse"], obj: Any, version: int, *, source: None = None) -> messages.FetchResponse: ...
@overload
def from_json(name: Literal["FetchSnapshotRequest"], obj: Any, version: int, *, source: None = None) -> messages.FetchSnapshotRequest: ...
@overload
def from_json(name: Literal["FetchSnapshotResponse"], obj: Any, version: int, *, source: None = None) -> messages.FetchSnapshotResponse: ...
@overload
def from_json(
    name: Literal["FindCoordinatorRequest"], obj: Any, version: int, *, source: None = None
) -> messages.FindCoordinatorRequest: ...
@overload
def from_json(
    name: Literal["FindCoordinatorResponse"], obj: Any, version: int, *, source: None = None
) -> messages.FindCoordinatorResponse: ...
@overload
def from_json(
    name: Literal["GetTelemetrySubscriptionsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.GetTelemetrySubscriptionsRequest: ...
@overload
def from_json(
    name: Literal["GetTelemetrySubscriptionsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.GetTelemetrySubscriptionsResponse: ...
@overload
def from_json(name: Literal["GroupMetadataKey"], obj: Any, version: int, *, source: None = None) -> messages.GroupMetadataKey: ...
@overload
def from_json(name: Literal["GroupMetadataValue"], obj: Any, version: int, *, source: None = None) -> messages.GroupMetadataValue: ...
@overload
def from_json(name: Literal["HeartbeatRequest"], obj: Any, version: int, *, source: None = None) -> messages.HeartbeatRequest: ...
@overload
def from_json(name: Literal["HeartbeatResponse"], obj: Any, version: int, *, source: None = None) -> messages.HeartbeatResponse: ...
@overload
def from_json(
    name: Literal["IncrementalAlterConfigsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.IncrementalAlterConfigsRequest: ...
@overload
def from_json(
    name: Literal["IncrementalAlterConfigsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.IncrementalAlterConfigsResponse: ...
@overload
def from_json(name: Literal["InitProducerIdRequest"], obj: Any, version: int, *, source: None = None) -> messages.InitProducerIdRequest: ...
@overload
def from_json(
    name: Literal["InitProducerIdResponse"], obj: Any, version: int, *, source: None = None
) -> messages.InitProducerIdResponse: ...
@overload
def from_json(
    name: Literal["InitializeShareGroupStateRequest"], obj: Any, version: int, *, source: None = None
) -> messages.InitializeShareGroupStateRequest: ...
@overload
def from_json(
    name: Literal["InitializeShareGroupStateResponse"], obj: Any, version: int, *, source: None = None
) -> messages.InitializeShareGroupStateResponse: ...
@overload
def from_json(name: Literal["JoinGroupRequest"], obj: Any, version: int, *, source: None = None) -> messages.JoinGroupRequest: ...
@overload
def from_json(name: Literal["JoinGroupResponse"], obj: Any, version: int, *, source: None = None) -> messages.JoinGroupResponse: ...
@overload
def from_json(name: Literal["KRaftVersionRecord"], obj: Any, version: int, *, source: None = None) -> messages.KRaftVersionRecord: ...
@overload
def from_json(name: Literal["LeaderAndIsrRequest"], obj: Any, version: int, *, source: None = None) -> messages.LeaderAndIsrRequest: ...
@overload
def from_json(name: Literal["LeaderAndIsrResponse"], obj: Any, version: int, *, source: None = None) -> messages.LeaderAndIsrResponse: ...
@overload
def from_json(name: Literal["LeaderChangeMessage"], obj: Any, version: int, *, source: None = None) -> messages.LeaderChangeMessage: ...
@overload
def from_json(name: Literal["LeaveGroupRequest"], obj: Any, version: int, *, source: None = None) -> messages.LeaveGroupRequest: ...
@overload
def from_json(name: Literal["LeaveGroupResponse"], obj: Any, version: int, *, source: None = None) -> messages.LeaveGroupResponse: ...
@overload
def from_json(name: Literal["LegacyOffsetCommitKey"], obj: Any, version: int, *, source: None = None) -> messages.LegacyOffsetCommitKey: ...
@overload
def from_json(
    name: Literal["LegacyOffsetCommitValue"], obj: Any, version: int, *, source: None = None
) -> messages.LegacyOffsetCommitValue: ...
@overload
def from_json(
    name: Literal["ListClientMetricsResourcesRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ListClientMetricsResourcesRequest: ...
@overload
def from_json(
    name: Literal["ListClientMetricsResourcesResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ListClientMetricsResourcesResponse: ...
@overload
def from_json(
    name: Literal["ListConfigResourcesRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ListConfigResourcesRequest: ...
@overload
def from_json(
    name: Literal["ListConfigResourcesResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ListConfigResourcesResponse: ...
@overload
def from_json(name: Literal["ListGroupsRequest"], obj: Any, version: int, *, source: None = None) -> messages.ListGroupsRequest: ...
@overload
def from_json(name: Literal["ListGroupsResponse"], obj: Any, version: int, *, source: None = None) -> messages.ListGroupsResponse: ...
@overload
def from_json(name: Literal["ListOffsetRequest"], obj: Any, version: int, *, source: None = None) -> messages.ListOffsetRequest: ...
@overload
def from_json(name: Literal["ListOffsetResponse"], obj: Any, version: int, *, source: None = None) -> messages.ListOffsetResponse: ...
@overload
def from_json(name: Literal["ListOffsetsRequest"], obj: Any, version: int, *, source: None = None) -> messages.ListOffsetsRequest: ...
@overload
def from_json(name: Literal["ListOffsetsResponse"], obj: Any, version: int, *, source: None = None) -> messages.ListOffsetsResponse: ...
@overload
def from_json(
    name: Literal["ListPartitionReassignmentsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ListPartitionReassignmentsRequest: ...
@overload
def from_json(
    name: Literal["ListPartitionReassignmentsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ListPartitionReassignmentsResponse: ...
@overload
def from_json(
    name: Literal["ListTransactionsRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ListTransactionsRequest: ...
@overload
def from_json(
    name: Literal["ListTransactionsResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ListTransactionsResponse: ...
@overload
def from_json(name: Literal["MetadataRequest"], obj: Any, version: int, *, source: None = None) -> messages.MetadataRequest: ...
@overload
def from_json(name: Literal["MetadataResponse"], obj: Any, version: int, *, source: None = None) -> messages.MetadataResponse: ...
@overload
def from_json(name: Literal["NoOpRecord"], obj: Any, version: int, *, source: None = None) -> messages.NoOpRecord: ...
@overload
def from_json(name: Literal["OffsetCommitKey"], obj: Any, version: int, *, source: None = None) -> messages.OffsetCommitKey: ...
@overload
def from_json(name: Literal["OffsetCommitRequest"], obj: Any, version: int, *, source: None = None) -> messages.OffsetCommitRequest: ...
@overload
def from_json(name: Literal["OffsetCommitResponse"], obj: Any, version: int, *, source: None = None) -> messages.OffsetCommitResponse: ...
@overload
def from_json(name: Literal["OffsetCommitValue"], obj: Any, version: int, *, source: None = None) -> messages.OffsetCommitValue: ...
@overload
def from_json(name: Literal["OffsetDeleteRequest"], obj: Any, version: int, *, source: None = None) -> messages.OffsetDeleteRequest: ...
@overload
def from_json(name: Literal["OffsetDeleteResponse"], obj: Any, version: int, *, source: None = None) -> messages.OffsetDeleteResponse: ...
@overload
def from_json(name: Literal["OffsetFetchRequest"], obj: Any, version: int, *, source: None = None) -> messages.OffsetFetchRequest: ...
@overload
def from_json(name: Literal["OffsetFetchResponse"], obj: Any, version: int, *, source: None = None) -> messages.OffsetFetchResponse: ...
@overload
def from_json(
    name: Literal["OffsetForLeaderEpochRequest"], obj: Any, version: int, *, source: None = None
) -> messages.OffsetForLeaderEpochRequest: ...
@overload
def from_json(
    name: Literal["OffsetForLeaderEpochResponse"], obj: Any, version: int, *, source: None = None
) -> messages.OffsetForLeaderEpochResponse: ...
@overload
def from_json(name: Literal["PartitionChangeRecord"], obj: Any, version: int, *, source: None = None) -> messages.PartitionChangeRecord: ...
@overload
def from_json(name: Literal["PartitionRecord"], obj: Any, version: int, *, source: None = None) -> messages.PartitionRecord: ...
@overload
def from_json(name: Literal["ProduceRequest"], obj: Any, version: int, *, source: None = None) -> messages.ProduceRequest: ...
@overload
def from_json(name: Literal["ProduceResponse"], obj: Any, version: int, *, source: None = None) -> messages.ProduceResponse: ...
@overload
def from_json(name: Literal["ProducerIdsRecord"], obj: Any, version: int, *, source: None = None) -> messages.ProducerIdsRecord: ...
@overload
def from_json(name: Literal["ProducerSnapshot"], obj: Any, version: int, *, source: None = None) -> messages.ProducerSnapshot: ...
@overload
def from_json(name: Literal["PushTelemetryRequest"], obj: Any, version: int, *, source: None = None) -> messages.PushTelemetryRequest: ...
@overload
def from_json(name: Literal["PushTelemetryResponse"], obj: Any, version: int, *, source: None = None) -> messages.PushTelemetryResponse: ...
@overload
def from_json(name: Literal["QuorumStateData"], obj: Any, version: int, *, source: None = None) -> messages.QuorumStateData: ...
@overload
def from_json(name: Literal["QuotaRecord"], obj: Any, version: int, *, source: None = None) -> messages.QuotaRecord: ...
@overload
def from_json(
    name: Literal["ReadShareGroupStateRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ReadShareGroupStateRequest: ...
@overload
def from_json(
    name: Literal["ReadShareGroupStateResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ReadShareGroupStateResponse: ...
@overload
def from_json(
    name: Literal["ReadShareGroupStateSummaryRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ReadShareGroupStateSummaryRequest: ...
@overload
def from_json(
    name: Literal["ReadShareGroupStateSummaryResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ReadShareGroupStateSummaryResponse: ...
@overload
def from_json(name: Literal["RegisterBrokerRecord"], obj: Any, version: int, *, source: None = None) -> messages.RegisterBrokerRecord: ...
@overload
def from_json(
    name: Literal["RegisterControllerRecord"], obj: Any, version: int, *, source: None = None
) -> messages.RegisterControllerRecord: ...
@overload
def from_json(
    name: Literal["RemoteLogSegmentMetadataRecord"], obj: Any, version: int, *, source: None = None
) -> messages.RemoteLogSegmentMetadataRecord: ...
@overload
def from_json(
    name: Literal["RemoteLogSegmentMetadataSnapshotRecord"], obj: Any, version: int, *, source: None = None
) -> messages.RemoteLogSegmentMetadataSnapshotRecord: ...
@overload
def from_json(
    name: Literal["RemoteLogSegmentMetadataUpdateRecord"], obj: Any, version: int, *, source: None = None
) -> messages.RemoteLogSegmentMetadataUpdateRecord: ...
@overload
def from_json(
    name: Literal["RemotePartitionDeleteMetadataRecord"], obj: Any, version: int, *, source: None = None
) -> messages.RemotePartitionDeleteMetadataRecord: ...
@overload
def from_json(
    name: Literal["RemoveAccessControlEntryRecord"], obj: Any, version: int, *, source: None = None
) -> messages.RemoveAccessControlEntryRecord: ...
@overload
def from_json(
    name: Literal["RemoveDelegationTokenRecord"], obj: Any, version: int, *, source: None = None
) -> messages.RemoveDelegationTokenRecord: ...
@overload
def from_json(
    name: Literal["RemoveFeatureLevelRecord"], obj: Any, version: int, *, source: None = None
) -> messages.RemoveFeatureLevelRecord: ...
@overload
def from_json(
    name: Literal["RemoveRaftVoterRequest"], obj: Any, version: int, *, source: None = None
) -> messages.RemoveRaftVoterRequest: ...
@overload
def from_json(
    name: Literal["RemoveRaftVoterResponse"], obj: Any, version: int, *, source: None = None
) -> messages.RemoveRaftVoterResponse: ...
@overload
def from_json(name: Literal["RemoveTopicRecord"], obj: Any, version: int, *, source: None = None) -> messages.RemoveTopicRecord: ...
@overload
def from_json(
    name: Literal["RemoveUserScramCredentialRecord"], obj: Any, version: int, *, source: None = None
) -> messages.RemoveUserScramCredentialRecord: ...
@overload
def from_json(
    name: Literal["RenewDelegationTokenRequest"], obj: Any, version: int, *, source: None = None
) -> messages.RenewDelegationTokenRequest: ...
@overload
def from_json(
    name: Literal["RenewDelegationTokenResponse"], obj: Any, version: int, *, source: None = None
) -> messages.RenewDelegationTokenResponse: ...
@overload
def from_json(name: Literal["RequestHeader"], obj: Any, version: int, *, source: None = None) -> messages.RequestHeader: ...
@overload
def from_json(name: Literal["ResponseHeader"], obj: Any, version: int, *, source: None = None) -> messages.ResponseHeader: ...
@overload
def from_json(
    name: Literal["SaslAuthenticateRequest"], obj: Any, version: int, *, source: None = None
) -> messages.SaslAuthenticateRequest: ...
@overload
def from_json(
    name: Literal["SaslAuthenticateResponse"], obj: Any, version: int, *, source: None = None
) -> messages.SaslAuthenticateResponse: ...
@overload
def from_json(name: Literal["SaslHandshakeRequest"], obj: Any, version: int, *, source: None = None) -> messages.SaslHandshakeRequest: ...
@overload
def from_json(name: Literal["SaslHandshakeResponse"], obj: Any, version: int, *, source: None = None) -> messages.SaslHandshakeResponse: ...
@overload
def from_json(
    name: Literal["ShareAcknowledgeRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ShareAcknowledgeRequest: ...
@overload
def from_json(
    name: Literal["ShareAcknowledgeResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ShareAcknowledgeResponse: ...
@overload
def from_json(name: Literal["ShareFetchRequest"], obj: Any, version: int, *, source: None = None) -> messages.ShareFetchRequest: ...
@overload
def from_json(name: Literal["ShareFetchResponse"], obj: Any, version: int, *, source: None = None) -> messages.ShareFetchResponse: ...
@overload
def from_json(
    name: Literal["ShareGroupCurrentMemberAssignmentKey"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupCurrentMemberAssignmentKey: ...
@overload
def from_json(
    name: Literal["ShareGroupCurrentMemberAssignmentValue"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupCurrentMemberAssignmentValue: ...
@overload
def from_json(
    name: Literal["ShareGroupDescribeRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupDescribeRequest: ...
@overload
def from_json(
    name: Literal["ShareGroupDescribeResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupDescribeResponse: ...
@overload
def from_json(
    name: Literal["ShareGroupHeartbeatRequest"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupHeartbeatRequest: ...
@overload
def from_json(
    name: Literal["ShareGroupHeartbeatResponse"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupHeartbeatResponse: ...
@overload
def from_json(
    name: Literal["ShareGroupMemberMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupMemberMetadataKey: ...
@overload
def from_json(
    name: Literal["ShareGroupMemberMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupMemberMetadataValue: ...
@overload
def from_json(name: Literal["ShareGroupMetadataKey"], obj: Any, version: int, *, source: None = None) -> messages.ShareGroupMetadataKey: ...
@overload
def from_json(
    name: Literal["ShareGroupMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupMetadataValue: ...
@overload
def from_json(
    name: Literal["ShareGroupPartitionMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupPartitionMetadataKey: ...
@overload
def from_json(
    name: Literal["ShareGroupPartitionMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupPartitionMetadataValue: ...
@overload
def from_json(
    name: Literal["ShareGroupStatePartitionMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupStatePartitionMetadataKey: ...
@overload
def from_json(
    name: Literal["ShareGroupStatePartitionMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupStatePartitionMetadataValue: ...
@overload
def from_json(
    name: Literal["ShareGroupTargetAssignmentMemberKey"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupTargetAssignmentMemberKey: ...
@overload
def from_json(
    name: Literal["ShareGroupTargetAssignmentMemberValue"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupTargetAssignmentMemberValue: ...
@overload
def from_json(
    name: Literal["ShareGroupTargetAssignmentMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupTargetAssignmentMetadataKey: ...
@overload
def from_json(
    name: Literal["ShareGroupTargetAssignmentMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.ShareGroupTargetAssignmentMetadataValue: ...
@overload
def from_json(name: Literal["ShareSnapshotKey"], obj: Any, version: int, *, source: None = None) -> messages.ShareSnapshotKey: ...
@overload
def from_json(name: Literal["ShareSnapshotValue"], obj: Any, version: int, *, source: None = None) -> messages.ShareSnapshotValue: ...
@overload
def from_json(name: Literal["ShareUpdateKey"], obj: Any, version: int, *, source: None = None) -> messages.ShareUpdateKey: ...
@overload
def from_json(name: Literal["ShareUpdateValue"], obj: Any, version: int, *, source: None = None) -> messages.ShareUpdateValue: ...
@overload
def from_json(name: Literal["SnapshotFooterRecord"], obj: Any, version: int, *, source: None = None) -> messages.SnapshotFooterRecord: ...
@overload
def from_json(name: Literal["SnapshotHeaderRecord"], obj: Any, version: int, *, source: None = None) -> messages.SnapshotHeaderRecord: ...
@overload
def from_json(name: Literal["StopReplicaRequest"], obj: Any, version: int, *, source: None = None) -> messages.StopReplicaRequest: ...
@overload
def from_json(name: Literal["StopReplicaResponse"], obj: Any, version: int, *, source: None = None) -> messages.StopReplicaResponse: ...
@overload
def from_json(
    name: Literal["StreamsGroupCurrentMemberAssignmentKey"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupCurrentMemberAssignmentKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupCurrentMemberAssignmentValue"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupCurrentMemberAssignmentValue: ...
@overload
def from_json(
    name: Literal["StreamsGroupDescribeRequest"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupDescribeRequest: ...
@overload
def from_json(
    name: Literal["StreamsGroupDescribeResponse"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupDescribeResponse: ...
@overload
def from_json(
    name: Literal["StreamsGroupHeartbeatRequest"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupHeartbeatRequest: ...
@overload
def from_json(
    name: Literal["StreamsGroupHeartbeatResponse"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupHeartbeatResponse: ...
@overload
def from_json(
    name: Literal["StreamsGroupMemberMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupMemberMetadataKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupMemberMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupMemberMetadataValue: ...
@overload
def from_json(
    name: Literal["StreamsGroupMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupMetadataKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupMetadataValue: ...
@overload
def from_json(
    name: Literal["StreamsGroupTargetAssignmentMemberKey"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupTargetAssignmentMemberKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupTargetAssignmentMemberValue"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupTargetAssignmentMemberValue: ...
@overload
def from_json(
    name: Literal["StreamsGroupTargetAssignmentMetadataKey"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupTargetAssignmentMetadataKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupTargetAssignmentMetadataValue"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupTargetAssignmentMetadataValue: ...
@overload
def from_json(
    name: Literal["StreamsGroupTopologyDescriptionUpdateRequest"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupTopologyDescriptionUpdateRequest: ...
@overload
def from_json(
    name: Literal["StreamsGroupTopologyDescriptionUpdateResponse"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupTopologyDescriptionUpdateResponse: ...
@overload
def from_json(
    name: Literal["StreamsGroupTopologyKey"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupTopologyKey: ...
@overload
def from_json(
    name: Literal["StreamsGroupTopologyValue"], obj: Any, version: int, *, source: None = None
) -> messages.StreamsGroupTopologyValue: ...
@overload
def from_json(name: Literal["SyncGroupRequest"], obj: Any, version: int, *, source: None = None) -> messages.SyncGroupRequest: ...
@overload
def from_json(name: Literal["SyncGroupResponse"], obj: Any, version: int, *, source: None = None) -> messages.SyncGroupResponse: ...
@overload
def from_json(name: Literal["TopicRecord"], obj: Any, version: int, *, source: None = None) -> messages.TopicRecord: ...
@overload
def from_json(name: Literal["TransactionLogKey"], obj: Any, version: int, *, source: None = None) -> messages.TransactionLogKey: ...
@overload
def from_json(name: Literal["TransactionLogValue"], obj: Any, version: int, *, source: None = None) -> messages.TransactionLogValue: ...
@overload
def from_json(
    name: Literal["TxnOffsetCommitRequest"], obj: Any, version: int, *, source: None = None
) -> messages.TxnOffsetCommitRequest: ...
@overload
def from_json(
    name: Literal["TxnOffsetCommitResponse"], obj: Any, version: int, *, source: None = None
) -> messages.TxnOffsetCommitResponse: ...
@overload
def from_json(name: Literal["UnfenceBrokerRecord"], obj: Any, version: int, *, source: None = None) -> messages.UnfenceBrokerRecord: ...
@overload
def from_json(
    name: Literal["UnregisterBrokerRecord"], obj: Any, version: int, *, source: None = None
) -> messages.UnregisterBrokerRecord: ...
@overload
def from_json(
    name: Literal["UnregisterBrokerRequest"], obj: Any, version: int, *, source: None = None
) -> messages.UnregisterBrokerRequest: ...
@overload
def from_json(
    name: Literal["UnregisterBrokerResponse"], obj: Any, version: int, *, source: None = None
) -> messages.UnregisterBrokerResponse: ...
@overload
def from_json(
    name: Literal["UnregisterControllerRecord"], obj: Any, version: int, *, source: None = None
) -> messages.UnregisterControllerRecord: ...
@overload
def from_json(
    name: Literal["UnregisterControllerRequest"], obj: Any, version: int, *, source: None = None
) -> messages.UnregisterControllerRequest: ...
@overload
def from_json(
    name: Literal["UnregisterControllerResponse"], obj: Any, version: int, *, source: None = None
) -> messages.UnregisterControllerResponse: ...
@overload
def from_json(name: Literal["UpdateFeaturesRequest"], obj: Any, version: int, *, source: None = None) -> messages.UpdateFeaturesRequest: ...
@overload
def from_json(
    name: Literal["UpdateFeaturesResponse"], obj: Any, version: int, *, source: None = None
) -> messages.UpdateFeaturesResponse: ...
@overload
def from_json(name: Literal["UpdateMetadataRequest"], obj: Any, version: int, *, source: None = None) -> messages.UpdateMetadataRequest: ...
@overload
def from_json(
    name: Literal["UpdateMetadataResponse"], obj: Any, version: int, *, source: None = None
) -> messages.UpdateMetadataResponse: ...
@overload
def from_json(
    name: Literal["UpdateRaftVoterRequest"], obj: Any, version: int, *, source: None = None
) -> messages.UpdateRaftVoterRequest: ...
@overload
def from_json(
    name: Literal["UpdateRaftVoterResponse"], obj: Any, version: int, *, source: None = None
) -> messages.UpdateRaftVoterResponse: ...
@overload
def from_json(
    name: Literal["UserScramCredentialRecord"], obj: Any, version: int, *, source: None = None
) -> messages.UserScramCredentialRecord: ...
@overload
def from_json(name: Literal["VoteRequest"], obj: Any, version: int, *, source: None = None) -> messages.VoteRequest: ...
@overload
def from_json(name: Literal["VoteResponse"], obj: Any, version: int, *, source: None = None) -> messages.VoteResponse: ...
@overload
def from_json(name: Literal["VotersRecord"], obj: Any, version: int, *, source: None = None) -> messages.VotersRecord: ...
@overload
def from_json(
    name: Literal["WriteShareGroupStateRequest"], obj: Any, version: int, *, source: None = None
) -> messages.WriteShareGroupStateRequest: ...
@overload
def from_json(
    name: Literal["WriteShareGroupStateResponse"], obj: Any, version: int, *, source: None = None
) -> messages.WriteShareGroupStateResponse: ...
@overload
def from_json(
    name: Literal["WriteTxnMarkersRequest"], obj: Any, version: int, *, source: None = None
) -> messages.WriteTxnMarkersRequest: ...
@overload
def from_json(
    name: Literal["WriteTxnMarkersResponse"], obj: Any, version: int, *, source: None = None
) -> messages.WriteTxnMarkersResponse: ...
@overload
def from_json(
    name: Literal["ZkMigrationStateRecord"], obj: Any, version: int, *, source: None = None
) -> messages.ZkMigrationStateRecord: ...
@overload
def from_json(name: str, obj: Any, version: int, *, source: CompiledCatalog | None = None) -> Any: ...
