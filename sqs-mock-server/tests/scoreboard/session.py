"""A row in progress: requests in one protocol, and queues that end with the row."""

import json
import secrets
import time

from wire import Refusal, Wire


class Session:
    def __init__(self, endpoint, protocol):
        self.wire = Wire(endpoint)
        self.protocol = protocol
        self.urls = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for url in self.urls:
            try:
                self.wire.ask(self.protocol, "DeleteQueue", {"QueueUrl": url})
            except Exception:
                # A queue that stays disturbs no other row; why the server fails, the row has found out.
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
