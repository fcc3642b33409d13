import io.kroxylicious.proxy.KafkaProxy;
import io.kroxylicious.proxy.config.ConfigParser;
import io.kroxylicious.proxy.internal.config.Features;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Kroxylicious out of its runtime's jars; Maven Central has none of its application.
 *
 * Usage: java -cp KROXYLICIOUS-JARS KroxyliciousProxy.java CONFIGURATION
 */
public class KroxyliciousProxy {
    public static void main(String[] args) throws Exception {
        ConfigParser parser = new ConfigParser();
        String configuration = Files.readString(Path.of(args[0]));
        try (KafkaProxy proxy = new KafkaProxy(parser, parser.parseConfiguration(configuration), Features.defaultFeatures())) {
            proxy.startup().block();
        }
    }
}
