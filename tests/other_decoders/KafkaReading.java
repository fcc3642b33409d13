import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.PrintStream;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.requests.ApiVersionsResponse;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.CloseableIterator;

/**
 * Kafka's own Java classes as a peer: reads what comes on standard input and says what it read, until its input ends.
 *
 * Usage: java -cp NEWEST-JARS KafkaReading.java OLDER-JARS. A message whose version the newest release removed is read by the older one.
 *
 * In, each with big-endian numbers: the length of the rest in 4 bytes, a letter, a version in 2 bytes, a name with its length in 2 bytes,
 * the bytes to read. `m` is a message by name, `q` a request frame, `p` a response frame (the name is the api key), `r` records (version 1:
 * checksums count). Out: the length of the rest, a letter, and by the letter: `n` there is no such message or version here; `x` the refusal,
 * as text; `o` the number of bytes left over, then what was read: `w` bytes of it written again, `t` why it cannot be written, `j` JSON.
 */
public class KafkaReading {
    private static final String MESSAGES = "org.apache.kafka.common.message.";
    private static final HexFormat HEX = HexFormat.of();

    /** No class or version for what is asked. */
    private static class Unknown extends Exception {
    }

    /** The message classes of one release. */
    private static class Release {
        final ClassLoader loader;
        final Class<?> accessor;
        final Class<?> cache;
        final Method read;
        final Method size;
        final Method write;
        final Class<?> apis;
        final Class<?> requests;
        final Class<?> responses;
        final Map<String, Class<?>> known = new HashMap<>();

        Release(ClassLoader loader) throws Exception {
            this.loader = loader;
            accessor = loader.loadClass("org.apache.kafka.common.protocol.ByteBufferAccessor");
            cache = loader.loadClass("org.apache.kafka.common.protocol.ObjectSerializationCache");
            Class<?> message = loader.loadClass("org.apache.kafka.common.protocol.Message");
            Class<?> writable = loader.loadClass("org.apache.kafka.common.protocol.Writable");
            read = message.getMethod("read", loader.loadClass("org.apache.kafka.common.protocol.Readable"), short.class);
            size = message.getMethod("size", cache, short.class);
            write = message.getMethod("write", writable, cache, short.class);
            apis = loader.loadClass("org.apache.kafka.common.protocol.ApiKeys");
            requests = loader.loadClass("org.apache.kafka.common.requests.RequestHeader");
            responses = loader.loadClass("org.apache.kafka.common.requests.ResponseHeader");
        }

        /** The api with a key, null where this release has none. */
        Object apiOf(short key) throws Exception {
            boolean known = (Boolean) apis.getMethod("hasId", int.class).invoke(null, (int) key);
            return known ? apis.getMethod("forId", int.class).invoke(null, (int) key) : null;
        }

        String nameOf(Object api) throws Exception {
            return (String) apis.getField("name").get(api);
        }

        /** The class of a message, null where this release has none for the version. */
        Class<?> find(String name, short version) throws Exception {
            if (!known.containsKey(name)) {
                Class<?> found = null;
                for (String each : new String[] {name + "Data", name}) {
                    try {
                        found = loader.loadClass(MESSAGES + each);
                        found.getField("SCHEMAS");
                        break;
                    } catch (ClassNotFoundException | NoSuchFieldException other) {
                        found = null;
                    }
                }
                known.put(name, found);
            }
            Class<?> found = known.get(name);
            if (found == null || version < found.getField("LOWEST_SUPPORTED_VERSION").getShort(null)
                || version > found.getField("HIGHEST_SUPPORTED_VERSION").getShort(null)) {
                return null;
            }
            return found;
        }

        Object read(Class<?> type, ByteBuffer data, short version) throws Exception {
            Object message = type.getConstructor().newInstance();
            read.invoke(message, accessor.getConstructor(ByteBuffer.class).newInstance(data), version);
            return message;
        }

        byte[] written(Object message, short version) throws Exception {
            Object sizes = cache.getConstructor().newInstance();
            byte[] into = new byte[(Integer) size.invoke(message, sizes, version)];
            write.invoke(message, accessor.getConstructor(ByteBuffer.class).newInstance(ByteBuffer.wrap(into)), sizes, version);
            return into;
        }

