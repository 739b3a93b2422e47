import java.net.URI;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.core.util.VersionInfo;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.sns.SnsClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sts.StsClient;

/** Tests the server with the AWS SDK for Java: {@code Tour ENDPOINT S3_ENDPOINT}. */
public final class Tour {
    interface Step {
        void run(boolean fifo) throws Exception;
    }

    public static void main(String[] arguments) {
        // Ends the threads of the clients after a failed step.
        try {
            tourOfQueues(arguments[0]);
            tourOfTopics(arguments[0]);
            tourOfEvents(arguments[0], arguments[1]);
        } catch (Throwable thrown) {
            thrown.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    private static void tourOfQueues(String endpoint) throws Exception {
        var mock = new Mock(endpoint);
        try (var sqs = client(SqsClient.builder(), endpoint, 1).build();
                var retrying = client(SqsClient.builder(), endpoint, 3).build();
                var async = client(SqsAsyncClient.builder(), endpoint, 1).build()) {
            step("queues", fifo -> Queues.names(sqs, fifo));
            Queues.pages(sqs, async);
            passed("pagination of queues");
            step("attributes of queues", fifo -> Queues.attributes(sqs, fifo));
            step("tags and permissions", fifo -> Queues.tags(sqs, fifo));
            step("purges", fifo -> Queues.purges(sqs, fifo));
            step("messages with every attribute", fifo -> Messages.everyAttribute(sqs, fifo));
            step("visibility and deletes", fifo -> Messages.visibility(sqs, fifo));
            step("rejected messages", fifo -> Messages.rejections(sqs, fifo));
            step("long polls", fifo -> Messages.longPolls(sqs, async, fifo));
            step("batches", fifo -> Batches.entries(sqs, fifo));
            step("rejected batches", fifo -> Batches.rejections(sqs, fifo));
            Fifo.order(sqs);
            Fifo.deduplication(sqs);
            passed("order and deduplication");
            step("dead letters", fifo -> DeadLetters.moveToDeadLetters(sqs, fifo));
            step("moved messages", fifo -> DeadLetters.moves(sqs, fifo));
            step("cancelled move", fifo -> DeadLetters.cancelledMove(sqs, fifo));
            step("wrong checksums", fifo -> Faults.checksums(sqs, mock, fifo));
            step("throttling and lost responses", fifo -> Faults.throttling(sqs, retrying, mock, fifo));
            step("batch manager", fifo -> Manager.batches(sqs, async, mock, fifo));
        }
    }

    private static void tourOfTopics(String endpoint) throws Exception {
        try (var sqs = client(SqsClient.builder(), endpoint, 1).build();
                var sns = client(SnsClient.builder(), endpoint, 1).build();
                var sts = client(StsClient.builder(), endpoint, 1).build()) {
            Topics.identity(sts);
            passed("identity of the caller");
            step("topics", fifo -> Topics.names(sns, fifo));
            step("attributes and tags of topics", fifo -> Topics.attributes(sns, fifo));
            step("subscriptions", fifo -> Topics.subscriptions(sns, sqs, fifo));
            step("rejected subscriptions", fifo -> Topics.rejections(sns, sqs, fifo));
            step("missing topics", fifo -> Topics.missing(sns, fifo));
            step("envelopes and raw messages", fifo -> Deliveries.envelopes(sns, sqs, fifo));
            Deliveries.filters(sns, sqs);
            passed("filter policies");
            step("undeliverable messages", fifo -> Deliveries.undeliverable(sns, sqs, fifo));
            Deliveries.order(sns, sqs);
            passed("order of groups of a topic");
            step("rejected publishes", fifo -> Deliveries.rejections(sns, fifo));
        }
    }

    private static void tourOfEvents(String endpoint, String s3Endpoint) {
        try (var sqs = client(SqsClient.builder(), endpoint, 1).build();
                var s3 = client(S3Client.builder().forcePathStyle(true), s3Endpoint, 1).build()) {
            Events.inQueue(s3, sqs);
            passed("events of a bucket");
        }
    }

    private static <B extends AwsClientBuilder<B, C>, C> B client(B builder, String endpoint, int attempts) {
        var credentials = AwsBasicCredentials.create("test", "test");
        return builder.endpointOverride(URI.create(endpoint)).region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(credentials))
                .overrideConfiguration(settings -> settings.retryStrategy(retries -> retries.maxAttempts(attempts)));
    }

    /** Runs a step with a standard queue and with a FIFO queue. */
    private static void step(String what, Step step) throws Exception {
        step.run(false);
        step.run(true);
        passed(what);
    }

    private static void passed(String what) {
        System.out.println("ok: AWS SDK for Java " + VersionInfo.SDK_VERSION + ": " + what);
    }
}
