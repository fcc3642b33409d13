import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Kafka's own client: `ProduceConsume TOPIC COUNT KEY=VALUE...` makes a topic, sends COUNT records in transactions of two, reads them in a group
 * of the topic's name, asks for features, and prints the ports of the brokers, how many records came and what the group has committed.
 */
public class ProduceConsume {
    public static void main(String[] args) throws Exception {
        String topic = args[0];
        int count = Integer.parseInt(args[1]);
        Properties config = new Properties();
        for (int i = 2; i < args.length; i++) {
            int at = args[i].indexOf('=');
            config.put(args[i].substring(0, at), args[i].substring(at + 1));
        }
        try (Admin admin = Admin.create(config)) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
            for (var node : admin.describeCluster().nodes().get()) {
                System.out.print(node.port() + " ");
            }
            admin.describeFeatures().featureMetadata().get();
            Properties sending = (Properties) config.clone();
            sending.put("transactional.id", topic);
            try (var producer = new KafkaProducer<>(sending, new StringSerializer(), new StringSerializer())) {
                producer.initTransactions();
                for (int half = 0; half < 2; half++) {
                    producer.beginTransaction();
                    for (int i = half * count / 2; i < (half + 1) * count / 2; i++) {
                        producer.send(new ProducerRecord<>(topic, "record " + i));
                    }
                    producer.commitTransaction();
                }
            }
            Properties reading = (Properties) config.clone();
            reading.putAll(Map.of("group.id", topic, "auto.offset.reset", "earliest", "isolation.level", "read_committed"));
            int came = 0;
            try (var consumer = new KafkaConsumer<>(reading, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(List.of(topic));
                for (long until = System.currentTimeMillis() + 60_000; came < count && System.currentTimeMillis() < until;) {
                    for (var record : consumer.poll(Duration.ofMillis(500))) {
                        came += record.value().equals("record " + came) ? 1 : count;
                    }
                }
                consumer.commitSync();
            }
            var committed = admin.listConsumerGroupOffsets(topic).partitionsToOffsetAndMetadata().get();
            admin.deleteTopics(List.of(topic)).all().get();
            System.out.println(came + " " + committed.values().iterator().next().offset());
        }
    }
}
