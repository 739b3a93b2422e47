import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** What the server offers over HTTP besides SQS: failures on demand, and the record of requests. */
record Mock(String endpoint) {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    /** Lets the next call of an action on a queue go wrong; {@code more} is further JSON. */
    void next(String action, Queue queue, String effect, String more) throws Exception {
        var fault = "{\"effect\":\"%s\",\"actions\":[\"%s\"],\"queue\":\"%s\",\"times\":1%s}";
        call("faults", "POST", fault.formatted(effect, action, queue.name(), more));
    }

    void next(String action, Queue queue, String effect) throws Exception {
        next(action, queue, effect, "");
    }

    /** How many requests of an action a queue has had. */
    int requests(String action, Queue queue) throws Exception {
        var path = "requests?limit=1000&action=%s&queue=%s".formatted(action, queue.name());
        return call(path, "GET", "").split("\"action\"", -1).length - 1;
    }

    private String call(String path, String method, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(endpoint + "/_mock/" + path))
                .method(method, BodyPublishers.ofString(body));
        var answer = HTTP.send(request.build(), BodyHandlers.ofString());
        if (answer.statusCode() >= 300) {
            throw new AssertionError("expected " + path + " to work, got " + answer.body());
        }
        return answer.body();
    }
}
