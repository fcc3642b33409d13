import java.io.File;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * Prints the requests and responses of releases that define them in code, up to 2.7: {release, api_key, is_request, version, fields}, a field
 * as [name, type, fields of its struct]. Structs that are no elements of an array are left out, their fields stand in their place.
 *
 * Usage: java -cp SLF4J-API-JAR SchemaNames.java JAR...
 */
public class SchemaNames {
    private static final String PROTOCOL = "org.apache.kafka.common.protocol.";

    public static void main(String[] args) throws Exception {
        for (String arg : args) {
            File jar = new File(arg);
            String release = jar.getName().replaceAll("^.*?-(\\d[0-9.]*)\\.jar$", "$1");
            try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toURI().toURL()}, ClassLoader.getSystemClassLoader())) {
                for (Object key : loader.loadClass(PROTOCOL + "ApiKeys").getEnumConstants()) {
                    int id = ((Number) get(key, "id")).intValue();
                    print(release, id, true, schemas(loader, key, id, "request"));
                    print(release, id, false, schemas(loader, key, id, "response"));
                }
            }
        }
    }

    /** From 1.0 on an api has its schemas; before, `Protocol` has those of all. */
    private static Object schemas(ClassLoader loader, Object key, int id, String kind) throws Exception {
        try {
            return get(key, kind + "Schemas");
        } catch (NoSuchFieldException before10) {
            Object all = loader.loadClass(PROTOCOL + "Protocol").getField(kind.equals("request") ? "REQUESTS" : "RESPONSES").get(null);
            return id < Array.getLength(all) ? Array.get(all, id) : null;
        }
    }

    private static void print(String release, int id, boolean isRequest, Object schemas) throws Exception {
        for (int version = 0; schemas != null && version < Array.getLength(schemas); version++) {
            Object schema = Array.get(schemas, version);
            if (schema != null) {
                System.out.println("{\"release\": \"" + release + "\", \"api_key\": " + id + ", \"is_request\": " + isRequest
                    + ", \"version\": " + version + ", \"fields\": [" + fields(schema) + "]}");
            }
        }
    }

    private static String fields(Object schema) throws Exception {
        StringBuilder text = new StringBuilder();
        for (Object bound : (Object[]) schema.getClass().getMethod("fields").invoke(schema)) {
            Object field = bound.getClass().getSimpleName().equals("BoundField") ? get(bound, "def") : bound;
            Object type = get(field, "type");
            boolean isArray = type.getClass().getSimpleName().endsWith("ArrayOf");
            Object element = isArray ? element(type) : type;
            boolean isStruct = element.getClass().getSimpleName().equals("Schema");
            text.append(text.length() > 0 ? ", " : "");
            if (isStruct && !isArray) {
                text.append(fields(element));
            } else {
                text.append("[\"" + get(field, "name") + "\", \"" + (isArray ? "[]" : "") + (isStruct ? "struct" : element) + "\", ["
                    + (isStruct ? fields(element) : "") + "]]");
            }
        }
        return text.toString();
    }

    private static Object element(Object array) throws Exception {
        Field type = array.getClass().getDeclaredField("type");
        type.setAccessible(true);
        return type.get(array);
    }

    private static Object get(Object object, String name) throws Exception {
        Class<?> type = object instanceof Enum ? ((Enum<?>) object).getDeclaringClass() : object.getClass();
        Field found = type.getField(name);
        found.setAccessible(true);
        return found.get(object);
    }
}
