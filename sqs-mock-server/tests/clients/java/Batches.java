import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.BatchEntryIdsNotDistinctException;
import software.amazon.awssdk.services.sqs.model.BatchRequestTooLongException;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.EmptyBatchRequestException;
import software.amazon.awssdk.services.sqs.model.InvalidBatchEntryIdException;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.TooManyEntriesInBatchRequestException;

/** Batches in which a single entry may fail. */
final class Batches {
    static void entries(SqsClient sqs, boolean fifo) {
        var queue = Queue.make(sqs, "batches", fifo);
        var entries = entries(queue, "0", "1", "2", "3");
        entries.add(entry(queue, "bad", "\u0001"));
        var sent = send(queue, entries);
        Checks.equal(List.of("0", "1", "2", "3"), sent.successful().stream().map(entry -> entry.id()).toList());
        failed(sent.failed(), "InvalidMessageContents");
        var messages = queue.receive();
        Checks.equal(List.of("body 0", "body 1", "body 2", "body 3"), Queue.bodies(messages));
        Checks.equal(true, messages.stream().allMatch(message -> message.messageAttributes().equals(Queue.ATTRIBUTES)));

        var handles = new ArrayList<>(messages.stream().map(message -> message.receiptHandle()).toList());
        handles.add("garbage");
        var changes = IntStream.range(0, handles.size()).mapToObj(at -> ChangeMessageVisibilityBatchRequestEntry.builder()
                .id(at == 4 ? "bad" : "" + at).receiptHandle(handles.get(at)).visibilityTimeout(120).build()).toList();
        var changed = sqs.changeMessageVisibilityBatch(request -> request.queueUrl(queue.url()).entries(changes));
        Checks.equal(4, changed.successful().size());
        failed(changed.failed(), "ReceiptHandleIsInvalid");
        var deletes = IntStream.range(0, handles.size()).mapToObj(at -> DeleteMessageBatchRequestEntry.builder()
                .id(at == 4 ? "bad" : "" + at).receiptHandle(handles.get(at)).build()).toList();
        var deleted = sqs.deleteMessageBatch(request -> request.queueUrl(queue.url()).entries(deletes));
        Checks.equal(4, deleted.successful().size());
        failed(deleted.failed(), "ReceiptHandleIsInvalid");
        Checks.equal(List.of("0", "0"), queue.counts());
    }

    /** Invalid batches. */
    static void rejections(SqsClient sqs, boolean fifo) {
        var prefix = "AWS.SimpleQueueService.";
        var queue = Queue.make(sqs, "batch-rejections", fifo);
        Checks.rejected(EmptyBatchRequestException.class, prefix + "EmptyBatchRequest", 400, () -> send(queue, List.of()));
        Checks.rejected(TooManyEntriesInBatchRequestException.class, prefix + "TooManyEntriesInBatchRequest", 400,
                () -> send(queue, entries(queue, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10")));
        Checks.rejected(BatchEntryIdsNotDistinctException.class, prefix + "BatchEntryIdsNotDistinct", 400,
                () -> send(queue, entries(queue, "a", "a")));
        Checks.rejected(InvalidBatchEntryIdException.class, prefix + "InvalidBatchEntryId", 400,
                () -> send(queue, entries(queue, "not an id")));
        var half = "x".repeat(600_000);
        Checks.rejected(BatchRequestTooLongException.class, prefix + "BatchRequestTooLong", 400,
                () -> send(queue, List.of(entry(queue, "a", half), entry(queue, "b", half))));
        Checks.equal(List.of("0", "0"), queue.counts());
    }

    static SendMessageBatchResponse send(Queue queue, List<SendMessageBatchRequestEntry> entries) {
        return queue.sqs().sendMessageBatch(request -> request.queueUrl(queue.url()).entries(entries));
    }

    static List<SendMessageBatchRequestEntry> entries(Queue queue, String... ids) {
        return new ArrayList<>(List.of(ids).stream().map(id -> entry(queue, id, "body " + id)).toList());
    }

    private static SendMessageBatchRequestEntry entry(Queue queue, String id, String body) {
        return SendMessageBatchRequestEntry.builder().id(id).messageBody(body).messageAttributes(Queue.ATTRIBUTES)
                .messageGroupId(queue.fifo() ? "g" : null).build();
    }

    private static void failed(List<BatchResultErrorEntry> failures, String code) {
        var failure = Checks.only(failures);
        Checks.equal(List.of("bad", code, true), List.of(failure.id(), failure.code(), failure.senderFault()));
    }
}
