import java.util.ArrayList;
import java.util.List;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/** FIFO queues: order and locks of message groups, deduplication, repeated receive attempts. */
final class Fifo {
    static void order(SqsClient sqs) {
        var queue = Queue.make(sqs, "order", true);
        var numbers = new ArrayList<String>();
        for (var body : List.of("a1", "a2", "b1", "a3")) {
            numbers.add(queue.send(body, request -> request.messageGroupId(body.substring(0, 1))).sequenceNumber());
        }
        Checks.equal(numbers.stream().sorted().toList(), numbers);
        var first = Checks.only(queue.receive(request -> request.maxNumberOfMessages(1)));
        Checks.equal("a1", first.body());
        Checks.equal(numbers.get(0), first.attributes().get(MessageSystemAttributeName.SEQUENCE_NUMBER));
        // The first message locks group a.
        Checks.equal(List.of("b1"), Queue.bodies(queue.receive()));
        Checks.equal(List.of(), queue.receive());
        queue.release(first);
        Checks.equal(List.of("a1", "a2", "a3"), Queue.bodies(queue.receive()));
    }

    static void deduplication(SqsClient sqs) {
        var queue = Queue.make(sqs, "once", true);
        var sent = queue.send("same");
        var again = queue.send("same");
        Checks.equal(sent.messageId(), again.messageId());
        Checks.equal(sent.sequenceNumber(), again.sequenceNumber());
        Checks.equal(sent.messageId(), queue.send("same", request -> request.messageGroupId("other")).messageId());
        var named = queue.send("same", request -> request.messageDeduplicationId("named"));
        Checks.equal(false, named.messageId().equals(sent.messageId()));
        var attempt = queue.receive(request -> request.receiveRequestAttemptId("try"));
        Checks.equal(2, attempt.size());
        var replayed = queue.receive(request -> request.receiveRequestAttemptId("try"));
        Checks.equal(handles(attempt), handles(replayed));
        attempt.forEach(queue::delete);
        Checks.equal(sent.messageId(), queue.send("same").messageId());
        Checks.equal(List.of("0", "0"), queue.counts());
    }

    private static List<String> handles(List<Message> messages) {
        return messages.stream().map(Message::receiptHandle).toList();
    }
}
