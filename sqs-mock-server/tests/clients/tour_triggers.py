"""Tests triggers with functions in Python: `tour_triggers.py ENDPOINT`."""

import base64
import http.server
import json
import queue
import threading
import time
import urllib.error
import urllib.request

from checks import equal, only
from checksums import of_attributes, of_body
from clients import ENDPOINT, Queue, sqs

BODY = '{"order":"№ 42 – žluťoučký","n":1}\r\n\t<end/>'
ATTRIBUTES = {
    "text": {"DataType": "String.note", "StringValue": 'Zürich <&> "€"'},
    "number": {"DataType": "Number", "StringValue": "-1.50e3"},
    "bytes": {"DataType": "Binary.png", "BinaryValue": bytes([0, 1, 2, 254, 255])},
}
INVOKE = "/2015-03-31/functions/orders/invocations"
# In seconds. Only a test that fails waits so long.
PATIENCE = 60


def ask(method, path, content=None):
    """A request to the admin API. Returns the status and the content of the response."""
    body = json.dumps(content).encode() if content is not None else None
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{ENDPOINT}/_mock/{path}", body, method=method)) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


class Function:
    """An HTTP server that answers events by a function, which returns headers and a body, and a trigger to it."""

    def __init__(self, queue_name, answer, path="/orders", **settings):
        self.events = queue.Queue()
        events = self.events

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, headers, body = answer(event)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())
                events.put((self.path, dict(self.headers), event))

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{self.server.server_port}{path}"
        status, self.trigger = ask("POST", "triggers", {"queue": queue_name, "url": url, **settings})
        equal(status, 200)

    def next(self):
        return self.events.get(timeout=PATIENCE)

    def until(self, **numbers):
        """Waits until the trigger has these numbers, and returns its description."""
        end = time.monotonic() + PATIENCE
        while True:
            described = only([one for one in ask("GET", "triggers")[1]["triggers"] if one["id"] == self.trigger["id"]])
            if all(described[name] == number for name, number in numbers.items()):
                return described
            assert time.monotonic() < end, described
            time.sleep(0.02)

    def stop(self):
        equal(ask("DELETE", f"triggers/{self.trigger['id']}"), (200, {"removed": 1}))
        self.server.shutdown()


def event_has_what_was_sent():
    orders = Queue("trigger-events")
    function = Function("trigger-events", lambda event: (200, {}, ""))
    sent = sqs.send_message(QueueUrl=orders.url, MessageBody=BODY, MessageAttributes=ATTRIBUTES)
    path, headers, event = function.next()
    equal((path, headers["content-type"]), ("/orders", "application/json"))
    record = only(event["Records"])
    equal((record["messageId"], record["body"]), (sent["MessageId"], BODY))
    equal((record["md5OfBody"], record["md5OfMessageAttributes"]), (of_body(BODY), of_attributes(ATTRIBUTES)))
    equal((record["eventSource"], record["eventSourceARN"], record["awsRegion"]), ("aws:sqs", orders.arn, "us-east-1"))
    equal(record["attributes"]["ApproximateReceiveCount"], "1")
    lists = {"stringListValues": [], "binaryListValues": []}
    values = {
        name: {"stringValue": value["StringValue"], "dataType": value["DataType"], **lists}
        for name, value in ATTRIBUTES.items()
        if name != "bytes"
    }
    encoded = base64.b64encode(ATTRIBUTES["bytes"]["BinaryValue"]).decode()
    values["bytes"] = {"binaryValue": encoded, "dataType": "Binary.png", **lists}
    equal(record["messageAttributes"], values)
    function.until(deleted=1)
    equal(orders.receive(), [])
    function.stop()


def only_failed_messages_stay():
    orders = Queue("trigger-failures", VisibilityTimeout="1")

    def answer(event):
        failed = [{"itemIdentifier": one["messageId"]} for one in event["Records"] if one["body"] == "bad"]
        return 200, {}, json.dumps({"batchItemFailures": failed})

    function = Function("trigger-failures", answer, path=INVOKE, report_batch_item_failures=True, timeout=1)
    entries = [{"Id": body, "MessageBody": body} for body in ["tea", "bad", "milk"]]
    sqs.send_message_batch(QueueUrl=orders.url, Entries=entries)
    function.until(deleted=2)
    path, headers, _ = function.next()
    equal((path, headers["x-amz-invocation-type"]), (INVOKE, "RequestResponse"))
    # It returns after its visibility timeout.
    counts = []
    while "2" not in counts:
        _, _, event = function.next()
        counts += [one["attributes"]["ApproximateReceiveCount"] for one in event["Records"] if one["body"] == "bad"]
    function.stop()


def error_of_a_function_fails_the_batch():
    orders = Queue("trigger-errors")
    error = json.dumps({"errorType": "Boom", "errorMessage": "no tea"})
    function = Function(
        "trigger-errors", lambda event: (200, {"X-Amz-Function-Error": "Unhandled"}, error), path=INVOKE
    )
    sqs.send_message(QueueUrl=orders.url, MessageBody=BODY)
    described = function.until(failures=1, kept=1)
    assert "no tea" in described["last_error"], described
    found = ask("GET", f"deliveries?kind=Invocation&source={orders.arn}")[1]["deliveries"]
    equal((only(found)["status"], only(found)["messages"]), (200, 1))
    function.stop()


def filters_delete_what_matches_none():
    orders = Queue("trigger-filters")
    filters = [{"body": {"kind": ["hot"]}}]
    function = Function("trigger-filters", lambda event: (200, {}, ""), filters=filters)
    for body in ['{"kind":"cold"}', '{"kind":"hot"}', "hot"]:
        sqs.send_message(QueueUrl=orders.url, MessageBody=body)
    function.until(filtered=2, deleted=1)
    equal(only(function.next()[2]["Records"])["body"], '{"kind":"hot"}')
    function.stop()


def invalid_settings_are_refused():
    status, answer = ask("POST", "triggers", {"queue": "orders", "url": "http://127.0.0.1:1", "batch_size": 11})
    equal(status, 400)
    assert answer["error"].startswith("batch_size: 11 requires a batch_window of 1s or more"), answer


TOUR = [
    event_has_what_was_sent,
    only_failed_messages_stay,
    error_of_a_function_fails_the_batch,
    filters_delete_what_matches_none,
    invalid_settings_are_refused,
]
for step in TOUR:
    step()
print("ok: triggers")
