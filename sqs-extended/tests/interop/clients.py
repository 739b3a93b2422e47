"""Clients of the libraries and their operations. Each library runs in a separate process."""

import json
import subprocess
import tempfile
import threading
from os.path import commonprefix


class Unexpected(Exception):
    """A client does not behave as the scenario expects."""


def expect(what, expected, actual):
    if expected != actual:
        expected, actual = repr(expected), repr(actual)
        difference = len(commonprefix([expected, actual]))
        raise Unexpected(f"{what}: expected {excerpt(expected, difference)}, got {excerpt(actual, difference)}")


def excerpt(text, position):
    """The part of a text around a position."""
    start, end = max(0, position - 100), position + 200
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")


# Maximum seconds for a call of a peer.
TIMEOUT = 60


class Library:
    """A peer process. It reads one call per line and writes one result per line."""

    def __init__(self, name, command):
        self.name = name
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self.log, encoding="utf-8")

    def call(self, **call):
        timer = threading.Timer(TIMEOUT, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(json.dumps(call) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            self.log.seek(0)
            raise Unexpected(f"{self.name} ended or took over {TIMEOUT} s for {call}: {self.log.read().strip()}")
        return json.loads(line)


class Client:
    """A library with its settings: the format of pointers, the key prefix, and those that only our client has."""

    def __init__(self, library, mode, prefix="", **ours):
        self.library, self.mode, self.prefix, self.ours = library, mode, prefix, ours

    def __str__(self):
        return f"{self.library.name} ({self.mode})"

    def with_prefix(self, prefix):
        return Client(self.library, self.mode, prefix)

    def with_ours(self, **ours):
        """Our client with more settings. The other libraries do not have them."""
        return Client(self.library, self.mode, self.prefix, **ours) if self.library.name == "rust" else self

    def run(self, action, input):
        return self.library.call(action=action, mode=self.mode, prefix=self.prefix, input=input, **self.ours)

    def expect_error(self, action, **input):
        result = self.run(action, input)
        if "error" not in result:
            raise Unexpected(f"{action} of {self} succeeded: {excerpt(repr(result), 0)}")

    def __call__(self, action, **input):
        result = self.run(action, input)
        if "error" in result:
            raise Unexpected(f"{action} of {self} failed: {result['error']}")
        output = result["output"]
        expect(f"failed entries of {action} of {self}", [], output.get("Failed") or [])
        return output


class Exchange:
    """A new queue, a client that sends to it, and one that receives."""

    def __init__(self, writer, reader, witness, queue, **attributes):
        self.writer, self.reader, self.witness = writer, reader, witness
        self.before = self.objects()
        self.queue = witness("CreateQueue", QueueName=queue, Attributes=attributes)["QueueUrl"]

    def send(self, body, action="SendMessage", **members):
        self.writer(action, QueueUrl=self.queue, MessageBody=body, **members)

    def receive(self, count, **members):
        """Receives this number of messages with the reader."""
        found = []
        while len(found) < count:
            input = {"MaxNumberOfMessages": 10, "WaitTimeSeconds": 5, **members}
            messages = self.reader("ReceiveMessage", QueueUrl=self.queue, **input).get("Messages")
            if not messages:
                break
            found += messages
        expect(f"number of messages that {self.reader} receives", count, len(found))
        return found

    def run_on(self, client, action, messages, **members):
        """Runs an action, possibly a batch, on the receipt handles of messages."""
        handles = [message["ReceiptHandle"] for message in messages]
        if action.endswith("Batch"):
            entries = [{"Id": f"n{n}", "ReceiptHandle": handle, **members} for n, handle in enumerate(handles)]
            client(action, QueueUrl=self.queue, Entries=entries)
        else:
            for handle in handles:
                client(action, QueueUrl=self.queue, ReceiptHandle=handle, **members)

    def objects(self):
        return self.witness("ListObjects")["Keys"]

    def new_objects(self):
        return [key for key in self.objects() if key not in self.before]

    def expect_messages(self, visible, in_flight):
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        counts = self.witness("GetQueueAttributes", QueueUrl=self.queue, AttributeNames=names)["Attributes"]
        expect("visible messages and messages in flight", [visible, in_flight], [int(counts[name]) for name in names])

    def expect_no_leftovers(self):
        self.expect_messages(visible=0, in_flight=0)
        expect("remaining objects in the bucket", [], self.new_objects())
