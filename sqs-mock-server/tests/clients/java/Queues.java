import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.InvalidAttributeNameException;
import software.amazon.awssdk.services.sqs.model.InvalidAttributeValueException;
import software.amazon.awssdk.services.sqs.model.OverLimitException;
import software.amazon.awssdk.services.sqs.model.PurgeQueueInProgressException;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDeletedRecentlyException;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.QueueNameExistsException;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** Queues: names, pagination, attributes, tags, permissions, purge and deletion. */
final class Queues {
    private static final String PREFIX = "AWS.SimpleQueueService.";

    static void names(SqsClient sqs, boolean fifo) {
        var queue = Queue.make(sqs, "names", fifo, Map.of("VisibilityTimeout", "30"));
        Checks.equal(queue, Queue.make(sqs, "names", fifo));
        Checks.equal(queue.url(), sqs.getQueueUrl(request -> request.queueName(queue.name())).queueUrl());
        Checks.equal(List.of(queue.url()), sqs.listQueues(request -> request.queueNamePrefix(queue.name())).queueUrls());
        Checks.rejected(QueueNameExistsException.class, "QueueAlreadyExists", 400,
                () -> Queue.make(sqs, "names", fifo, Map.of("VisibilityTimeout", "31")));
        Checks.rejected(SqsException.class, "InvalidParameterValue", 400,
                () -> sqs.createQueue(request -> request.queueName("no spaces" + (fifo ? ".fifo" : ""))));
        sqs.deleteQueue(request -> request.queueUrl(queue.url()));
        Checks.rejected(QueueDoesNotExistException.class, PREFIX + "NonExistentQueue", 400, () -> queue.send("x"));
        Checks.rejected(QueueDoesNotExistException.class, PREFIX + "NonExistentQueue", 400,
                () -> sqs.getQueueUrl(request -> request.queueName(queue.name())));
        Checks.rejected(QueueDeletedRecentlyException.class, PREFIX + "QueueDeletedRecently", 400,
                () -> Queue.make(sqs, "names", fifo));
    }

    static void pages(SqsClient sqs, SqsAsyncClient async) {
        var urls = new ArrayList<String>();
        for (var number = 0; number < 5; number++) {
            urls.add(Queue.make(sqs, "page-" + number, false).url());
        }
        var pages = sqs.listQueuesPaginator(request -> request.queueNamePrefix("java-page-").maxResults(2));
        Checks.equal(List.of(2, 2, 1), pages.stream().map(page -> page.queueUrls().size()).toList());
        Checks.equal(urls, pages.queueUrls().stream().toList());
        var published = new ArrayList<String>();
        async.listQueuesPaginator(request -> request.queueNamePrefix("java-page-").maxResults(3))
                .queueUrls().subscribe(published::add).join();
        Checks.equal(urls, published);
        Checks.equal(List.of(), sqs.listQueues(request -> request.queueNamePrefix("java-nothing")).queueUrls());
    }

    static void attributes(SqsClient sqs, boolean fifo) {
        var queue = Queue.make(sqs, "attributes", fifo);
        sqs.setQueueAttributes(request -> request.queueUrl(queue.url())
                .attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "61", QueueAttributeName.DELAY_SECONDS, "0")));
        var all = sqs.getQueueAttributes(request -> request.queueUrl(queue.url())
                .attributeNames(QueueAttributeName.ALL)).attributes();
        Checks.equal(fifo ? 16 : 12, all.size());
        Checks.equal("61", all.get(QueueAttributeName.VISIBILITY_TIMEOUT));
        Checks.equal(fifo ? "queue" : null, all.get(QueueAttributeName.DEDUPLICATION_SCOPE));
        Checks.equal("arn:aws:sqs:us-east-1:000000000000:" + queue.name(), all.get(QueueAttributeName.QUEUE_ARN));
        Checks.equal(null, queue.attribute(QueueAttributeName.POLICY));
        Checks.rejected(InvalidAttributeNameException.class, "InvalidAttributeName", 400,
                () -> sqs.getQueueAttributes(request -> request.queueUrl(queue.url()).attributeNamesWithStrings("Hue")));
        Checks.rejected(InvalidAttributeValueException.class, "InvalidAttributeValue", 400,
                () -> sqs.setQueueAttributes(request -> request.queueUrl(queue.url())
                        .attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "-1"))));
    }

    static void tags(SqsClient sqs, boolean fifo) {
        var team = Map.of("team", "a & b");
        var queue = Queue.make(sqs, "tags", fifo);
        sqs.createQueue(request -> request.queueName("java-tagged").tags(team));
        var tagged = sqs.getQueueUrl(request -> request.queueName("java-tagged")).queueUrl();
        Checks.equal(team, sqs.listQueueTags(request -> request.queueUrl(tagged)).tags());
        sqs.tagQueue(request -> request.queueUrl(queue.url()).tags(team));
        sqs.tagQueue(request -> request.queueUrl(queue.url()).tags(Map.of("stage", "", "owner", "é")));
        sqs.untagQueue(request -> request.queueUrl(queue.url()).tagKeys("team"));
        Checks.equal(Map.of("stage", "", "owner", "é"), sqs.listQueueTags(request -> request.queueUrl(queue.url())).tags());
        sqs.addPermission(request -> request.queueUrl(queue.url()).label("reader").awsAccountIds("123456789012")
                .actions("ReceiveMessage"));
        Checks.equal(true, queue.attribute(QueueAttributeName.POLICY).contains("\"SQS:ReceiveMessage\""));
        Checks.rejected(OverLimitException.class, "OverLimit", 403, () -> sqs.addPermission(request -> request
                .queueUrl(queue.url()).label("many").awsAccountIds("123456789012")
                .actions("SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueUrl",
                        "GetQueueAttributes", "ListDeadLetterSourceQueues", "PurgeQueue")));
        sqs.removePermission(request -> request.queueUrl(queue.url()).label("reader"));
        Checks.equal(null, queue.attribute(QueueAttributeName.POLICY));
    }

    static void purges(SqsClient sqs, boolean fifo) {
        var queue = Queue.make(sqs, "purges", fifo);
        queue.sendAll("1", "2");
        sqs.purgeQueue(request -> request.queueUrl(queue.url()));
        Checks.equal(List.of(), queue.receive());
        Checks.rejected(PurgeQueueInProgressException.class, PREFIX + "PurgeQueueInProgress", 403,
                () -> sqs.purgeQueue(request -> request.queueUrl(queue.url())));
    }
}
