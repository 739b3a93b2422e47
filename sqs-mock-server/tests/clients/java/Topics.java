import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.sns.SnsClient;
import software.amazon.awssdk.services.sns.model.NotFoundException;
import software.amazon.awssdk.services.sns.model.ResourceNotFoundException;
import software.amazon.awssdk.services.sns.model.Subscription;
import software.amazon.awssdk.services.sns.model.Tag;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sts.StsClient;

/** Topics and subscriptions: names, attributes, tags, lists and deletion; and the identity of the caller. */
final class Topics {
    static void identity(StsClient sts) {
        var caller = sts.getCallerIdentity();
        Checks.equal(List.of("000000000000", "000000000000", "arn:aws:iam::000000000000:root"),
                List.of(caller.account(), caller.userId(), caller.arn()));
    }

    static void names(SnsClient sns, boolean fifo) {
        var topic = Topic.make(sns, "names", fifo, Map.of("DisplayName", "Names"));
        Checks.equal("arn:aws:sns:us-east-1:000000000000:java-names" + (fifo ? ".fifo" : ""), topic.arn());
        Checks.equal(topic, Topic.make(sns, "names", fifo));
        Checks.equal(true, sns.listTopicsPaginator().topics().stream().anyMatch(listed -> listed.topicArn().equals(topic.arn())));
        Topic.invalid("Attributes Reason: Topic already exists with different attributes",
                () -> Topic.make(sns, "names", fifo, Map.of("DisplayName", "Other")));
        Topic.invalid("Topic Name", () -> Topic.make(sns, "no spaces", fifo));
        topic.delete();
        topic.delete();
        Checks.equal(topic, Topic.make(sns, "names", fifo));
    }

    static void attributes(SnsClient sns, boolean fifo) {
        var topic = Topic.make(sns, "attributes", fifo);
        sns.setTopicAttributes(request -> request.topicArn(topic.arn()).attributeName("DisplayName").attributeValue("é & <b>"));
        Checks.equal(fifo ? 10 : 8, topic.attributes().size());
        Checks.equal("é & <b>", topic.attributes().get("DisplayName"));
        Checks.equal(fifo ? "true" : null, topic.attributes().get("FifoTopic"));
        Topic.invalid("AttributeName", () -> sns.setTopicAttributes(
                request -> request.topicArn(topic.arn()).attributeName("Colour").attributeValue("red")));
        var team = Tag.builder().key("team").value("a & b").build();
        var stage = Tag.builder().key("stage").value("").build();
        sns.tagResource(request -> request.resourceArn(topic.arn()).tags(team, stage));
        sns.untagResource(request -> request.resourceArn(topic.arn()).tagKeys("team"));
        Checks.equal(List.of(stage), sns.listTagsForResource(request -> request.resourceArn(topic.arn())).tags());
        Checks.equal("Resource does not exist", Checks.rejected(ResourceNotFoundException.class, "ResourceNotFound", 404,
                () -> sns.listTagsForResource(request -> request.resourceArn(topic.arn() + "-nowhere"))));
    }

    static void subscriptions(SnsClient sns, SqsClient sqs, boolean fifo) {
        var topic = Topic.make(sns, "subscriptions", fifo);
        var queue = Queue.target(sqs, "subscribed", fifo);
        var subscription = topic.subscribe(queue.arn(), Topic.RAW);
        Checks.equal(subscription, topic.subscribe(queue.arn()));
        var expected = Subscription.builder().subscriptionArn(subscription).topicArn(topic.arn()).protocol("sqs")
                .endpoint(queue.arn()).owner("000000000000").build();
        var pages = sns.listSubscriptionsByTopicPaginator(request -> request.topicArn(topic.arn()));
        Checks.equal(List.of(expected), pages.subscriptions().stream().toList());
        var attributes = sns.getSubscriptionAttributes(request -> request.subscriptionArn(subscription)).attributes();
        Checks.equal(List.of("false", "true", queue.arn()), List.of(attributes.get("PendingConfirmation"),
                attributes.get("RawMessageDelivery"), attributes.get("Endpoint")));
        sns.unsubscribe(request -> request.subscriptionArn(subscription));
        sns.unsubscribe(request -> request.subscriptionArn(subscription));
        topic.publish("x");
        Checks.equal(List.of(), queue.receive());
        Checks.equal(List.of(), sns.listSubscriptionsByTopic(request -> request.topicArn(topic.arn())).subscriptions());
        Checks.equal("Subscription does not exist", Checks.rejected(NotFoundException.class, "NotFound", 404,
                () -> sns.getSubscriptionAttributes(request -> request.subscriptionArn(subscription))));
    }

    static void rejections(SnsClient sns, SqsClient sqs, boolean fifo) {
        var topic = Topic.make(sns, "rejections", fifo);
        var queue = Queue.target(sqs, "rejected", fifo);
        var reasons = Map.of(
                "{\"kind\":\"tea\"}", "\"kind\" must be an object or an array",
                "{\"kind\":[]}", "Empty arrays are not allowed",
                "{\"kind\":[{\"like\":\"t\"}]}", "Unrecognized match type like",
                "{\"price\":[{\"numeric\":[\">\",3,\"<\",1]}]}", "Bottom must be less than top");
        reasons.forEach((policy, reason) -> Topic.invalid("Attributes Reason: FilterPolicy: " + reason,
                () -> topic.subscribe(queue.arn(), Map.of("FilterPolicy", policy))));
        var subscription = topic.subscribe(queue.arn());
        reasons.forEach((policy, reason) -> Topic.invalid("FilterPolicy: " + reason,
                () -> sns.setSubscriptionAttributes(request -> request.subscriptionArn(subscription)
                        .attributeName("FilterPolicy").attributeValue(policy))));
        Topic.invalid("Attributes Reason: Subscription already exists with different attributes",
                () -> topic.subscribe(queue.arn(), Topic.RAW));
        Topic.invalid("SQS endpoint ARN", () -> topic.subscribe("queue"));
        if (!fifo) {
            Topic.invalid("Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics",
                    () -> topic.subscribe(queue.arn() + ".fifo"));
        }
    }

    static void missing(SnsClient sns, boolean fifo) {
        var topic = Topic.make(sns, "missing", fifo);
        topic.delete();
        List<Checks.Call> calls = List.of(topic::attributes, () -> topic.publish("x"),
                () -> topic.subscribe("arn:aws:sqs:us-east-1:000000000000:java-missing"),
                () -> sns.listSubscriptionsByTopic(request -> request.topicArn(topic.arn())));
        for (var call : calls) {
            Checks.equal("Topic does not exist", Checks.rejected(NotFoundException.class, "NotFound", 404, call));
        }
    }
}
