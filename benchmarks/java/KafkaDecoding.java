import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;

/**
 * Kafka's own Java classes as a contender: decodes the messages of a file, again and again, a round for each line on standard input.
 *
 * Usage: java -cp KAFKA-CLIENTS-JAR:SLF4J-JAR KafkaDecoding.java WORK FILE REPEATS; the works are in `round`, what goes in and out is in
 * ../compiled/README.md. `records` counts records where the others count messages.
 */
public class KafkaDecoding {
    private static final double SECONDS_TO_WARM = 4.0;
    private static final short METADATA_VERSION = 12;
    private static final short FETCH_VERSION = 12;
    private static final short PRODUCE_VERSION = 9;

    /** Where what was decoded goes, so that the compiler cannot leave it out. */
    public static volatile long seen;
    public static volatile ApiMessage last;

    private interface Round {
        long run();
    }

    public static void main(String[] args) throws Exception {
        List<ByteBuffer> messages = split(ByteBuffer.wrap(Files.readAllBytes(Path.of(args[1]))));
        Round round = round(args[0], messages);
        int repeats = Integer.parseInt(args[2]);
        round.run();
        long first = seen;
        long end = System.nanoTime() + (long) (SECONDS_TO_WARM * 1e9);
        while (System.nanoTime() < end) {
            round.run();
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready " + first);
        while (lines.readLine() != null) {
            long count = 0;
            long start = System.nanoTime();
            for (int i = 0; i < repeats; i++) {
                count += round.run();
            }
            System.out.println(count + " " + (double) (System.nanoTime() - start) / count);
        }
    }

    private static List<ByteBuffer> split(ByteBuffer all) {
        List<ByteBuffer> messages = new ArrayList<>();
        while (all.hasRemaining()) {
            byte[] message = new byte[all.getInt()];
            all.get(message);
            messages.add(ByteBuffer.wrap(message));
        }
        return messages;
    }

    private static Round round(String work, List<ByteBuffer> messages) {
        switch (work) {
            case "metadata":
                return () -> sum(messages, KafkaDecoding::metadata);
            case "fetch-request":
                return () -> sum(messages, KafkaDecoding::fetchRequest);
            case "fetch-response":
                return () -> sum(messages, KafkaDecoding::fetchResponse);
            case "produce":
                return () -> sum(messages, KafkaDecoding::produce);
            case "requests":
                return () -> sum(messages, KafkaDecoding::request);
            case "headers":
                return () -> sum(messages, message -> header(message.duplicate(), (short) 2).correlationId());
            case "records":
                return () -> records(messages);
            default:
                throw new IllegalArgumentException("no such work: " + work);
        }
    }

    private static long sum(List<ByteBuffer> messages, ToLongFunction<ByteBuffer> decode) {
        long sum = 0;
        for (ByteBuffer message : messages) {
            sum += decode.applyAsLong(message);
        }
        seen += sum;
        return messages.size();
    }

    private static long metadata(ByteBuffer message) {
        MetadataResponseData data = new MetadataResponseData(new ByteBufferAccessor(message.duplicate()), METADATA_VERSION);
        long partitions = 0;
        for (MetadataResponseData.MetadataResponseTopic topic : data.topics()) {
            partitions += topic.partitions().size();
        }
        return partitions;
    }

    private static long fetchRequest(ByteBuffer message) {
        FetchRequestData data = new FetchRequestData(new ByteBufferAccessor(message.duplicate()), FETCH_VERSION);
        long partitions = 0;
        for (FetchRequestData.FetchTopic topic : data.topics()) {
            partitions += topic.partitions().size();
        }
        return partitions;
    }

    private static long fetchResponse(ByteBuffer message) {
        FetchResponseData data = new FetchResponseData(new ByteBufferAccessor(message.duplicate()), FETCH_VERSION);
        long partitions = 0;
        for (FetchResponseData.FetchableTopicResponse topic : data.responses()) {
            partitions += topic.partitions().size();
        }
        return partitions;
    }

    private static long produce(ByteBuffer message) {
        ProduceRequestData data = new ProduceRequestData(new ByteBufferAccessor(message.duplicate()), PRODUCE_VERSION);
        long partitions = 0;
        for (ProduceRequestData.TopicProduceData topic : data.topicData()) {
            partitions += topic.partitionData().size();
        }
        return partitions;
    }

    private static RequestHeaderData header(ByteBuffer buffer, short headerVersion) {
        return new RequestHeaderData(new ByteBufferAccessor(buffer), headerVersion);
    }

    private static long request(ByteBuffer message) {
        ByteBuffer buffer = message.duplicate();
        ApiKeys key = ApiKeys.forId(buffer.getShort(0));
        short version = buffer.getShort(2);
        RequestHeaderData header = header(buffer, key.requestHeaderVersion(version));
        ApiMessage body = key.messageType.newRequest();
        body.read(new ByteBufferAccessor(buffer), version);
        last = body;
        return header.correlationId();
    }

    private static long records(List<ByteBuffer> messages) {
        long records = 0;
        long bytes = 0;
        for (ByteBuffer message : messages) {
            for (MutableRecordBatch batch : MemoryRecords.readableRecords(message.duplicate()).batches()) {
                batch.ensureValid();
                for (Record record : batch) {
                    records++;
                    bytes += record.offset() + record.valueSize();
                }
            }
        }
        seen += bytes;
        return records;
    }
}
