import static java.util.Map.entry;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageResponse;

/** A new queue for a step: standard, or FIFO with content-based deduplication. */
record Queue(SqsClient sqs, String name, boolean fifo, String url) {
    /** Attributes of every type, with custom labels. */
    static final Map<String, MessageAttributeValue> ATTRIBUTES = Map.ofEntries(
            entry("text", text("String", "Zürich <&> \"€\"")),
            entry("note", text("String.note", "𝄞")),
            entry("number", text("Number", "-1.50e3")),
            entry("count", text("Number.int", "42")),
            entry("bytes", binary("Binary", 0, 1, 2, 254, 255)),
            entry("image", binary("Binary.png", 137, 80, 78, 71)));

    static Queue make(SqsClient sqs, String name, boolean fifo, Map<String, String> attributes) {
        var all = new HashMap<>(attributes);
        if (fifo) {
            all.put("FifoQueue", "true");
            all.put("ContentBasedDeduplication", "true");
        }
        var full = "java-" + name + (fifo ? ".fifo" : "");
        var made = sqs.createQueue(request -> request.queueName(full).attributesWithStrings(all));
        return new Queue(sqs, full, fifo, made.queueUrl());
    }

    static Queue make(SqsClient sqs, String name, boolean fifo) {
        return make(sqs, name, fifo, Map.of());
    }

    /** A queue to which topics may send. */
    static Queue target(SqsClient sqs, String name, boolean fifo) {
        return make(sqs, name, fifo, Map.of("Policy", """
                {"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},
                "Action":"sqs:SendMessage","Resource":"*"}}"""));
    }

    static MessageAttributeValue text(String type, String value) {
        return MessageAttributeValue.builder().dataType(type).stringValue(value).build();
    }

    static MessageAttributeValue binary(String type, int... bytes) {
        var value = new byte[bytes.length];
        for (var at = 0; at < bytes.length; at++) {
            value[at] = (byte) bytes[at];
        }
        return MessageAttributeValue.builder().dataType(type).binaryValue(SdkBytes.fromByteArray(value)).build();
    }

    SendMessageResponse send(String body) {
        return send(body, request -> { });
    }

    SendMessageResponse send(String body, Consumer<SendMessageRequest.Builder> more) {
        return sqs.sendMessage(message(body).applyMutation(more).build());
    }

    /** A message for this queue. Its message group is {@code g} if the queue is FIFO. */
    SendMessageRequest.Builder message(String body) {
        return SendMessageRequest.builder().queueUrl(url).messageBody(body).messageGroupId(fifo ? "g" : null);
    }

    void sendAll(String... bodies) {
        Arrays.stream(bodies).forEach(this::send);
    }

    List<Message> receive() {
        return receive(request -> { });
    }

    List<Message> receive(Consumer<ReceiveMessageRequest.Builder> more) {
        return sqs.receiveMessage(everything().applyMutation(more).build()).messages();
    }

    ReceiveMessageRequest.Builder everything() {
        return ReceiveMessageRequest.builder().queueUrl(url).maxNumberOfMessages(10)
                .messageSystemAttributeNames(MessageSystemAttributeName.ALL).messageAttributeNames("All");
    }

    void delete(Message message) {
        sqs.deleteMessage(request -> request.queueUrl(url).receiptHandle(message.receiptHandle()));
    }

    /** Makes a message visible. */
    void release(Message message) {
        sqs.changeMessageVisibility(
                request -> request.queueUrl(url).receiptHandle(message.receiptHandle()).visibilityTimeout(0));
    }

    String attribute(QueueAttributeName name) {
        return sqs.getQueueAttributes(request -> request.queueUrl(url).attributeNames(name)).attributes().get(name);
    }

    String arn() {
        return attribute(QueueAttributeName.QUEUE_ARN);
    }

    /** The numbers of visible and in-flight messages. */
    List<String> counts() {
        return Stream.of(
                        QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                        QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE)
                .map(this::attribute)
                .toList();
    }

    static List<String> bodies(List<Message> messages) {
        return messages.stream().map(Message::body).toList();
    }
}
