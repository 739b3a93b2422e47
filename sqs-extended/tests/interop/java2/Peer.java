import com.amazon.sqs.javamessaging.AmazonSQSExtendedClient;
import com.amazon.sqs.javamessaging.ExtendedClientConfiguration;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.sqs.SqsClient;

/** AWS's library 2.x for Java: {@code send MODE FILE}, or {@code receive MODE FILE}, which deletes the message too. */
public final class Peer {
    public static void main(String[] arguments) throws Exception {
        var credentials = StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test"));
        var s3 = S3Client.builder()
                .endpointOverride(URI.create(System.getenv("AWS_ENDPOINT_URL_S3")))
                .forcePathStyle(true)
                .region(Region.US_EAST_1)
                .credentialsProvider(credentials)
                .build();
        var plain = SqsClient.builder()
                .endpointOverride(URI.create(System.getenv("AWS_ENDPOINT_URL_SQS")))
                .region(Region.US_EAST_1)
                .credentialsProvider(credentials)
                .build();
        var configuration = new ExtendedClientConfiguration().withPayloadSupportEnabled(s3, System.getenv("BUCKET"));
        if (arguments[1].equals("modern")) {
            configuration = configuration.withLegacyReservedAttributeNameDisabled();
        }
        var sqs = new AmazonSQSExtendedClient(plain, configuration);
        var queue = System.getenv("QUEUE_URL");
        var file = Path.of(arguments[2]);
        if (arguments[0].equals("send")) {
            var body = Files.readString(file);
            sqs.sendMessage(request -> request.queueUrl(queue).messageBody(body));
            return;
        }
        var messages = sqs.receiveMessage(request -> request.queueUrl(queue).waitTimeSeconds(5)).messages();
        if (messages.size() != 1) {
            throw new IllegalStateException(messages.size() + " messages");
        }
        Files.writeString(file, messages.get(0).body());
        sqs.deleteMessage(request -> request.queueUrl(queue).receiptHandle(messages.get(0).receiptHandle()));
    }
}
