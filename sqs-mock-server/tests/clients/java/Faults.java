import java.util.List;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.RequestThrottledException;

/** Failures on demand, which show that the client looks at what it compares and repeats. */
final class Faults {
    static void checksums(SqsClient sqs, Mock mock, boolean fifo) throws Exception {
        var queue = Queue.make(sqs, "checksums", fifo);
        mock.next("SendMessage", queue, "corrupt");
        mismatch(() -> queue.send("x"));
        mock.next("SendMessageBatch", queue, "corrupt");
        mismatch(() -> Batches.send(queue, Batches.entries(queue, "a", "b")));
        mock.next("ReceiveMessage", queue, "corrupt");
        mismatch(queue::receive);
    }

    static void throttling(SqsClient sqs, SqsClient patient, Mock mock, boolean fifo) throws Exception {
        var queue = Queue.make(sqs, "throttled", fifo);
        mock.next("SendMessage", queue, "throttle");
        Checks.refused(RequestThrottledException.class, "RequestThrottled", 403, () -> queue.send("x"));
        mock.next("SendMessage", queue, "throttle");
        patient.sendMessage(queue.message("again").build());
        mock.next("SendMessage", queue, "reset_after");
        patient.sendMessage(queue.message("lost").build());
        // The answer was lost, so that the client sent again: of which only a FIFO queue knows.
        Checks.equal(fifo ? List.of("again", "lost") : List.of("again", "lost", "lost"), Queue.bodies(queue.receive()));
        Checks.equal(5, mock.requests("SendMessage", queue));
    }

    private static void mismatch(Checks.Call call) {
        var message = Checks.fails(SdkClientException.class, call).getMessage();
        if (!message.contains("MD5 returned by SQS does not match")) {
            throw new AssertionError("expected a checksum that does not match, got " + message);
        }
    }
}
