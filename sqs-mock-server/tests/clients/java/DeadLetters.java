import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.ListMessageMoveTasksResultEntry;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.ResourceNotFoundException;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** Dead-letter queues and message move tasks. */
final class DeadLetters {
    static void moveToDeadLetters(SqsClient sqs, boolean fifo) {
        var dead = Queue.make(sqs, "dead", fifo);
        var source = source(dead, "source-1", fifo);
        var other = source(dead, "source-2", fifo);
        var pages = sqs.listDeadLetterSourceQueuesPaginator(request -> request.queueUrl(dead.url()).maxResults(1));
        Checks.equal(List.of(source.url(), other.url()), pages.queueUrls().stream().sorted().toList());
        var sent = source.send("poison");
        Checks.equal(1, source.receive().size());
        Checks.equal(List.of(), source.receive());
        var deadLetter = Checks.only(dead.receive());
        Checks.equal(sent.messageId(), deadLetter.messageId());
        Checks.equal("2", deadLetter.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT));
        Checks.equal(source.arn(), deadLetter.attributes().get(MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN));
        var nowhere = "{\"deadLetterTargetArn\":\"%s-nowhere\",\"maxReceiveCount\":1}".formatted(dead.arn());
        Checks.rejected(SqsException.class, "InvalidParameterValue", 400,
                () -> Queue.make(sqs, "invalid-target", fifo, Map.of("RedrivePolicy", nowhere)));
    }

    static void moves(SqsClient sqs, boolean fifo) throws Exception {
        var dead = Queue.make(sqs, "moved", fifo);
        var source = source(dead, "moved-source", fifo);
        source.sendAll("1", "2");
        Checks.eventually("both messages are dead letters", () -> source.receive().isEmpty() && dead.counts().get(0).equals("2"));
        sqs.startMessageMoveTask(request -> request.sourceArn(dead.arn()));
        Checks.eventually("the task ends", () -> task(dead).status().equals("COMPLETED"));
        Checks.equal(List.of(2L, dead.arn()), List.of(task(dead).approximateNumberOfMessagesMoved(), task(dead).sourceArn()));
        Checks.equal(List.of("0", "0"), dead.counts());
        Checks.equal(List.of("1", "2"), Queue.bodies(source.receive(request -> request.visibilityTimeout(30))));

        Checks.rejected(ResourceNotFoundException.class, "ResourceNotFoundException", 404,
                () -> sqs.startMessageMoveTask(request -> request.sourceArn(dead.arn() + "-nowhere")));
        Checks.rejected(SqsException.class, "InvalidParameterValue", 400,
                () -> sqs.startMessageMoveTask(request -> request.sourceArn(source.arn())));
        Checks.rejected(SqsException.class, "InvalidParameterValue", 400,
                () -> sqs.cancelMessageMoveTask(request -> request.taskHandle("garbage")));
    }

    /** A task with a custom destination and one message per second, until it is cancelled. */
    static void cancelledMove(SqsClient sqs, boolean fifo) throws Exception {
        var dead = Queue.make(sqs, "slow", fifo);
        source(dead, "slow-source", fifo);
        var destination = Queue.make(sqs, "slow-destination", fifo);
        dead.sendAll("1", "2", "3", "4", "5");
        var started = sqs.startMessageMoveTask(request -> request.sourceArn(dead.arn())
                .destinationArn(destination.arn()).maxNumberOfMessagesPerSecond(1));
        var running = task(dead);
        Checks.equal(
                List.of("RUNNING", started.taskHandle(), destination.arn(), 1, 5L),
                List.of(running.status(), running.taskHandle(), running.destinationArn(),
                        running.maxNumberOfMessagesPerSecond(), running.approximateNumberOfMessagesToMove()));
        Checks.rejected(SqsException.class, "InvalidParameterValue", 400,
                () -> sqs.startMessageMoveTask(request -> request.sourceArn(dead.arn())));
        var cancelled = sqs.cancelMessageMoveTask(request -> request.taskHandle(started.taskHandle()));
        Checks.equal(true, cancelled.approximateNumberOfMessagesMoved() < 5);
        Checks.eventually("the task is cancelled", () -> task(dead).status().equals("CANCELLED"));
        Checks.equal(false, dead.counts().get(0).equals("0"));
    }

    private static Queue source(Queue dead, String name, boolean fifo) {
        var policy = "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":1}".formatted(dead.arn());
        return Queue.make(dead.sqs(), name, fifo, Map.of("RedrivePolicy", policy, "VisibilityTimeout", "0"));
    }

    private static ListMessageMoveTasksResultEntry task(Queue dead) {
        return Checks.only(dead.sqs().listMessageMoveTasks(request -> request.sourceArn(dead.arn())).results());
    }
}
