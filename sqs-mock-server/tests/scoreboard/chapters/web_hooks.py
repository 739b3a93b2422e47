"""SNS: subscriptions of web hooks."""

import json
import time

from codes import SNS_NOT_FOUND
from rows import DOCUMENTED, RECORDED, SNS, Chapter
from session import equal
from signatures import is_signed

CHAPTER = Chapter("SNS over HTTP", (SNS,))
SIGNED = {"SignatureVersion", "Signature", "SigningCertURL"}
CONFIRMATION = {"Type", "MessageId", "Token", "TopicArn", "Message", "SubscribeURL", "Timestamp", *SIGNED}
NUMBER = {"attr1": {"DataType": "Number", "StringValue": "99.12"}}


def retries(number, delay):
    """A delivery policy with the same delay before each retry."""
    phases = {"numNoDelayRetries": 0, "numMinDelayRetries": 0, "numMaxDelayRetries": 0, "backoffFunction": "linear"}
    policy = {"numRetries": number, "minDelayTarget": delay, "maxDelayTarget": delay, **phases}
    return json.dumps({"healthyRetryPolicy": policy})


@CHAPTER.row("A new endpoint gets a SubscriptionConfirmation with its headers and fields", RECORDED)
def _(s):
    topic, hook = s.topic(), s.hook()
    s.subscribe(topic, "http", hook.url)
    arrival = hook.next("SubscriptionConfirmation")
    body, headers = arrival.json(), arrival.headers
    equal(set(body), CONFIRMATION)
    equal((body["Type"], body["TopicArn"]), ("SubscriptionConfirmation", topic))
    equal(headers.get("x-amz-sns-message-type"), "SubscriptionConfirmation")
    equal((headers["x-amz-sns-message-id"], headers["x-amz-sns-topic-arn"]), (body["MessageId"], topic))
    assert "x-amz-sns-subscription-arn" not in headers
    equal(headers["content-type"], "text/plain; charset=UTF-8")
    equal(
        body["Message"],
        f"You have chosen to subscribe to the topic {topic}.\n"
        "To confirm the subscription, visit the SubscribeURL included in this message.",
    )


@CHAPTER.row("Before its confirmation, a subscription is pending and gets no message", RECORDED)
def _(s):
    topic, hook = s.topic(), s.hook()
    members = {"TopicArn": topic, "Protocol": "http", "Endpoint": hook.url}
    equal(s.sns("Subscribe", **members)["SubscriptionArn"], "pending confirmation")
    arn = s.sns("Subscribe", **members, ReturnSubscriptionArn="true")["SubscriptionArn"]
    assert arn.startswith(f"{topic}:"), arn
    equal(s.sns("GetSubscriptionAttributes", SubscriptionArn=arn)["Attributes"]["PendingConfirmation"], "true")
    s.publish(topic)
    hook.next("SubscriptionConfirmation")
    time.sleep(1)
    kinds = {hook.arrived.get().kind for _ in range(hook.arrived.qsize())}
    # A second Subscribe may send another confirmation.
    equal(kinds - {"SubscriptionConfirmation"}, set())


@CHAPTER.row("SubscribeURL confirms without a signature", RECORDED)
def _(s):
    topic, hook = s.topic(), s.hook()
    s.subscribe(topic, "http", hook.url)
    response = s.wire.open(hook.next("SubscriptionConfirmation").json()["SubscribeURL"])
    equal(response.status, 200)
    arn = response.xml().path("ConfirmSubscriptionResult", "SubscriptionArn").text
    assert arn.startswith(f"{topic}:"), arn
    equal(s.sns("GetSubscriptionAttributes", SubscriptionArn=arn)["Attributes"]["PendingConfirmation"], "false")
    s.publish(topic)
    hook.next("Notification")


@CHAPTER.row("ConfirmSubscription confirms by the token, and again returns the same ARN", RECORDED)
def _(s):
    topic, hook = s.topic(), s.hook()
    s.subscribe(topic, "http", hook.url)
    token = hook.next("SubscriptionConfirmation").json()["Token"]
    first, second = (s.sns("ConfirmSubscription", TopicArn=topic, Token=token) for _ in range(2))
    equal(second, first)
    assert first["SubscriptionArn"].startswith(f"{topic}:"), first
    s.publish(topic)
    hook.next("Notification")


@CHAPTER.row("Headers of a notification name its type, the id of Publish, topic and subscription", RECORDED)
def _(s):
    topic, hook = s.topic(), s.hook()
    arn = s.hooked(topic, hook)
    sent = s.publish(topic)
    headers = hook.next("Notification").headers
    names = [f"x-amz-sns-{name}" for name in ("message-type", "message-id", "topic-arn", "subscription-arn")]
    equal([headers.get(name) for name in names], ["Notification", sent["MessageId"], topic, arn])
    equal(headers.get("content-type"), "text/plain; charset=UTF-8")
    assert "x-amz-sns-rawdelivery" not in headers


