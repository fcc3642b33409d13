import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Asks Kafka's own classes, in the kafka-clients jar of any release, which api versions a broker of that release accepts, advertises
 * and marks deprecated, and which error codes it knows. All by reflection, because the classes changed names and signatures over time.
 *
 * Usage: java -cp SLF4J-API-JAR ReleaseFacts.java apis JAR...    one JSON line for each api of each jar
          and errors JAR     one JSON line for each error code
 */
public class ReleaseFacts {
    private static final String PROTOCOL = "org.apache.kafka.common.protocol.";

    public static void main(String[] args) throws Exception {
        for (int i = 1; i < args.length; i++) {
            File jar = new File(args[i]);
            try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toURI().toURL()}, ClassLoader.getSystemClassLoader())) {
                String release = jar.getName().replaceAll("^.*?-(\\d[0-9.]*)\\.jar$", "$1");
                if (args[0].equals("errors")) {
                    errors(loader);
                } else {
                    apis(release, loader);
                }
            }
        }
    }

    private static void errors(ClassLoader loader) throws Exception {
        Class<?> errors = loader.loadClass(PROTOCOL + "Errors");
        for (Object each : errors.getEnumConstants()) {
            System.out.println("[" + number(call(each, "code")) + ", \"" + ((Enum<?>) each).name() + "\"]");
        }
    }

    private static void apis(String release, ClassLoader loader) throws Exception {
        Class<?> keys = loader.loadClass(PROTOCOL + "ApiKeys");
        Map<String, Object> listeners = listeners(loader);
        Map<String, Map<Integer, int[]>> advertised = new LinkedHashMap<>();
        Map<String, Map<Integer, int[]>> advertisedUnstable = new LinkedHashMap<>();
        for (Map.Entry<String, Object> listener : listeners.entrySet()) {
            advertised.put(listener.getKey(), advertised(loader, listener.getValue(), false));
            advertisedUnstable.put(listener.getKey(), advertised(loader, listener.getValue(), true));
        }
        for (Object key : keys.getEnumConstants()) {
            int id = number(field(key, "id"));
            Map<String, int[]> accepts = new LinkedHashMap<>();
            Map<String, int[]> acceptsUnstable = new LinkedHashMap<>();
            Map<String, int[]> advertises = new LinkedHashMap<>();
            Map<String, int[]> advertisesUnstable = new LinkedHashMap<>();
            for (Map.Entry<String, Object> listener : listeners.entrySet()) {
                String name = listener.getKey();
                if (listener.getValue() == null ? enabled(key) : (Boolean) call(key, "inScope", listener.getValue())) {
                    put(accepts, name, accepted(loader, key, id, false));
                    put(acceptsUnstable, name, accepted(loader, key, id, true));
                }
                put(advertises, name, advertised.get(name).get(id));
                put(advertisesUnstable, name, advertisedUnstable.get(name).get(id));
            }
            System.out.println("{\"release\": \"" + release + "\", \"api_key\": " + id + ", \"name\": \"" + field(key, "name") + "\""
                + ", \"accepts\": " + json(accepts) + ", \"accepts_with_unstable\": " + json(acceptsUnstable)
                + ", \"advertises\": " + json(advertises) + ", \"advertises_with_unstable\": " + json(advertisesUnstable)
                + ", \"deprecated\": " + json(deprecated(key)) + "}");
        }
    }

    /** Listener types by lower-case name; before 2.8 there is one kind of broker and no such type. */
    private static Map<String, Object> listeners(ClassLoader loader) {
        Map<String, Object> found = new LinkedHashMap<>();
        try {
            for (Object each : loader.loadClass("org.apache.kafka.common.message.ApiMessageType$ListenerType").getEnumConstants()) {
                found.put(((Enum<?>) each).name().toLowerCase(), each);
            }
        } catch (ClassNotFoundException before28) {
            found.put("zk_broker", null);
        }
        return found;
    }

    /** 2.7 knew the Raft apis but switched them off. */
    private static boolean enabled(Object key) throws Exception {
        try {
            return (Boolean) field(key, "isEnabled");
        } catch (NoSuchFieldException other) {
            return true;
        }
    }

    private static int[] accepted(ClassLoader loader, Object key, int id, boolean unstable) throws Exception {
        if (method(key.getClass(), "oldestVersion", 0) == null) {
            Class<?> before011 = loader.loadClass(PROTOCOL + "ProtoUtils");
            int latest = number(method(before011, "latestVersion", 1).invoke(null, id));
            Method oldest = method(before011, "oldestVersion", 1);
            if (oldest == null) {
                return new int[] {((short[]) loader.loadClass(PROTOCOL + "Protocol").getField("MIN_VERSIONS").get(null))[id], latest};
            }
            return new int[] {number(oldest.invoke(null, id)), latest};
        }
        boolean has = method(key.getClass(), "latestVersion", 1) != null;
        return new int[] {number(call(key, "oldestVersion")), number(has ? call(key, "latestVersion", unstable) : call(key, "latestVersion"))};
    }

    private static int[] deprecated(Object key) throws Exception {
        if (method(key.getClass(), "isVersionDeprecated", 1) == null) {
            return null;
        }
        int[] range = null;
        for (int version = number(call(key, "oldestVersion")); version <= number(call(key, "latestVersion")); version++) {
            if ((Boolean) call(key, "isVersionDeprecated", (short) version)) {
                range = new int[] {range == null ? version : range[0], version};
            }
        }
        return range;
    }

    /** What the release's own ApiVersionsResponse holds, telemetry apis counted as enabled, newest message format. */
    private static Map<Integer, int[]> advertised(ClassLoader loader, Object listener, boolean unstable) throws Exception {
        Class<?> response = loader.loadClass("org.apache.kafka.common.requests.ApiVersionsResponse");
        Object found;
        if (listener != null) {
            found = filterApis(loader, response, listener, unstable);
        } else if (method(response, "createApiVersionsResponse", 2) != null) {
            byte magic = (Byte) loader.loadClass("org.apache.kafka.common.record.RecordBatch").getField("CURRENT_MAGIC_VALUE").get(null);
            found = entries(method(response, "createApiVersionsResponse", 2).invoke(null, 0, magic));
        } else if (method(response, "apiVersionsResponse", 0) != null) {
            found = entries(method(response, "apiVersionsResponse", 0).invoke(null));
        } else {
            found = entries(response.getField("API_VERSIONS_RESPONSE").get(null));
        }
        Map<Integer, int[]> ranges = new TreeMap<>();
        for (Object each : (Iterable<?>) found) {
            ranges.put(number(get(each, "apiKey")), new int[] {number(get(each, "minVersion")), number(get(each, "maxVersion"))});
        }
        return ranges;
    }

    /** 2.8 and later; the longest filterApis: (record version up to 3.9), listener, enable unstable versions, telemetry is there. */
    private static Object filterApis(ClassLoader loader, Class<?> response, Object listener, boolean unstable) throws Exception {
        Method longest = null;
        for (Method each : response.getMethods()) {
            if (each.getName().equals("filterApis") && (longest == null || each.getParameterCount() > longest.getParameterCount())) {
                longest = each;
            }
        }
        List<Object> arguments = new ArrayList<>();
        boolean first = true;
        for (Class<?> type : longest.getParameterTypes()) {
            if (type == boolean.class) {
                arguments.add(first ? unstable : true);
                first = false;
            } else if (type.isInstance(listener)) {
                arguments.add(listener);
            } else {
                arguments.add(method(type, "current", 0).invoke(null));
            }
        }
        return longest.invoke(null, arguments.toArray());
    }

    private static Object entries(Object response) throws Exception {
        if (method(response.getClass(), "apiVersions", 0) != null) {
            return call(response, "apiVersions");
        }
        return call(get(response, "data"), "apiKeys");
    }

    private static Object get(Object object, String name) throws Exception {
        return method(object.getClass(), name, 0) != null ? call(object, name) : field(object, name);
    }

    private static Object field(Object object, String name) throws Exception {
        Field found = object.getClass().isEnum() || !(object instanceof Enum) ? object.getClass().getField(name)
            : ((Enum<?>) object).getDeclaringClass().getField(name);
        return found.get(object);
    }

    private static Object call(Object object, String name, Object... arguments) throws Exception {
        Method found = method(object.getClass(), name, arguments.length);
        found.setAccessible(true);
        return found.invoke(object, arguments);
    }

    private static Method method(Class<?> type, String name, int parameters) {
        for (Method each : type.getMethods()) {
            if (each.getName().equals(name) && each.getParameterCount() == parameters && !each.isBridge()) {
                return each;
            }
        }
        return null;
    }

    private static void put(Map<String, int[]> ranges, String name, int[] range) {
        if (range != null && range[0] <= range[1]) {
            ranges.put(name, range);
        }
    }

    private static int number(Object value) {
        return ((Number) value).intValue();
    }

    private static String json(int[] range) {
        return range == null ? "null" : "[" + range[0] + ", " + range[1] + "]";
    }

    private static String json(Map<String, int[]> ranges) {
        StringBuilder text = new StringBuilder("{");
        for (Map.Entry<String, int[]> each : ranges.entrySet()) {
            text.append(text.length() > 1 ? ", " : "").append('"').append(each.getKey()).append("\": ").append(json(each.getValue()));
        }
        return text.append('}').toString();
    }
}
