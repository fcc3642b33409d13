import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import org.apache.kafka.clients.admin.FinalizedVersionRange;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.ApiVersionsResponse;
import org.apache.kafka.common.requests.ResponseHeader;

/**
 * Kafka's own classes: `AcceptAnswers FILE` parses the responses of a file, a line each: api key, version, hex with the header. It asks each for
 * all that clients ask it, and prints a line each: `ok`, `unknown` for a version that this release lacks, or the error.
 */
public class AcceptAnswers {
    public static void main(String[] args) throws Exception {
        StringBuilder said = new StringBuilder();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] parts = line.split(" ");
            short key = Short.parseShort(parts[0]), version = Short.parseShort(parts[1]);
            if (!ApiKeys.hasId(key) || !ApiKeys.forId(key).isVersionSupported(version)) {
                said.append("unknown\n");
                continue;
            }
            try {
                accept(ApiKeys.forId(key), version, ByteBuffer.wrap(HexFormat.of().parseHex(parts[2])));
                said.append("ok\n");
            } catch (InvocationTargetException error) {
                said.append(String.valueOf(error.getCause()).replace('\n', ' ')).append('\n');
            } catch (RuntimeException error) {
                said.append(String.valueOf(error).replace('\n', ' ')).append('\n');
            }
        }
        System.out.print(said);
    }

    static void accept(ApiKeys api, short version, ByteBuffer data) throws Exception {
        ResponseHeader.parse(data, api.responseHeaderVersion(version));
        AbstractResponse answer = parse(api, version, data);
        if (data.hasRemaining()) {
            throw new IllegalArgumentException(data.remaining() + " bytes are left");
        }
        Method[] methods = answer.getClass().getDeclaredMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        for (Method each : methods) {
            if (each.getParameterCount() == 0 && Modifier.isPublic(each.getModifiers()) && !Modifier.isStatic(each.getModifiers())) {
                ask(answer, each);
            }
        }
        answer.errorCounts();
        if (answer instanceof ApiVersionsResponse versions) { // as `Admin.describeFeatures`
            versions.data().finalizedFeatures().forEach(each -> new FinalizedVersionRange(each.minVersionLevel(), each.maxVersionLevel()));
            versions.data().supportedFeatures().forEach(each -> range(each.minVersion(), each.maxVersion()));
            versions.data().apiKeys().forEach(each -> range(each.minVersion(), each.maxVersion()));
        }
    }

    static void ask(AbstractResponse answer, Method about) throws Exception {
        try {
            about.invoke(answer);
        } catch (InvocationTargetException error) {
            if (!String.valueOf(error.getCause().getMessage()).startsWith("Use errors")) { // Metadata has its errors by name or by id
                throw error;
            }
        }
    }

    static void range(short low, short high) {
        if (low < 0 || high < low) {
            throw new IllegalArgumentException("a range of " + low + " to " + high);
        }
    }

    /** Its parameter is a `Readable` since 4.1, and a buffer before. */
    static AbstractResponse parse(ApiKeys api, short version, ByteBuffer data) throws Exception {
        for (Method each : AbstractResponse.class.getMethods()) {
            if (each.getName().equals("parseResponse") && each.getParameterCount() == 3) {
                Object from = each.getParameterTypes()[1] == ByteBuffer.class ? data : new ByteBufferAccessor(data);
                return (AbstractResponse) each.invoke(null, api, from, version);
            }
        }
        throw new NoSuchMethodException("AbstractResponse.parseResponse");
    }
}