@CHAPTER.row("A notification has the fields of an envelope", RECORDED)
def _(s):
    topic, hook = s.topic(), s.hook()
    arn = s.hooked(topic, hook)
    sent = s.publish(topic, "té & tea", Subject="news", MessageAttributes=NUMBER)
    body = hook.next("Notification").json()
    values = {"Type": "Notification", "MessageId": sent["MessageId"], "TopicArn": topic, "Message": "té & tea"}
    values |= {"Subject": "news", "MessageAttributes": {"attr1": {"Type": "Number", "Value": "99.12"}}}
    equal(set(body), {*values, *SIGNED, "Timestamp", "UnsubscribeURL"})
    equal({name: body[name] for name in values}, values)
    assert body["UnsubscribeURL"].endswith(f"?Action=Unsubscribe&SubscriptionArn={arn}"), body["UnsubscribeURL"]


def signed(s, version):
    topic, hook = s.topic(), s.hook()
    if version != "1":
        s.sns("SetTopicAttributes", TopicArn=topic, AttributeName="SignatureVersion", AttributeValue=version)
    s.hooked(topic, hook)
    s.publish(topic, "té & tea", Subject="news")
    for message in filter(None, [hook.confirmation, hook.next("Notification").json()]):
        equal(message["SignatureVersion"], version)
        certificate = s.wire.open(message["SigningCertURL"])
        assert certificate.status == 200 and certificate.body.startswith(b"-----BEGIN"), "no certificate"
        assert is_signed(message, certificate.text()), f"the signature of the {message['Type']} is wrong"


@CHAPTER.row("The certificate of SigningCertURL verifies signatures of version 1", RECORDED)
def _(s):
    signed(s, "1")


@CHAPTER.row("The certificate of SigningCertURL verifies signatures of version 2", RECORDED)
def _(s):
    signed(s, "2")


@CHAPTER.row("Raw delivery posts the message, with the header x-amz-sns-rawdelivery", RECORDED)
def _(s):
    topic, hook = s.topic(), s.hook()
    s.hooked(topic, hook, RawMessageDelivery="true")
    sent = s.publish(topic, "té", Subject="news")
    arrival = hook.next("Notification")
    equal(arrival.body, "té")
    names = ["x-amz-sns-rawdelivery", "x-amz-sns-message-id"]
    equal([arrival.headers.get(name) for name in names], ["true", sent["MessageId"]])


@CHAPTER.row("A message structure has a text for http", DOCUMENTED)
def _(s):
    topic, hook = s.topic(), s.hook()
    s.hooked(topic, hook)
    s.publish(topic, json.dumps({"default": "d", "http": "h", "https": "t"}), MessageStructure="json")
    equal(hook.next("Notification").json()["Message"], "h")


@CHAPTER.row("After a 503, a message is sent again with the same id, after the delay of the delivery policy", DOCUMENTED)
def _(s):
    topic, hook = s.topic(), s.hook(503, failures=1)
    s.hooked(topic, hook, DeliveryPolicy=retries(1, 1))
    sent = s.publish(topic)
    first, second = hook.next("Notification"), hook.next("Notification")
    ids = [arrival.headers.get("x-amz-sns-message-id") for arrival in (first, second)]
    equal(ids, [sent["MessageId"]] * 2)
    assert second.time - first.time > 0.8, f"again after {second.time - first.time:.1f} s"


@CHAPTER.row("After a 404, the message goes to the dead-letter queue at once", DOCUMENTED)
def _(s):
    topic, hook = s.topic(), s.hook(404, failures=9)
    dead, target = s.open_queue()
    s.hooked(topic, hook, RedrivePolicy=json.dumps({"deadLetterTargetArn": target}))
    sent = s.publish(topic)
    hook.next("Notification")
    equal(json.loads(s.one(dead, WaitTimeSeconds=5)["Body"])["MessageId"], sent["MessageId"])
    hook.silent()


@CHAPTER.row("UnsubscribeURL ends a subscription, and the endpoint gets an UnsubscribeConfirmation", RECORDED)
def _(s):
    topic, hook = s.topic(), s.hook()
    arn = s.hooked(topic, hook)
    s.publish(topic)
    equal(s.wire.open(hook.next("Notification").json()["UnsubscribeURL"]).status, 200)
    body = hook.next("UnsubscribeConfirmation").json()
    equal(set(body), CONFIRMATION)
    equal((body["Type"], body["TopicArn"]), ("UnsubscribeConfirmation", topic))
    assert body["Message"].startswith(f"You have chosen to deactivate subscription {arn}.\n"), body["Message"]
    raw = {"AttributeName": "RawMessageDelivery", "AttributeValue": "true"}
    s.sns_refused("SetSubscriptionAttributes", SNS_NOT_FOUND, SubscriptionArn=arn, **raw)


@CHAPTER.row("EffectiveDeliveryPolicy shows a policy that was set; raw delivery uses its content type", RECORDED)
def _(s):
    topic, hook = s.topic(), s.hook()
    policy = {"requestPolicy": {"headerContentType": "text/csv"}}
    arn = s.hooked(topic, hook, RawMessageDelivery="true", DeliveryPolicy=json.dumps(policy))
    attributes = s.sns("GetSubscriptionAttributes", SubscriptionArn=arn)["Attributes"]
    equal(json.loads(attributes["EffectiveDeliveryPolicy"])["requestPolicy"], policy["requestPolicy"])
    s.publish(topic)
    equal(hook.next("Notification").headers.get("content-type"), "text/csv")
