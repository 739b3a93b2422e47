import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.InvalidMessageContentsException;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeNameForSends;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeValue;
import software.amazon.awssdk.services.sqs.model.ReceiptHandleIsInvalidException;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;
import software.amazon.awssdk.services.sqs.model.SqsException;
import software.amazon.awssdk.services.sqs.model.UnsupportedOperationException;

/** Single messages. The client verifies the checksums of bodies and attributes on send and on receive. */
final class Messages {
    private static final String BODY = "{\"order\":\"№ 42 – žluťoučký\",\"n\":1}\r\n\t<end/>";
    private static final String TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793";

    static void everyAttribute(SqsClient sqs, boolean fifo) {
        var queue = Queue.make(sqs, "messages", fifo);
        var trace = MessageSystemAttributeValue.builder().dataType("String").stringValue(TRACE).build();
        var sent = queue.send(BODY, request -> request.messageAttributes(Queue.ATTRIBUTES)
                .messageSystemAttributes(Map.of(MessageSystemAttributeNameForSends.AWS_TRACE_HEADER, trace)));
        Checks.equal(true, sent.md5OfMessageSystemAttributes().matches("[0-9a-f]{32}"));
        Checks.equal(fifo, sent.sequenceNumber() != null);
        var message = Checks.only(queue.receive());
        Checks.equal(BODY, message.body());
        Checks.equal(sent.messageId(), message.messageId());
        Checks.equal(sent.md5OfMessageAttributes(), message.md5OfMessageAttributes());
        Checks.equal(Queue.ATTRIBUTES, message.messageAttributes());
        Checks.equal(TRACE, message.attributes().get(MessageSystemAttributeName.AWS_TRACE_HEADER));
        Checks.equal("1", message.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT));
        Checks.equal(sent.sequenceNumber(), message.attributes().get(MessageSystemAttributeName.SEQUENCE_NUMBER));
        Checks.equal(fifo ? "g" : null, message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID));
    }

    static void visibility(SqsClient sqs, boolean fifo) {
        var queue = Queue.make(sqs, "visibility", fifo);
        queue.send(BODY, request -> request.messageAttributes(Queue.ATTRIBUTES));
        var first = Checks.only(queue.receive());
        Checks.equal(List.of(), queue.receive());
        Checks.equal(List.of("0", "1"), queue.counts());
        queue.release(first);
        var again = Checks.only(queue.receive(request -> request.messageAttributeNames("num.*", "image")));
        Checks.equal(List.of("image", "number"), again.messageAttributes().keySet().stream().sorted().toList());
        Checks.equal("2", again.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT));
        queue.delete(again);
        queue.delete(again);
        Checks.equal(List.of("0", "0"), queue.counts());
        Checks.rejected(SqsException.class, "InvalidParameterValue", 400, () -> queue.release(again));
        Checks.rejected(ReceiptHandleIsInvalidException.class, "ReceiptHandleIsInvalid", 404,
                () -> queue.delete(again.toBuilder().receiptHandle("garbage").build()));
    }

    static void rejections(SqsClient sqs, boolean fifo) {
        var queue = Queue.make(sqs, "rejections", fifo, Map.of("MaximumMessageSize", "4096"));
        Checks.rejected(InvalidMessageContentsException.class, "InvalidMessageContents", 400, () -> queue.send("\u0001"));
        Checks.rejected(SqsException.class, "MissingParameter", 400, () -> queue.send(""));
        Checks.rejected(SqsException.class, "InvalidParameterValue", 400, () -> queue.send("x".repeat(4097)));
        Checks.rejected(SqsException.class, "InvalidParameterValue", 400,
                () -> queue.receive(request -> request.maxNumberOfMessages(11)));
        Checks.rejected(SqsException.class, "InvalidParameterValue", 400, () -> queue.send("x",
                request -> request.messageAttributes(Map.of("n", Queue.text("Number", "seven")))));
        Checks.rejected(UnsupportedOperationException.class, "AWS.SimpleQueueService.UnsupportedOperation", 400,
                () -> queue.send("x", request -> request.messageAttributes(
                        Map.of("list", Queue.text("String", "x").toBuilder().stringListValues("a", "b").build()))));
        Checks.rejected(SqsException.class, fifo ? "MissingParameter" : "InvalidParameterValue", 400,
                () -> queue.send("x", request -> request.messageGroupId(null).messageDeduplicationId("once")));
        Checks.equal(List.of("0", "0"), queue.counts());
    }

    /** A long poll ends when a message arrives, and returns at once if a message is available. */
    static void longPolls(SqsClient sqs, SqsAsyncClient async, boolean fifo) throws Exception {
        var queue = Queue.make(sqs, "polls", fifo);
        var poll = queue.everything().waitTimeSeconds(20).maxNumberOfMessages(1).build();
        var waiting = async.receiveMessage(poll);
        Thread.sleep(50);
        Checks.equal(false, waiting.isDone());
        queue.send("wake up");
        ReceiveMessageResponse woken = waiting.get(5, TimeUnit.SECONDS);
        Checks.equal("wake up", Checks.only(woken.messages()).body());
        queue.delete(woken.messages().get(0));
        async.sendMessage(queue.message("at once").build()).join();
        Checks.equal("at once", Checks.only(sqs.receiveMessage(poll).messages()).body());
        Checks.equal(false, queue.sqs().receiveMessage(queue.everything().waitTimeSeconds(0).build()).hasMessages());
    }
}
