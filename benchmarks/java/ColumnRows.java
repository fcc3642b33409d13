import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.HeartbeatResponseData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;
import org.apache.kafka.shaded.io.opentelemetry.proto.common.v1.KeyValue;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.Metric;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.MetricsData;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF2;

/** What a user of Spark without kwire writes for other columns: functions in the JVM that read them with Kafka's own classes. */
public class ColumnRows {
    public static class Request implements UDF1<byte[], Row> {
        @Override
        public Row call(byte[] frame) {
            ByteBufferAccessor bytes = new ByteBufferAccessor(ByteBuffer.wrap(frame));
            RequestHeaderData header = new RequestHeaderData(bytes, (short) 1);
            HeartbeatRequestData body = new HeartbeatRequestData(bytes, (short) 0);
            return RowFactory.create(header.correlationId(), header.clientId(), body.groupId(), body.generationId(), body.memberId());
        }
    }

    public static class Response implements UDF1<byte[], Row> {
        @Override
        public Row call(byte[] frame) {
            ByteBufferAccessor bytes = new ByteBufferAccessor(ByteBuffer.wrap(frame));
            ResponseHeaderData header = new ResponseHeaderData(bytes, (short) 1);
            HeartbeatResponseData body = new HeartbeatResponseData(bytes, (short) 4);
            return RowFactory.create(header.correlationId(), body.throttleTimeMs(), body.errorCode());
        }
    }

    public static class Offsets implements UDF2<byte[], byte[], Row> {
        @Override
        public Row call(byte[] keyBytes, byte[] valueBytes) {
            ByteBuffer keyBuffer = ByteBuffer.wrap(keyBytes);
            ByteBuffer valueBuffer = ByteBuffer.wrap(valueBytes);
            keyBuffer.getShort();
            short version = valueBuffer.getShort();
            OffsetCommitKey key = new OffsetCommitKey(new ByteBufferAccessor(keyBuffer), (short) 0);
            OffsetCommitValue value = new OffsetCommitValue(new ByteBufferAccessor(valueBuffer), version);
            return RowFactory.create(
                key.group(), key.topic(), key.partition(), value.offset(), value.leaderEpoch(), value.metadata(), value.commitTimestamp());
        }
    }

    public static class Records implements UDF1<byte[], List<Row>> {
        @Override
        public List<Row> call(byte[] batches) {
            List<Row> rows = new ArrayList<>();
            for (Record record : MemoryRecords.readableRecords(ByteBuffer.wrap(batches)).records()) {
                rows.add(RowFactory.create(
                    record.offset(), record.timestamp(), Utils.toNullableArray(record.key()), Utils.toNullableArray(record.value())));
            }
            return rows;
        }
    }

    public static class Points implements UDF1<byte[], List<Row>> {
        @Override
        public List<Row> call(byte[] push) throws Exception {
            List<Row> rows = new ArrayList<>();
            for (ResourceMetrics group : MetricsData.parseFrom(push).getResourceMetricsList()) {
                Map<String, String> resource = labels(group.getResource().getAttributesList());
                for (ScopeMetrics scope : group.getScopeMetricsList()) {
                    for (Metric metric : scope.getMetricsList()) {
                        for (NumberDataPoint point : metric.getGauge().getDataPointsList()) {
                            rows.add(RowFactory.create(
                                metric.getName(), point.getAsDouble(), point.getTimeUnixNano(), labels(point.getAttributesList()), resource));
                        }
                    }
                }
            }
            return rows;
        }

        private static Map<String, String> labels(List<KeyValue> given) {
            Map<String, String> found = new HashMap<>();
            for (KeyValue label : given) {
                found.put(label.getKey(), label.getValue().getStringValue());
            }
            return found;
        }
    }
}
