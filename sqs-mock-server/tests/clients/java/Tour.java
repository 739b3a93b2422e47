import java.net.URI;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.core.util.VersionInfo;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsClient;

/** Tests the server with the AWS SDK for Java: {@code Tour ENDPOINT}. */
public final class Tour {
    interface Step {
        void run(boolean fifo) throws Exception;
    }

    public static void main(String[] arguments) {
        // Ends the threads of the clients after a failed step.
        try {
            tour(arguments[0]);
        } catch (Throwable thrown) {
            thrown.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    private static void tour(String endpoint) throws Exception {
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
