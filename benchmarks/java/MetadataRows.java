import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponsePartition;
import org.apache.kafka.common.message.MetadataResponseData.MetadataResponseTopic;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;

/** What a user of Spark without kwire writes: a function in the JVM that reads a body with Kafka's own classes, a row a partition. */
public class MetadataRows implements UDF1<byte[], List<Row>> {
    private static final short VERSION = 12;

    @Override
    public List<Row> call(byte[] body) {
        MetadataResponseData response = new MetadataResponseData(new ByteBufferAccessor(ByteBuffer.wrap(body)), VERSION);
        List<Row> rows = new ArrayList<>();
        for (MetadataResponseTopic topic : response.topics()) {
            for (MetadataResponsePartition partition : topic.partitions()) {
                rows.add(RowFactory.create(topic.name(), partition.partitionIndex(), partition.leaderId()));
            }
        }
        return rows;
    }
}
