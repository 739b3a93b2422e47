import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import software.amazon.awssdk.services.sns.SnsClient;
import software.amazon.awssdk.services.sns.model.BatchEntryIdsNotDistinctException;
import software.amazon.awssdk.services.sns.model.EmptyBatchRequestException;
import software.amazon.awssdk.services.sns.model.InvalidBatchEntryIdException;
import software.amazon.awssdk.services.sns.model.InvalidParameterValueException;
import software.amazon.awssdk.services.sns.model.MessageAttributeValue;
import software.amazon.awssdk.services.sns.model.PublishBatchRequestEntry;
import software.amazon.awssdk.services.sns.model.TooManyEntriesInBatchRequestException;
import software.amazon.awssdk.services.sqs.SqsClient;

/** What topics deliver to queues. */
final class Deliveries {
    private static final String BODY = "{\"order\":\"№ 42 – žluťoučký\",\"n\":1}\r\n\t<end/>";

    /** An envelope and a raw message have all that was published. */
    static void envelopes(SnsClient sns, SqsClient sqs, boolean fifo) {
        var topic = Topic.make(sns, "deliveries", fifo);
        var enveloped = Queue.target(sqs, "enveloped", fifo);
        var raw = Queue.target(sqs, "raw", fifo);
        topic.subscribe(enveloped.arn());
        topic.subscribe(raw.arn(), Topic.RAW);
        var published = topic.publish(BODY, request -> request.subject("tea & more").messageAttributes(Topic.ATTRIBUTES));

        var message = Checks.only(enveloped.receive());
        Checks.equal(false, message.hasMessageAttributes());
        var fields = Topic.open(message);
        // FIFO topics do not sign.
        Checks.equal(
                Stream.of("Type MessageId", fifo ? "SequenceNumber" : "", "TopicArn Subject Message Timestamp",
                        fifo ? "" : "SignatureVersion Signature SigningCertURL", "UnsubscribeURL MessageAttributes")
                        .flatMap(names -> Stream.of(names.split(" "))).filter(name -> !name.isEmpty()).toList(),
                List.copyOf(fields.keySet()));
        Checks.equal(List.of("Notification", published.messageId(), topic.arn(), "tea & more", BODY),
                Stream.of("Type", "MessageId", "TopicArn", "Subject", "Message").map(name -> fields.get(name).text()).toList());
        Checks.equal(published.sequenceNumber(), fifo ? fields.get("SequenceNumber").text() : null);
        var attributes = fields.get("MessageAttributes").asObject();
        Checks.equal(Topic.ATTRIBUTES.keySet(), attributes.keySet());
        Topic.ATTRIBUTES.forEach((name, value) -> {
            var text = value.binaryValue() == null ? value.stringValue()
                    : Base64.getEncoder().encodeToString(value.binaryValue().asByteArray());
            var shown = attributes.get(name).asObject();
            Checks.equal(List.of(value.dataType(), text), List.of(shown.get("Type").text(), shown.get("Value").text()));
        });

        message = Checks.only(raw.receive());
        Checks.equal(BODY, message.body());
        Checks.equal(Queue.ATTRIBUTES, message.messageAttributes());
    }

    static void filters(SnsClient sns, SqsClient sqs) {
        var topic = Topic.make(sns, "filters", false);
        var every = Queue.target(sqs, "every", false);
        var cheap = Queue.target(sqs, "cheap", false);
        var tea = Queue.target(sqs, "tea", false);
        topic.subscribe(every.arn(), Topic.RAW);
        topic.subscribe(cheap.arn(), Map.of("RawMessageDelivery", "true",
                "FilterPolicy", "{\"price\":[{\"numeric\":[\"<\",5]}],\"sold\":[{\"exists\":false}]}"));
        topic.subscribe(tea.arn(), Map.of("RawMessageDelivery", "true", "FilterPolicyScope", "MessageBody",
                "FilterPolicy", "{\"order\":{\"kind\":[{\"prefix\":\"te\"}]}}"));
        var bodies = Stream.of("tea", "coffee", "water").map("{\"order\":{\"kind\":\"%s\"}}"::formatted).toList();
        var prices = List.of("3", "4.50", "9");
        var entries = Stream.of(0, 1, 2).map(at -> {
            var price = MessageAttributeValue.builder().dataType("Number").stringValue(prices.get(at)).build();
            return PublishBatchRequestEntry.builder().id("" + at).message(bodies.get(at))
                    .messageAttributes(Map.of("price", price)).build();
        }).toList();
        var published = topic.publish(entries);
        Checks.equal(List.of(3, 0), List.of(published.successful().size(), published.failed().size()));
        Checks.equal(List.of(bodies, bodies.subList(0, 2), bodies.subList(0, 1)),
                Stream.of(every, cheap, tea).map(queue -> Queue.bodies(queue.receive())).toList());
        topic.publish("{\"default\":\"{}\",\"sqs\":\"{\\\"order\\\":{\\\"kind\\\":\\\"tee\\\"}}\"}",
                request -> request.messageStructure("json"));
        Checks.equal(List.of("{\"order\":{\"kind\":\"tee\"}}"), Queue.bodies(tea.receive()));
    }

