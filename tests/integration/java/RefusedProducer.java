import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Kafka's own client: `RefusedProducer TOPIC SECONDS KEY=VALUE...` sends records with an idempotent producer, tries again at once after each error
 * until the time is over, and prints the last error.
 */
public class RefusedProducer {
    public static void main(String[] args) throws Exception {
        long until = System.currentTimeMillis() + 1000 * Long.parseLong(args[1]);
        Properties config = new Properties();
        for (int i = 2; i < args.length; i++) {
            int at = args[i].indexOf('=');
            config.put(args[i].substring(0, at), args[i].substring(at + 1));
        }
        String last = "";
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            while (System.currentTimeMillis() < until) {
                try {
                    producer.send(new ProducerRecord<>(args[0], "record")).get();
                } catch (Exception error) {
                    last = String.valueOf(error.getCause() == null ? error : error.getCause());
                }
            }
        }
        System.out.println(last);
    }
}
