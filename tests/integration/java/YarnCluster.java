import java.io.FileOutputStream;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/** A resource manager and a node manager; runs until its standard input ends. Argument: the file for their configuration. */
public class YarnCluster {
    public static void main(String[] arguments) {
        try (MiniYARNCluster cluster = new MiniYARNCluster("yarn", 1, 1, 1)) {
            YarnConfiguration settings = new YarnConfiguration();
            settings.set("yarn.scheduler.capacity.root.queues", "default");
            settings.set("yarn.scheduler.capacity.root.default.capacity", "100");
            settings.set("yarn.scheduler.capacity.maximum-am-resource-percent", "0.5");
            settings.set("yarn.minicluster.yarn.nodemanager.resource.memory-mb", "12288");
            settings.set("yarn.nodemanager.vmem-check-enabled", "false");
            settings.set("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "100.0");
            cluster.init(settings);
            cluster.start();
            try (FileOutputStream file = new FileOutputStream(arguments[0])) {
                cluster.getConfig().writeXml(file);
            }
            System.out.println("ready");
            System.in.read();
        } catch (Throwable fault) {
            fault.printStackTrace();
        }
        System.exit(0); // else its threads go on
    }
}