        /** The answer about a message that was read: its bytes, or why it cannot be written. */
        byte[] rewritten(int left, Object message, short version) {
            try {
                return KafkaReading.read(left, 'w', written(message, version));
            } catch (Exception error) {
                return KafkaReading.read(left, 't', text(error));
            }
        }
    }

    private final List<Release> releases = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
        System.setOut(new PrintStream(System.err)); // what libraries print is not an answer
        KafkaReading reading = new KafkaReading(args[0]);
        while (true) {
            byte[] asked;
            try {
                asked = new byte[in.readInt()];
            } catch (EOFException end) {
                return;
            }
            in.readFully(asked);
            byte[] answer = reading.answer(ByteBuffer.wrap(asked));
            out.writeInt(answer.length);
            out.write(answer);
            out.flush();
        }
    }

    KafkaReading(String older) throws Exception {
        releases.add(new Release(ByteBufferAccessor.class.getClassLoader()));
        List<URL> jars = new ArrayList<>();
        for (String each : older.split(File.pathSeparator)) {
            jars.add(new File(each).toURI().toURL());
        }
        releases.add(new Release(new URLClassLoader(jars.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())));
    }

    private byte[] answer(ByteBuffer asked) {
        char kind = (char) asked.get();
        short version = asked.getShort();
        byte[] name = new byte[asked.getShort()];
        asked.get(name);
        ByteBuffer data = asked.slice();
        try {
            switch (kind) {
                case 'm':
                    return message(new String(name, StandardCharsets.UTF_8), version, data);
                case 'q':
                    return request(data);
                case 'p':
                    return response(Short.parseShort(new String(name, StandardCharsets.UTF_8)), version, data);
                default:
                    return records(data, version == 1);
            }
        } catch (Unknown unknown) {
            return joined('n', new byte[0]);
        } catch (Throwable error) {
            return joined('x', text(error));
        }
    }

    private static byte[] text(Throwable error) {
        Throwable cause = error instanceof InvocationTargetException ? error.getCause() : error;
        return (cause.getClass().getSimpleName() + ": " + cause.getMessage()).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] joined(char letter, byte[] rest) {
        return ByteBuffer.allocate(1 + rest.length).put((byte) letter).put(rest).array();
    }

    private static byte[] read(int left, char how, byte[] value) {
        return ByteBuffer.allocate(6 + value.length).put((byte) 'o').putInt(left).put((byte) how).put(value).array();
    }

    private byte[] message(String name, short version, ByteBuffer data) throws Exception {
        for (Release each : releases) {
            Class<?> type = each.find(name, version);
            if (type != null) {
                Object message = each.read(type, data, version);
                return each.rewritten(data.remaining(), message, version);
            }
        }
        throw new Unknown();
    }

    /** The header as a broker of the release parses it that has the version, then the body; what comes out is both, written. */
    private byte[] request(ByteBuffer data) throws Exception {
        Release release = data.remaining() < 4 ? releases.get(0) : releaseOf(data.getShort(0), "Request", data.getShort(2));
        Object header = release.requests.getMethod("parse", ByteBuffer.class).invoke(null, data);
        Object fields = release.requests.getMethod("data").invoke(header);
        byte[] first = release.rewritten(0, fields, (Short) release.requests.getMethod("headerVersion").invoke(header));
        Object api = release.requests.getMethod("apiKey").invoke(header);
        short version = (Short) release.requests.getMethod("apiVersion").invoke(header);
        return framed(first, message(release.nameOf(api) + "Request", version, data));
    }

    private byte[] response(short key, short version, ByteBuffer data) throws Exception {
        Release release = releaseOf(key, "Response", version);
        Object api = release.apiOf(key);
        if (api == null) {
            throw new Unknown();
        }
        short headerVersion = (Short) release.apis.getMethod("responseHeaderVersion", short.class).invoke(api, version);
        Object header = release.responses.getMethod("parse", ByteBuffer.class, short.class).invoke(null, data, headerVersion);
        byte[] first = release.rewritten(0, release.responses.getMethod("data").invoke(header), headerVersion);
        if (key == ApiKeys.API_VERSIONS.id && version <= ApiKeys.API_VERSIONS.latestVersion()) {
            int start = data.position();
            Object message = ApiVersionsResponse.parse(new ByteBufferAccessor(data), version).data();
            // what is left over is not known where it fell back to version 0, which it reads from a copy
            data.limit(data.capacity()).position(start);
            int left = -1;
            try {
                releases.get(0).read(releases.get(0).find("ApiVersionsResponse", version), data, version);
                left = data.remaining();
            } catch (InvocationTargetException fallback) {
                left = -1;
            }
            return framed(first, releases.get(0).rewritten(left, message, version));
        }
        return framed(first, message(release.nameOf(api) + "Response", version, data));
    }

    /** The newest release that has the version of an api, else the newest. */
    private Release releaseOf(short key, String suffix, short version) throws Exception {
        for (Release each : releases) {
            Object api = each.apiOf(key);
            if (api != null && each.find(each.nameOf(api) + suffix, version) != null) {
                return each;
            }
        }
        return releases.get(0);
    }

    /** The answer about a frame by those about its header and its body: the bytes of both, or why one of them cannot be written. */
    private static byte[] framed(byte[] header, byte[] body) {
        if (header[5] != 'w') {
            return ByteBuffer.allocate(header.length).put(body, 0, 5).put(header, 5, header.length - 5).array();
        }
        if (body[5] != 'w') {
            return body;
        }
        return ByteBuffer.allocate(header.length - 6 + body.length).put(body, 0, 6).put(header, 6, header.length - 6)
            .put(body, 6, body.length - 6).array();
    }

    private static byte[] records(ByteBuffer data, boolean checksums) {
        MemoryRecords records = MemoryRecords.readableRecords(data);
        StringBuilder json = new StringBuilder("[");
        int end = 0;
        for (MutableRecordBatch batch : records.batches()) {
            if (checksums) {
                batch.ensureValid();
            }
            end += batch.sizeInBytes();
            json.append(json.length() > 1 ? ", " : "").append("[").append(batch.magic()).append(", ").append(batch.lastOffset())
                .append(", \"").append(batch.compressionType().name).append("\", \"").append(batch.timestampType().name).append("\", ")
                .append(batch.producerId()).append(", ").append(batch.producerEpoch()).append(", ").append(batch.baseSequence()).append(", ")
                .append(batch.lastSequence()).append(", ").append(batch.isTransactional()).append(", ").append(batch.isControlBatch())
                .append(", ").append(batch.deleteHorizonMs().isPresent() ? batch.deleteHorizonMs().getAsLong() : null).append(", [");
            boolean first = true;
            try (CloseableIterator<Record> each = batch.streamingIterator(BufferSupplier.NO_CACHING)) {
                while (each.hasNext()) {
                    Record record = each.next();
                    if (checksums) {
                        record.ensureValid();
                    }
                    json.append(first ? "[" : ", [").append(record.offset()).append(", ").append(record.timestamp()).append(", ")
                        .append(record.sequence()).append(", ").append(hex(record.key())).append(", ").append(hex(record.value())).append(", [");
                    first = false;
                    boolean firstHeader = true;
                    for (Header header : record.headers()) {
                        json.append(firstHeader ? "[" : ", [").append(hex(ByteBuffer.wrap(header.key().getBytes(StandardCharsets.UTF_8))))
                            .append(", ").append(header.value() == null ? "null" : hex(ByteBuffer.wrap(header.value()))).append("]");
                        firstHeader = false;
                    }
                    json.append("]]");
                }
            }
            json.append("]]");
        }
        return read(data.capacity() - end, 'j', json.append("]").toString().getBytes(StandardCharsets.UTF_8));
    }

    private static String hex(ByteBuffer bytes) {
        if (bytes == null) {
            return "null";
        }
        byte[] all = new byte[bytes.remaining()];
        bytes.duplicate().get(all);
        return "\"" + HEX.formatHex(all) + "\"";
    }
}
