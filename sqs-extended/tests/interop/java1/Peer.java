import com.amazon.sqs.javamessaging.AmazonSQSExtendedClient;
import com.amazon.sqs.javamessaging.ExtendedClientConfiguration;
import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.s3.AmazonS3ClientBuilder;
import com.amazonaws.services.sqs.AmazonSQS;
import com.amazonaws.services.sqs.AmazonSQSClientBuilder;
import com.amazonaws.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import com.amazonaws.services.sqs.model.ChangeMessageVisibilityRequest;
import com.amazonaws.services.sqs.model.DeleteMessageBatchRequest;
import com.amazonaws.services.sqs.model.DeleteMessageRequest;
import com.amazonaws.services.sqs.model.ReceiveMessageRequest;
import com.amazonaws.services.sqs.model.SendMessageBatchRequest;
import com.amazonaws.services.sqs.model.SendMessageRequest;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategy;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The peer with version 1.x of the AWS library for Java. It reads calls and writes results, one per line, like peer.rs. It ignores modes. */
public final class Peer {
    private static final ObjectMapper JSON =
            new ObjectMapper().setPropertyNamingStrategy(PropertyNamingStrategy.PASCAL_CASE_TO_CAMEL_CASE);

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
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (var line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, Object> result;
            try {
                var call = JSON.readTree(line);
                result = Map.of("output", execute(sqs, call.get("action").asText(), call.get("input")));
            } catch (Exception error) {
                result = Map.of("error", error.toString());
            }
            out.println(JSON.writeValueAsString(result));
        }
    }

    private static Object execute(AmazonSQS sqs, String action, JsonNode input) throws Exception {
        switch (action) {
            case "SendMessage":
                return sqs.sendMessage(JSON.treeToValue(input, SendMessageRequest.class));
            case "SendMessageBatch":
                return sqs.sendMessageBatch(JSON.treeToValue(input, SendMessageBatchRequest.class));
            case "ReceiveMessage":
                return sqs.receiveMessage(JSON.treeToValue(input, ReceiveMessageRequest.class));
            case "DeleteMessage":
                return sqs.deleteMessage(JSON.treeToValue(input, DeleteMessageRequest.class));
            case "DeleteMessageBatch":
                return sqs.deleteMessageBatch(JSON.treeToValue(input, DeleteMessageBatchRequest.class));
            case "ChangeMessageVisibility":
                return sqs.changeMessageVisibility(JSON.treeToValue(input, ChangeMessageVisibilityRequest.class));
            case "ChangeMessageVisibilityBatch":
                return sqs.changeMessageVisibilityBatch(
                        JSON.treeToValue(input, ChangeMessageVisibilityBatchRequest.class));
            default:
                throw new IllegalArgumentException(action);
        }
    }
}
