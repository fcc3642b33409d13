import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;

/** Kafka Streams: `CopyStream FROM TO KEY=VALUE...` copies a topic exactly once, until it is stopped. */
public class CopyStream {
    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.put("default.key.serde", Serdes.String().getClass());
        config.put("default.value.serde", Serdes.String().getClass());
        config.put("application.id", args[1]);
        config.put("processing.guarantee", "exactly_once_v2");
        config.put("auto.offset.reset", "earliest");
        config.put("replication.factor", "1");
        for (int i = 2; i < args.length; i++) {
            int at = args[i].indexOf('=');
            config.put(args[i].substring(0, at), args[i].substring(at + 1));
        }
        var builder = new StreamsBuilder();
        builder.stream(args[0]).to(args[1]);
        new KafkaStreams(builder.build(), config).start();
    }
}