    static void undeliverable(SnsClient sns, SqsClient sqs, boolean fifo) {
        var topic = Topic.make(sns, "undeliverable", fifo);
        var dead = Queue.target(sqs, "undeliverable", fifo);
        topic.subscribe(dead.arn().replace("java-", "java-nowhere-"), Map.of("RawMessageDelivery", "true",
                "RedrivePolicy", "{\"deadLetterTargetArn\":\"%s\"}".formatted(dead.arn())));
        topic.publish("lost", request -> request.messageAttributes(Topic.ATTRIBUTES));
        var message = Checks.only(dead.receive());
        Checks.equal("lost", message.body());
        Checks.equal(Queue.ATTRIBUTES, message.messageAttributes());
    }

    /** The order of groups over a batch, and duplicates. */
    static void order(SnsClient sns, SqsClient sqs) {
        var topic = Topic.make(sns, "order", true);
        var raw = Queue.target(sqs, "topic-order-1", true);
        var enveloped = Queue.target(sqs, "topic-order-2", true);
        topic.subscribe(raw.arn(), Topic.RAW);
        topic.subscribe(enveloped.arn());
        var entries = entries("a1", "a2", "b1", "a3", "b2");
        Checks.equal(topic.publish(entries).successful(), topic.publish(entries).successful());
        var first = topic.publish("g1", request -> request.messageDeduplicationId("once"));
        var again = topic.publish("g2", request -> request.messageDeduplicationId("once"));
        Checks.equal(List.of(first.messageId(), first.sequenceNumber()), List.of(again.messageId(), again.sequenceNumber()));
        var expected = Map.of("a", List.of("a1", "a2", "a3"), "b", List.of("b1", "b2"), "g", List.of("g1"));
        Checks.equal(expected, byGroup(Queue.bodies(raw.receive()).stream()));
        Checks.equal(expected, byGroup(enveloped.receive().stream().map(message -> Topic.open(message).get("Message").text())));
    }

    static void rejections(SnsClient sns, boolean fifo) {
        var topic = Topic.make(sns, "publish-rejections", fifo);
        Topic.invalid("Empty message", () -> topic.publish(""));
        Topic.invalid("Message too long", () -> topic.publish("x".repeat(262_145)));
        var empty = MessageAttributeValue.builder().dataType("String").stringValue("").build();
        Checks.rejected(InvalidParameterValueException.class, "ParameterValueInvalid", 400,
                () -> topic.publish("x", request -> request.messageAttributes(Map.of("a", empty))));
        if (fifo) {
            Topic.invalid("The MessageGroupId parameter is required for FIFO topics",
                    () -> topic.publish("x", request -> request.messageGroupId(null)));
        } else {
            Topic.invalid("MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter",
                    () -> topic.publish("x", request -> request.messageDeduplicationId("once")));
        }
        Checks.rejected(TooManyEntriesInBatchRequestException.class, "TooManyEntriesInBatchRequest", 400,
                () -> topic.publish(entries("abcdefghijk".split(""))));
        Checks.rejected(BatchEntryIdsNotDistinctException.class, "BatchEntryIdsNotDistinct", 400,
                () -> topic.publish(entries("a", "a")));
        Checks.rejected(InvalidBatchEntryIdException.class, "InvalidBatchEntryId", 400,
                () -> topic.publish(entries("not an id")));
        Checks.rejected(EmptyBatchRequestException.class, "EmptyBatchRequest", 400, () -> topic.publish(entries()));
    }

    /** Entries whose text is the id, and whose group is the first letter. */
    private static List<PublishBatchRequestEntry> entries(String... texts) {
        var entries = new ArrayList<PublishBatchRequestEntry>();
        for (var text : texts) {
            entries.add(PublishBatchRequestEntry.builder().id(text).message(text).messageGroupId(text.substring(0, 1)).build());
        }
        return entries;
    }

    private static Map<String, List<String>> byGroup(Stream<String> texts) {
        return texts.collect(Collectors.groupingBy(text -> text.substring(0, 1)));
    }
}
