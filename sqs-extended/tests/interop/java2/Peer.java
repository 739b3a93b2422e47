import com.amazon.sqs.javamessaging.AmazonSQSExtendedClient;
import com.amazon.sqs.javamessaging.ExtendedClientConfiguration;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;

/** The peer with version 2.x of the AWS library for Java. It reads calls and writes results, one per line, like peer.rs. */
public final class Peer {
    private static final ObjectMapper JSON = new ObjectMapper()
            .setPropertyNamingStrategy(PropertyNamingStrategies.UPPER_CAMEL_CASE)
            .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS);

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
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (var line = in.readLine(); line != null; line = in.readLine()) {
            var call = JSON.readTree(line);
            Map<String, Object> result;
            try {
                var sqs = new AmazonSQSExtendedClient(plain, configuration(s3, call));
                result = Map.of("output", execute(sqs, call.get("action").asText(), call.get("input")));
            } catch (Exception error) {
                result = Map.of("error", error.toString());
            }
            out.println(JSON.writeValueAsString(result));
        }
    }

    private static ExtendedClientConfiguration configuration(S3Client s3, JsonNode call) {
        var configuration = new ExtendedClientConfiguration().withPayloadSupportEnabled(s3, System.getenv("BUCKET"));
        if (call.get("mode").asText().equals("modern")) {
            configuration = configuration.withLegacyReservedAttributeNameDisabled();
        }
        var prefix = call.get("prefix").asText();
        return prefix.isEmpty() ? configuration : configuration.withS3KeyPrefix(prefix);
    }

    /** The SDK has no JSON conversion of requests and responses, but their builders are beans. */
    private static Object execute(AmazonSQSExtendedClient sqs, String action, JsonNode input) throws Exception {
        return switch (action) {
            case "SendMessage" ->
                sqs.sendMessage(read(input, SendMessageRequest.serializableBuilderClass()).build()).toBuilder();
            case "SendMessageBatch" ->
                sqs.sendMessageBatch(read(input, SendMessageBatchRequest.serializableBuilderClass()).build())
                        .toBuilder();
            case "ReceiveMessage" ->
                sqs.receiveMessage(read(input, ReceiveMessageRequest.serializableBuilderClass()).build()).toBuilder();
            case "DeleteMessage" ->
                sqs.deleteMessage(read(input, DeleteMessageRequest.serializableBuilderClass()).build()).toBuilder();
            case "DeleteMessageBatch" ->
                sqs.deleteMessageBatch(read(input, DeleteMessageBatchRequest.serializableBuilderClass()).build())
                        .toBuilder();
            case "ChangeMessageVisibility" ->
                sqs.changeMessageVisibility(
                                read(input, ChangeMessageVisibilityRequest.serializableBuilderClass()).build())
                        .toBuilder();
            case "ChangeMessageVisibilityBatch" ->
                sqs.changeMessageVisibilityBatch(
                                read(input, ChangeMessageVisibilityBatchRequest.serializableBuilderClass()).build())
                        .toBuilder();
            default -> throw new IllegalArgumentException(action);
        };
    }

    private static <B> B read(JsonNode input, Class<B> builder) throws Exception {
        return JSON.treeToValue(input, builder);
    }
}
