import com.amazon.sqs.javamessaging.AmazonSQSExtendedClient;
import com.amazon.sqs.javamessaging.ExtendedClientConfiguration;
import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.s3.AmazonS3ClientBuilder;
import com.amazonaws.services.sqs.AmazonSQSClientBuilder;
import com.amazonaws.services.sqs.model.ReceiveMessageRequest;
import java.nio.file.Files;
import java.nio.file.Path;

/** AWS's library 1.x for Java: {@code send MODE FILE}, or {@code receive MODE FILE}, which deletes the message too. */
public final class Peer {
    public static void main(String[] arguments) throws Exception {
        var credentials = new AWSStaticCredentialsProvider(new BasicAWSCredentials("test", "test"));
        var s3 = AmazonS3ClientBuilder.standard()
                .withEndpointConfiguration(new EndpointConfiguration(System.getenv("AWS_ENDPOINT_URL_S3"), "us-east-1"))
                .withPathStyleAccessEnabled(true)
                .withCredentials(credentials)
                .build();
        var plain = AmazonSQSClientBuilder.standard()
                .withEndpointConfiguration(new EndpointConfiguration(System.getenv("AWS_ENDPOINT_URL_SQS"), "us-east-1"))
                .withCredentials(credentials)
                .build();
        var configuration = new ExtendedClientConfiguration()
                .withLargePayloadSupportEnabled(s3, System.getenv("BUCKET"));
        var sqs = new AmazonSQSExtendedClient(plain, configuration);
        var queue = System.getenv("QUEUE_URL");
        var file = Path.of(arguments[2]);
        if (arguments[0].equals("send")) {
            sqs.sendMessage(queue, Files.readString(file));
            return;
        }
        var messages = sqs.receiveMessage(new ReceiveMessageRequest(queue).withWaitTimeSeconds(5)).getMessages();
        if (messages.size() != 1) {
            throw new IllegalStateException(messages.size() + " messages");
        }
        Files.writeString(file, messages.get(0).getBody());
        sqs.deleteMessage(queue, messages.get(0).getReceiptHandle());
    }
}
