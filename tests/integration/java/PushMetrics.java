import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka's own client: `PushMetrics MS KEY=VALUE...` prints its instance id, stays for a while and closes. */
public class PushMetrics {
    public static void main(String[] settings) throws Exception {
        Properties config = new Properties();
        for (int i = 1; i < settings.length; i++) {
            int at = settings[i].indexOf('=');
            config.put(settings[i].substring(0, at), settings[i].substring(at + 1));
        }
        ByteArraySerializer bytes = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config, bytes, bytes)) {
            System.out.println(producer.clientInstanceId(Duration.ofSeconds(30)));
            Thread.sleep(Long.parseLong(settings[0]));
        }
    }
}
