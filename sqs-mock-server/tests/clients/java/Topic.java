import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import software.amazon.awssdk.protocols.jsoncore.JsonNode;
import software.amazon.awssdk.services.sns.SnsClient;
import software.amazon.awssdk.services.sns.model.InvalidParameterException;
import software.amazon.awssdk.services.sns.model.MessageAttributeValue;
import software.amazon.awssdk.services.sns.model.PublishBatchRequestEntry;
import software.amazon.awssdk.services.sns.model.PublishBatchResponse;
import software.amazon.awssdk.services.sns.model.PublishRequest;
import software.amazon.awssdk.services.sns.model.PublishResponse;
import software.amazon.awssdk.services.sqs.model.Message;

/** A new topic for a step: standard, or FIFO with content-based deduplication. */
record Topic(SnsClient sns, boolean fifo, String arn) {
    static final Map<String, String> RAW = Map.of("RawMessageDelivery", "true");
    /** The attributes of the messages to queues, as SNS takes them. */
    static final Map<String, MessageAttributeValue> ATTRIBUTES = Queue.ATTRIBUTES.entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> MessageAttributeValue.builder()
                    .dataType(entry.getValue().dataType()).stringValue(entry.getValue().stringValue())
                    .binaryValue(entry.getValue().binaryValue()).build()));

    static Topic make(SnsClient sns, String name, boolean fifo, Map<String, String> attributes) {
        var all = new HashMap<>(attributes);
        if (fifo) {
            all.put("FifoTopic", "true");
            all.put("ContentBasedDeduplication", "true");
        }
        var full = "java-" + name + (fifo ? ".fifo" : "");
        return new Topic(sns, fifo, sns.createTopic(request -> request.name(full).attributes(all)).topicArn());
    }

    static Topic make(SnsClient sns, String name, boolean fifo) {
        return make(sns, name, fifo, Map.of());
    }

    /** Subscribes a queue. Returns the ARN of the subscription. */
    String subscribe(String endpoint, Map<String, String> attributes) {
        return sns.subscribe(request -> request.topicArn(arn).protocol("sqs").endpoint(endpoint).attributes(attributes))
                .subscriptionArn();
    }

    String subscribe(String endpoint) {
        return subscribe(endpoint, Map.of());
    }

    PublishResponse publish(String text, Consumer<PublishRequest.Builder> more) {
        var request = PublishRequest.builder().topicArn(arn).message(text).messageGroupId(fifo ? "g" : null);
        return sns.publish(request.applyMutation(more).build());
    }

    PublishResponse publish(String text) {
        return publish(text, request -> { });
    }

    PublishBatchResponse publish(List<PublishBatchRequestEntry> entries) {
        return sns.publishBatch(request -> request.topicArn(arn).publishBatchRequestEntries(entries));
    }

    Map<String, String> attributes() {
        return sns.getTopicAttributes(request -> request.topicArn(arn)).attributes();
    }

    void delete() {
        sns.deleteTopic(request -> request.topicArn(arn));
    }

    /** The fields of an envelope. */
    static Map<String, JsonNode> open(Message message) {
        return JsonNode.parser().parse(message.body()).asObject();
    }

    /** Asserts that SNS rejects a call with {@code InvalidParameter} and a text that starts so. */
    static void invalid(String text, Checks.Call call) {
        var message = Checks.rejected(InvalidParameterException.class, "InvalidParameter", 400, call);
        if (!message.startsWith("Invalid parameter: " + text)) {
            throw new AssertionError("expected " + text + ", got " + message);
        }
    }
}
