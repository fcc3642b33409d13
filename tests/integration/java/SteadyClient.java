import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Kafka's own client: `SteadyClient KIND TOPIC COUNT KEY=VALUE...` sends COUNT numbers, one after the other, reads them at the same time in a group
 * of the topic's name, which is a share group if KIND is `share`, and prints them as they came.
 */
public class SteadyClient {
    private static final Set<Integer> SEEN = new HashSet<>();
    private static final StringBuilder FOUND = new StringBuilder();

    private static void send(Properties config, String topic, int count) {
        Properties sending = (Properties) config.clone();
        sending.putAll(Map.of("buffer.memory", "100000", "max.block.ms", "240000"));
        try (var producer = new KafkaProducer<>(sending, new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < count; i++) {
                producer.send(new ProducerRecord<>(topic, String.format("%-900d", i)), (metadata, error) -> {
                    if (error != null) {
                        error.printStackTrace();
                        Runtime.getRuntime().halt(1);
                    }
                });
                Thread.sleep(3);
            }
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void read(ConsumerRecords<String, String> records) {
        for (var record : records) {
            int number = Integer.parseInt(record.value().strip());
            SEEN.add(number);
            FOUND.append(number).append(' ');
        }
    }

    public static void main(String[] args) throws Exception {
        String topic = args[1];
        int count = Integer.parseInt(args[2]);
        Properties config = new Properties();
        for (int i = 3; i < args.length; i++) {
            int at = args[i].indexOf('=');
            config.put(args[i].substring(0, at), args[i].substring(at + 1));
        }
        new Thread(() -> send(config, topic, count)).start();
        Properties reading = (Properties) config.clone();
        reading.put("group.id", topic);
        Duration shortly = Duration.ofMillis(500);
        if (args[0].equals("share")) {
            try (Admin admin = Admin.create(config)) {
                var earliest = new AlterConfigOp(new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET);
                admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.GROUP, topic), List.of(earliest))).all().get();
            }
            try (var consumer = new KafkaShareConsumer<>(reading, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(List.of(topic));
                while (SEEN.size() < count) {
                    read(consumer.poll(shortly));
                }
                consumer.commitSync();
            }
        } else {
            reading.putAll(Map.of("auto.offset.reset", "earliest", "isolation.level", "read_committed"));
            try (var consumer = new KafkaConsumer<>(reading, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(List.of(topic));
                while (SEEN.size() < count) {
                    read(consumer.poll(shortly));
                }
            }
        }
        System.out.println(FOUND);
    }
}
