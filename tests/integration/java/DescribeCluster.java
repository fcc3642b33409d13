import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;

/** Kafka's own client: `DescribeCluster KEY=VALUE...` prints the cluster id and the ids of the nodes that a broker tells it. */
public class DescribeCluster {
    public static void main(String[] settings) throws Exception {
        Properties config = new Properties();
        for (String setting : settings) {
            int at = setting.indexOf('=');
            config.put(setting.substring(0, at), setting.substring(at + 1));
        }
        try (Admin admin = Admin.create(config)) {
            var cluster = admin.describeCluster();
            System.out.print(cluster.clusterId().get());
            for (var node : cluster.nodes().get()) {
                System.out.print(" " + node.id());
            }
            System.out.println();
        }
    }
}
