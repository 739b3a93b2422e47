import java.util.List;
import java.util.Map;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.protocols.jsoncore.JsonNode;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.Event;
import software.amazon.awssdk.services.s3.model.FilterRule;
import software.amazon.awssdk.services.s3.model.QueueConfiguration;
import software.amazon.awssdk.services.sqs.SqsClient;

/** Events of a bucket in a queue. */
final class Events {
    private static final String BUCKET = "java-events";

    static void inQueue(S3Client s3, SqsClient sqs) {
        s3.createBucket(request -> request.bucket(BUCKET));
        var queue = Queue.make(sqs, "events", false, Map.of("Policy", """
                {"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Service":"s3.amazonaws.com"},
                "Action":"sqs:SendMessage","Resource":"*"}}"""));
        var rule = QueueConfiguration.builder().id("tables").queueArn(queue.arn())
                .events(Event.S3_OBJECT_CREATED, Event.S3_OBJECT_REMOVED_DELETE)
                .filter(filter -> filter.key(key -> key.filterRules(FilterRule.builder().name("suffix").value(".csv").build())))
                .build();
        s3.putBucketNotificationConfiguration(request ->
                request.bucket(BUCKET).notificationConfiguration(all -> all.queueConfigurations(rule)));
        var got = Checks.only(s3.getBucketNotificationConfiguration(request -> request.bucket(BUCKET)).queueConfigurations());
        Checks.equal(List.of("tables", queue.arn(), rule.events()), List.of(got.id(), got.queueArn(), got.events()));
        Checks.equal("s3:TestEvent", next(queue).get("Event").text());

        s3.putObject(request -> request.bucket(BUCKET).key("in/a.txt"), RequestBody.fromString("a"));
        var put = s3.putObject(request -> request.bucket(BUCKET).key("in/a.csv"), RequestBody.fromString("a,b\n"));
        var record = Checks.only(next(queue).get("Records").asArray()).asObject();
        var object = record.get("s3").asObject().get("object").asObject();
        Checks.equal(List.of("ObjectCreated:Put", "in/a.csv", "4", put.eTag().replace("\"", "")),
                List.of(record.get("eventName").text(), object.get("key").text(), object.get("size").text(),
                        object.get("eTag").text()));
        s3.deleteObject(request -> request.bucket(BUCKET).key("in/a.csv"));
        record = Checks.only(next(queue).get("Records").asArray()).asObject();
        Checks.equal("ObjectRemoved:Delete", record.get("eventName").text());
    }

    /** Waits for an event. */
    private static Map<String, JsonNode> next(Queue queue) {
        return Topic.open(Checks.only(queue.receive(request -> request.waitTimeSeconds(5))));
    }
}
