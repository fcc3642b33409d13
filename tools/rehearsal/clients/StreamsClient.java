import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/** Kafka Streams: `StreamsClient BOOTSTRAP CLIENT_ID TOPIC GROUP COUNT SECONDS` sends COUNT records and reads them in a stream. */
public class StreamsClient {
    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[4]);
        long until = System.currentTimeMillis() + Long.parseLong(args[5]) * 1000;
        AtomicInteger produced = new AtomicInteger();
        AtomicInteger consumed = new AtomicInteger();
        String error = "";
        try {
            Properties config = new Properties();
            config.put("bootstrap.servers", args[0]);
            config.put("client.id", args[1]);
            config.put("max.block.ms", "10000");
            config.put("delivery.timeout.ms", "10000");
            config.put("request.timeout.ms", "5000");
            try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
                for (int i = 0; i < count; i++) {
                    producer.send(new ProducerRecord<>(args[2], "record " + i)).get();
                    produced.incrementAndGet();
                }
            }
            Properties streaming = new Properties();
            streaming.put("bootstrap.servers", args[0]);
            streaming.put("client.id", args[1]);
            streaming.put("application.id", args[3]);
            streaming.put("default.key.serde", Serdes.String().getClass());
            streaming.put("default.value.serde", Serdes.String().getClass());
            streaming.put("auto.offset.reset", "earliest");
            streaming.put("state.dir", System.getProperty("java.io.tmpdir") + "/" + args[3]);
            var builder = new StreamsBuilder();
            builder.stream(args[2]).foreach((key, value) -> consumed.incrementAndGet());
            try (var streams = new KafkaStreams(builder.build(), streaming)) {
                streams.start();
                while (consumed.get() < count && System.currentTimeMillis() < until && streams.state() != KafkaStreams.State.ERROR) {
                    Thread.sleep(100);
                }
                error = streams.state() == KafkaStreams.State.ERROR ? "ERROR" : "";
            }
        } catch (Exception thrown) {
            error = (thrown.getCause() == null ? thrown : thrown.getCause()).getClass().getSimpleName();
        }
        System.out.println("{\"produced\": " + produced + ", \"consumed\": " + consumed + ", \"error\": \"" + error + "\"}");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
