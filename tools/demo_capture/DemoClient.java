// One application of the demo: java -cp CLIENTS_JAR:. DemoClient BOOTSTRAP CLIENT_ID SECONDS produce|consume TOPIC GROUP
// Compiles against every kafka-clients since 0.10 (--release 8).
import java.util.Collections;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

public class DemoClient {
    static java.lang.reflect.Method poll(Object consumer) throws NoSuchMethodException {
        try {
            return consumer.getClass().getMethod("poll", java.time.Duration.class);
        } catch (NoSuchMethodException old) {
            return consumer.getClass().getMethod("poll", long.class);
        }
    }

    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.put("bootstrap.servers", args[0]);
        config.put("client.id", args[1]);
        long end = System.currentTimeMillis() + Long.parseLong(args[2]) * 1000;
        if (args[3].equals("produce")) {
            config.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
            config.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
            KafkaProducer<String, String> producer = new KafkaProducer<String, String>(config);
            StringBuilder value = new StringBuilder();
            for (int i = 0; i < (args[5].equals("bulk") ? 4000 : 60); i++) value.append('.');
            for (int i = 0; System.currentTimeMillis() < end; i++) {
                producer.send(new ProducerRecord<String, String>(args[4], "key-" + i % 7, value.toString())).get();
                Thread.sleep(1500);
            }
            producer.close();
        } else {
            config.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
            config.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
            config.put("group.id", args[5]);
            config.put("auto.offset.reset", "earliest");
            config.put("fetch.max.wait.ms", "3000");
            KafkaConsumer<String, String> consumer = new KafkaConsumer<String, String>(config);
            consumer.subscribe(Collections.singletonList(args[4]));
            // poll(long) is gone in 4.0, poll(Duration) came with 2.0
            java.lang.reflect.Method poll = poll(consumer);
            Object wait = poll.getParameterTypes()[0] == long.class ? (Object) 1000L : java.time.Duration.ofSeconds(1);
            while (System.currentTimeMillis() < end) poll.invoke(consumer, wait);
            consumer.close();
        }
    }
}
