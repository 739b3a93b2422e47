import java.util.List;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.RequestThrottledException;

/** Injected faults, which test the checksums and the retries of the client. */
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

    static void throttling(SqsClient sqs, SqsClient retrying, Mock mock, boolean fifo) throws Exception {
        var queue = Queue.make(sqs, "throttled", fifo);
        mock.next("SendMessage", queue, "throttle");
        Checks.rejected(RequestThrottledException.class, "RequestThrottled", 403, () -> queue.send("x"));
        mock.next("SendMessage", queue, "throttle");
        retrying.sendMessage(queue.message("again").build());
        mock.next("SendMessage", queue, "reset_after");
        retrying.sendMessage(queue.message("lost").build());
        // The client retries after the lost response. Only a FIFO queue detects the duplicate.
        Checks.equal(fifo ? List.of("again", "lost") : List.of("again", "lost", "lost"), Queue.bodies(queue.receive()));
        Checks.equal(5, mock.requests("SendMessage", queue));
    }

    private static void mismatch(Checks.Call call) {
        var message = Checks.fails(SdkClientException.class, call).getMessage();
        if (!message.contains("MD5 returned by SQS does not match")) {
            throw new AssertionError("expected a checksum mismatch, got " + message);
        }
    }
}
