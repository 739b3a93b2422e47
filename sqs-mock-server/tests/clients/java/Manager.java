import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.batchmanager.SqsAsyncBatchManager;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.SendMessageResponse;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** The batch manager of the SDK. It combines single calls to batches and returns each caller its own result. */
final class Manager {
    /** The manager sends full batches at once, so the test does not depend on timing. */
    private static final int FULL = 7;

    static void batches(SqsClient sqs, SqsAsyncClient async, Mock mock, boolean fifo) throws Exception {
        var queue = Queue.make(sqs, "managed", fifo);
        var executor = Executors.newSingleThreadScheduledExecutor();
        try (var manager = SqsAsyncBatchManager.builder().client(async).scheduledExecutor(executor)
                .overrideConfiguration(batches -> batches.sendRequestFrequency(Duration.ofMillis(500)).maxBatchSize(FULL)
                        .receiveMessageMinWaitDuration(Duration.ofSeconds(5))
                        .receiveMessageVisibilityTimeout(Duration.ofSeconds(30))
                        .receiveMessageAttributeNames(List.of("All"))
                        .receiveMessageSystemAttributeNames(List.of(MessageSystemAttributeName.ALL)))
                .build()) {
            var sent = sends(manager, queue, mock);
            var messages = receives(manager, queue, sent);
            settles(manager, queue, messages);
            checksums(manager, queue, mock);
            unknownQueue(manager, queue);
        } finally {
            executor.shutdownNow();
        }
    }

    /** A batch of seven messages, of which the fourth fails. Each caller gets the id of its own message. */
    private static Map<String, String> sends(SqsAsyncBatchManager manager, Queue queue, Mock mock) throws Exception {
        var bodies = List.of("m0", "m1", "m2", "\u0001", "m4", "m5", "m6");
        var waiting = new ArrayList<CompletableFuture<SendMessageResponse>>();
        for (var at = 0; at < bodies.size(); at++) {
            var group = queue.fifo() ? "g" + at % 2 : null;
            waiting.add(manager.sendMessage(queue.message(bodies.get(at)).messageGroupId(group)
                    .messageAttributes(Queue.ATTRIBUTES).build()));
        }
        var sent = new HashMap<String, String>();
        for (var at = 0; at < bodies.size(); at++) {
            var response = waiting.get(at);
            if (at == 3) {
                failed("InvalidMessageContents", response::join);
            } else {
                sent.put(response.join().messageId(), bodies.get(at));
                Checks.equal(queue.fifo(), response.join().sequenceNumber() != null);
            }
        }
        Checks.equal(FULL - 1, sent.size());
        Checks.equal(List.of(0, 1), List.of(mock.requests("SendMessage", queue), mock.requests("SendMessageBatch", queue)));
        return sent;
    }

    private static List<Message> receives(SqsAsyncBatchManager manager, Queue queue, Map<String, String> sent) {
        var messages = new ArrayList<Message>();
        for (var attempt = 0; attempt < 10 && messages.size() < sent.size(); attempt++) {
            messages.addAll(manager.receiveMessage(request -> request.queueUrl(queue.url())).join().messages());
        }
        Checks.equal(new TreeSet<>(sent.values()), new TreeSet<>(Queue.bodies(messages)));
        for (var message : messages) {
            Checks.equal(sent.get(message.messageId()), message.body());
            Checks.equal(Queue.ATTRIBUTES, message.messageAttributes());
            Checks.equal("1", message.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT));
        }
        if (queue.fifo()) {
            for (var group : Set.of("g0", "g1")) {
                var bodies = Queue.bodies(messages.stream().filter(message -> group.equals(
                        message.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID))).toList());
                Checks.equal(bodies.stream().sorted().toList(), bodies);
            }
        }
        return messages;
    }

    private static void settles(SqsAsyncBatchManager manager, Queue queue, List<Message> messages) {
        var handles = messages.stream().map(Message::receiptHandle).toList();
        var changed = handles.stream().map(handle -> manager.changeMessageVisibility(
                request -> request.queueUrl(queue.url()).receiptHandle(handle).visibilityTimeout(120))).toList();
        var unchanged = manager.changeMessageVisibility(
                request -> request.queueUrl(queue.url()).receiptHandle("garbage").visibilityTimeout(120));
        changed.forEach(CompletableFuture::join);
        failed("ReceiptHandleIsInvalid", unchanged::join);
        Checks.equal(List.of("0", "6"), queue.counts());
        var deleted = handles.stream().map(handle -> manager.deleteMessage(
                request -> request.queueUrl(queue.url()).receiptHandle(handle))).toList();
        var kept = manager.deleteMessage(request -> request.queueUrl(queue.url()).receiptHandle("garbage"));
        deleted.forEach(CompletableFuture::join);
        failed("ReceiptHandleIsInvalid", kept::join);
        Checks.equal(List.of("0", "0"), queue.counts());
    }

    /** A wrong checksum fails the whole batch. */
    private static void checksums(SqsAsyncBatchManager manager, Queue queue, Mock mock) throws Exception {
        mock.next("SendMessageBatch", queue, "corrupt");
        var waiting = IntStream.range(0, FULL).mapToObj(n -> manager.sendMessage(queue.message("c" + n).build())).toList();
        for (var response : waiting) {
            var error = Checks.fails(SdkClientException.class, response::join);
            Checks.equal(true, error.getMessage().contains("MD5 returned by SQS does not match"));
        }
    }

    /** The manager sends a partial batch after the send interval. */
    private static void unknownQueue(SqsAsyncBatchManager manager, Queue queue) {
        var nowhere = new Queue(queue.sqs(), "nowhere", queue.fifo(), queue.url() + "-nowhere");
        Checks.rejected(QueueDoesNotExistException.class,
                "AWS.SimpleQueueService.NonExistentQueue", 400, () -> manager.sendMessage(nowhere.message("x").build()).join());
    }

    /** A failed entry has an error code, but no specific exception class. */
    private static void failed(String code, Checks.Call call) {
        Checks.equal(code, Checks.fails(SqsException.class, call).awsErrorDetails().errorCode());
    }
}
