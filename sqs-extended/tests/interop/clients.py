"""Clients of the libraries, and what the scenarios ask of them. Each library runs in a process of its own."""

import json
import subprocess
import tempfile
import threading
from os.path import commonprefix


class Unexpected(Exception):
    """A client did something other than the scenario expects."""


def expect(what, expected, actual):
    if expected != actual:
        expected, actual = repr(expected), repr(actual)
        same = len(commonprefix([expected, actual]))
        raise Unexpected(f"{what}: expected {around(expected, same)}, got {around(actual, same)}")


def around(text, place):
    """The part of a text where it begins to differ."""
    start, end = max(0, place - 100), place + 200
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")


# Seconds that a peer may take for a call.
TIMEOUT = 60


class Library:
    """A peer: it reads a call from each line of its input, and writes its result."""

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
            raise Unexpected(f"{self.name} has ended, or took {TIMEOUT} s for {call}: {self.log.read().strip()}")
        return json.loads(line)


class Client:
    """A library with its settings: how it writes pointers, and the prefix of its keys."""

    def __init__(self, library, mode, prefix=""):
        self.library, self.mode, self.prefix = library, mode, prefix

    def __str__(self):
        return f"{self.library.name} ({self.mode})"

    def with_prefix(self, prefix):
        return Client(self.library, self.mode, prefix)

    def __call__(self, action, **input):
        result = self.library.call(action=action, mode=self.mode, prefix=self.prefix, input=input)
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
        """Receives so many messages, as the reader shows them."""
        found = []
        while len(found) < count:
            input = {"MaxNumberOfMessages": 10, "WaitTimeSeconds": 5, **members}
            messages = self.reader("ReceiveMessage", QueueUrl=self.queue, **input).get("Messages")
            if not messages:
                break
            found += messages
        expect(f"messages that {self.reader} receives", count, len(found))
        return found

    def settle(self, client, action, messages, **members):
        """Deletes messages or changes their visibility, in a batch if the action is one."""
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

    def expect_nothing_left(self):
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        counts = self.witness("GetQueueAttributes", QueueUrl=self.queue, AttributeNames=names)["Attributes"]
        expect("messages left in the queue", dict.fromkeys(names, "0"), counts)
        expect("objects left in the bucket", [], self.new_objects())
