import java.nio.ByteBuffer;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;

/** What a user of Spark without kwire writes: a function in the JVM that reads a header with Kafka's own classes. */
public class HeaderRow implements UDF1<byte[], Row> {
    @Override
    public Row call(byte[] frame) {
        ByteBuffer buffer = ByteBuffer.wrap(frame);
        short apiKey = buffer.getShort(0);
        short apiVersion = buffer.getShort(2);
        short headerVersion = ApiKeys.forId(apiKey).requestHeaderVersion(apiVersion);
        RequestHeaderData header = new RequestHeaderData(new ByteBufferAccessor(buffer), headerVersion);
        return RowFactory.create(header.requestApiKey(), header.requestApiVersion(), header.correlationId(), header.clientId());
    }
}
