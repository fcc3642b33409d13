import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;

/**
 * Kafka's own Java classes as a contender: decodes the messages of a file, again and again, a round for each line on standard input.
 *
 * Usage: java -cp KAFKA-CLIENTS-JAR:SLF4J-JAR KafkaDecoding.java metadata|headers|records FILE REPEATS
 *
 * The file holds messages, each behind its length (4 bytes, big-endian). Ready when it says so, after SECONDS_TO_WARM of warming up; then
 * each line of input decodes all messages REPEATS times and is answered by how many messages, records or headers these were.
 */
public class KafkaDecoding {
    private static final double SECONDS_TO_WARM = 4.0;
    private static final short METADATA_VERSION = 12;

    /** Where what was decoded goes, so that the compiler cannot leave it out. */
    public static volatile long seen;

    private interface Round {
        long run();
    }

    public static void main(String[] args) throws Exception {
        List<ByteBuffer> messages = split(ByteBuffer.wrap(Files.readAllBytes(Path.of(args[1]))));
        Round round = round(args[0], messages);
        int repeats = Integer.parseInt(args[2]);
        long end = System.nanoTime() + (long) (SECONDS_TO_WARM * 1e9);
        while (System.nanoTime() < end) {
            round.run();
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        while (lines.readLine() != null) {
            long count = 0;
            for (int i = 0; i < repeats; i++) {
                count += round.run();
            }
            System.out.println(count);
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
                return () -> metadata(messages);
            case "headers":
                return () -> headers(messages);
            case "records":
                return () -> records(messages);
            default:
                throw new IllegalArgumentException("no such work: " + work);
        }
    }

    private static long metadata(List<ByteBuffer> messages) {
        long topics = 0;
        for (ByteBuffer message : messages) {
            MetadataResponseData data = new MetadataResponseData(new ByteBufferAccessor(message.duplicate()), METADATA_VERSION);
            topics += data.topics().size();
        }
        seen += topics;
        return messages.size();
    }

    private static long headers(List<ByteBuffer> messages) {
        long correlations = 0;
        for (ByteBuffer message : messages) {
            correlations += new RequestHeaderData(new ByteBufferAccessor(message.duplicate()), (short) 2).correlationId();
        }
        seen += correlations;
        return messages.size();
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
