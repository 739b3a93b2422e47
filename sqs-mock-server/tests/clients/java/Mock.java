import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** The admin API of the server: injected faults and recorded requests. */
record Mock(String endpoint) {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    /** Injects a fault into the next request of an action on a queue. {@code more} is additional JSON. */
    void next(String action, Queue queue, String effect, String more) throws Exception {
        var fault = "{\"effect\":\"%s\",\"actions\":[\"%s\"],\"queue\":\"%s\",\"times\":1%s}";
        call("faults", "POST", fault.formatted(effect, action, queue.name(), more));
    }

    void next(String action, Queue queue, String effect) throws Exception {
        next(action, queue, effect, "");
    }

    /** The number of requests of an action on a queue. */
    int requests(String action, Queue queue) throws Exception {
        var path = "requests?limit=1000&action=%s&queue=%s".formatted(action, queue.name());
        return call(path, "GET", "").split("\"action\"", -1).length - 1;
    }

    private String call(String path, String method, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(endpoint + "/_mock/" + path))
                .method(method, BodyPublishers.ofString(body));
        var response = HTTP.send(request.build(), BodyHandlers.ofString());
        if (response.statusCode() >= 300) {
            throw new AssertionError(path + " failed: " + response.body());
        }
        return response.body();
    }
}
