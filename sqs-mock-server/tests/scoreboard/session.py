"""A row in progress: requests in one protocol, and queues, topics and web hooks that end with the row."""

import json
import secrets
import time

from hooks import PATIENCE, Hook
from wire import Refusal, Wire


class Session:
    def __init__(self, endpoint, protocol):
        self.wire = Wire(endpoint)
        self.protocol = protocol
        self.urls = []
        self.topics = []
        self.hooks = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ends = [lambda arn=arn: self.wire.sns("DeleteTopic", {"TopicArn": arn}) for arn in self.topics]
        ends += [lambda url=url: self.wire.ask(self.protocol, "DeleteQueue", {"QueueUrl": url}) for url in self.urls]
        for end in [*ends, *(hook.close for hook in self.hooks)]:
            try:
                end()
            except Exception:
                # What stays disturbs no other row; why the server fails, the row has found out.
                pass

    def done(self, action, **members):
        """Calls an action that must succeed."""
        output = self.wire.ask(self.protocol, action, members)
        assert not isinstance(output, Refusal), f"{action} is refused: {output}"
        return output

    def refused(self, action, code, **members):
        """Calls an action that must fail with this code, or with any if it is None."""
        refusal = self.wire.ask(self.protocol, action, members)
        assert isinstance(refusal, Refusal), f"{action} succeeds: {shortened(refusal)}"
        if code is None:
            assert 400 <= refusal.status < 500 and any(refusal.names), shortened(refusal)
        else:
            assert refusal.means(code), f"{shortened(refusal)} instead of {code}"
        return refusal

    def sns(self, action, **members):
        """Calls an action of SNS that must succeed."""
        output = self.wire.sns(action, members)
        assert not isinstance(output, Refusal), f"{action} is refused: {output}"
        return output

    def sns_refused(self, action, code, **members):
        """Calls an action of SNS that must fail with this code."""
        refusal = self.wire.sns(action, members)
        assert isinstance(refusal, Refusal), f"{action} succeeds: {shortened(refusal)}"
        assert refusal.means(code), f"{shortened(refusal)} instead of {code}"

    def topic(self, name=None, **members):
        """Creates a topic and returns its ARN."""
        arn = self.sns("CreateTopic", Name=name or self.new_name(), **members)["TopicArn"]
        self.topics.append(arn)
        return arn

    def fifo_topic(self, **attributes):
        return self.topic(self.new_name(".fifo"), Attributes={"FifoTopic": "true", **attributes})

    def open_queue(self, fifo=False):
        """A queue that takes messages of SNS and S3, which need a policy; returns its URL and ARN."""
        url = self.fifo() if fifo else self.queue()
        arn = self.arn(url)
        senders = {"Service": ["sns.amazonaws.com", "s3.amazonaws.com"]}
        statement = {"Effect": "Allow", "Principal": senders, "Action": "sqs:SendMessage", "Resource": arn}
        self.set(url, Policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}))
        return url, arn

    def subscribe(self, topic, protocol, endpoint, **attributes):
        members = {"TopicArn": topic, "Protocol": protocol, "Endpoint": endpoint, "ReturnSubscriptionArn": "true"}
        return self.sns("Subscribe", **members, Attributes=attributes)["SubscriptionArn"]

    def subscriber(self, topic, **attributes):
        """The URL of a new queue that subscribes to a topic."""
        url, arn = self.open_queue()
        self.subscribe(topic, "sqs", arn, **attributes)
        return url

    def publish(self, topic, message="x", **members):
        return self.sns("Publish", TopicArn=topic, Message=message, **members)

    def hook(self, status=200, failures=0):
        hook = Hook(status, failures)
        self.hooks.append(hook)
        return hook

    def hooked(self, topic, hook, **attributes):
        """Subscribes a web hook, and confirms it by its token; returns the ARN of the subscription."""
        arn = self.subscribe(topic, "http", hook.url, **attributes)
        shown = self.wire.sns("GetSubscriptionAttributes", {"SubscriptionArn": arn})
        is_pending = isinstance(shown, Refusal) or shown["Attributes"].get("PendingConfirmation") != "false"
        try:
            hook.confirmation = hook.next("SubscriptionConfirmation", PATIENCE if is_pending else 0.5).json()
        except AssertionError:
            # That a server confirms by itself fails rules of its own, not all.
            if is_pending:
                raise
            return arn
        return self.sns("ConfirmSubscription", TopicArn=topic, Token=hook.confirmation["Token"])["SubscriptionArn"]

    def s3(self, method, path, body=b"", **headers):
        """A request to S3. Underscores in names of headers are hyphens."""
        data = body.encode() if isinstance(body, str) else body
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.wire.s3(method, path, data, names)

    def s3_done(self, method, path, body=b"", status=200, **headers):
        """A request to S3 that must succeed."""
        response = self.s3(method, path, body, **headers)
        assert response.status == status, f"{method}: {response.status} {shortened(response.body)}"
        return response

    def s3_refused(self, method, path, status, code, body=b"", **headers):
        """A request to S3 that must fail; returns the elements of the error."""
        response = self.s3(method, path, body, **headers)
        root = response.xml().root
        error = {child.tag: child.text or "" for child in root}
        equal((response.status, root.tag, error.get("Code")), (status, "Error", code))
        return error

    def bucket(self):
        """Creates a bucket, and returns its path. Buckets end with the server."""
        path = f"/{self.new_name()}"
        self.s3_done("PUT", path)
        buckets = self.s3_done("GET", "/").xml().root
        assert path[1:] in [name.text for name in buckets.iter("Name")], "the bucket is not listed"
        return path

    def new_name(self, suffix=""):
        return f"row-{secrets.token_hex(6)}{suffix}"

    def queue(self, name=None, tags=None, **attributes):
        """Creates a queue and returns its URL."""
        members = {"QueueName": name or self.new_name()}
        if attributes:
            members["Attributes"] = attributes
        if tags:
            members["tags"] = tags
        url = self.done("CreateQueue", **members)["QueueUrl"]
        self.urls.append(url)
        return url

    def fifo(self, **attributes):
        return self.queue(self.new_name(".fifo"), FifoQueue="true", **attributes)

    def with_dead_letters(self, most=1, fifo=False, **attributes):
        """A queue and its dead-letter queue. A message is visible again at once."""
        make = self.fifo if fifo else self.queue
        dead = make()
        attributes = {"VisibilityTimeout": "0", **attributes}
        return make(RedrivePolicy=redrive(self.arn(dead), most), **attributes), dead

    def attributes(self, url, *names):
        output = self.done("GetQueueAttributes", QueueUrl=url, AttributeNames=list(names or ["All"]))
        return output.get("Attributes", {})

    def arn(self, url):
        return self.attributes(url, "QueueArn")["QueueArn"]

    def set(self, url, **attributes):
        self.done("SetQueueAttributes", QueueUrl=url, Attributes=attributes)

    def counts(self, url):
        """Visible, in flight, delayed."""
        attributes = self.attributes(url)
        kinds = ("", "NotVisible", "Delayed")
        return tuple(int(attributes.get(f"ApproximateNumberOfMessages{kind}", 0)) for kind in kinds)

    def settles(self, url, counts):
        """The counts become these. On AWS they are approximate, and follow a moment later."""
        for _ in range(20):
            if self.counts(url) == counts:
                return
            time.sleep(0.1)
        equal(self.counts(url), counts)

    def send(self, url, body="x", **more):
        return self.done("SendMessage", QueueUrl=url, MessageBody=body, **more)

    def send_in(self, url, group, body, **more):
        """Sends to a group, with the body as its deduplication id."""
        return self.send(url, body, **{"MessageGroupId": group, "MessageDeduplicationId": body, **more})

    def receive(self, url, most=10, **more):
        output = self.done("ReceiveMessage", QueueUrl=url, MaxNumberOfMessages=most, **more)
        # Some servers write null; that an empty list is omitted is a rule of its own.
        return output.get("Messages") or []

    def bodies(self, url, most=10, **more):
        return [message["Body"] for message in self.receive(url, most, **more)]

    def one(self, url, **more):
        """Receives the only message, with its attributes. A long poll, since a short one may miss it."""
        asked = {"AttributeNames": ["All"], "MessageAttributeNames": ["All"], "WaitTimeSeconds": 2}
        messages = self.receive(url, **{**asked, **more})
        assert len(messages) == 1, f"{len(messages)} messages"
        return messages[0]

    def arriving(self, url, count):
        """Receives this number of messages, in several receives if need be, and no more."""
        messages, end = [], time.monotonic() + 5
        while len(messages) < count and time.monotonic() < end:
            messages += self.taken(url)
        messages += self.taken(url)
        assert len(messages) == count, f"{len(messages)} messages instead of {count}"
        return messages

    def taken(self, url):
        """Receives and deletes messages."""
        messages = self.receive(url, AttributeNames=["All"], MessageAttributeNames=["All"], WaitTimeSeconds=1)
        for message in messages:
            self.delete(url, message)
        return messages

    def delete(self, url, message):
        self.done("DeleteMessage", QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def hide(self, url, message, seconds):
        handle = message["ReceiptHandle"]
        self.done("ChangeMessageVisibility", QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=seconds)

    def eventually(self, look, seconds=5):
        """Looks until there is something to see."""
        end = time.monotonic() + seconds
        while not (seen := look()):
            assert time.monotonic() < end, f"nothing after {seconds} s"
            time.sleep(0.1)
        return seen


def redrive(arn, most):
    return json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": most})


def equal(given, expected):
    assert given == expected, f"{shortened(given)} instead of {shortened(expected)}"


def shortened(value):
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}.."
