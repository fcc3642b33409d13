import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * kafka-clients of any age: `JavaClient BOOTSTRAP CLIENT_ID TOPIC GROUP COUNT SECONDS` sends COUNT records and waits for each, reads them in a group,
 * commits, and prints what came of it as a line of JSON. The consumer's signatures differ between 0.9 and 4.x, so it is called by reflection.
 * In 0.8.2 it does nothing, and is left out.
 */
public class JavaClient {
    static int produced;
    static int consumed;
    static String error = "";

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[4]);
        long until = System.currentTimeMillis() + Long.parseLong(args[5]) * 1000;
        Thread work = new Thread(() -> {
            try {
                produce(args, count);
                if (find("org.apache.kafka.clients.consumer.KafkaConsumer", "commitSync") != null) {
                    consume(args, count, until);
                }
            } catch (Throwable thrown) {
                Throwable cause = thrown;
                while (cause.getCause() != null && (cause instanceof ExecutionException || cause instanceof InvocationTargetException)) {
                    cause = cause.getCause();
                }
                error = cause.getClass().getSimpleName();
            }
        });
        work.setDaemon(true);
        work.start();
        work.join(until + 5000 - System.currentTimeMillis());
        if (work.isAlive()) {
            error = "ran to its time limit";
        }
        System.out.println("{\"produced\": " + produced + ", \"consumed\": " + consumed + ", \"error\": \"" + error + "\"}");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    static Properties common(String[] args) {
        Properties config = new Properties();
        config.put("bootstrap.servers", args[0]);
        config.put("client.id", args[1]);
        return config;
    }

    static void produce(String[] args, int count) throws Exception {
        Properties config = common(args);
        config.put("retries", "0");
        config.put("enable.idempotence", "false");
        config.put("request.timeout.ms", "5000");
        config.put("delivery.timeout.ms", "10000");
        config.put("max.block.ms", "10000");
        config.put("acks", "all");
        config.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        config.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        KafkaProducer<String, String> producer = new KafkaProducer<String, String>(config);
        List<Future<?>> sent = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sent.add(producer.send(new ProducerRecord<String, String>(args[2], "record " + i)));
        }
        for (Future<?> each : sent) {
            each.get();
            produced++;
        }
        producer.close();
    }

    static Method find(String type, String name, Class<?>... arguments) throws Exception {
        try {
            return Class.forName(type).getMethod(name, arguments);
        } catch (NoSuchMethodException missing) {
            return null;
        }
    }

    static void consume(String[] args, int count, long until) throws Exception {
        Properties config = common(args);
        config.put("group.id", args[3]);
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", "false");
        config.put("session.timeout.ms", "10000");
        config.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        config.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        String type = "org.apache.kafka.clients.consumer.KafkaConsumer";
        Object consumer = Class.forName(type).getConstructor(Properties.class).newInstance(config);
        Method subscribe = find(type, "subscribe", Collection.class); // List in 0.9
        (subscribe == null ? find(type, "subscribe", List.class) : subscribe).invoke(consumer, Collections.singletonList(args[2]));
        Method poll = find(type, "poll", java.time.Duration.class); // from 2.0 on
        while (consumed < count && System.currentTimeMillis() < until) {
            Object records = poll == null
                ? find(type, "poll", long.class).invoke(consumer, 500L)
                : poll.invoke(consumer, java.time.Duration.ofMillis(500));
            consumed += (Integer) records.getClass().getMethod("count").invoke(records);
        }
        find(type, "commitSync").invoke(consumer);
        find(type, "close").invoke(consumer);
    }
}
