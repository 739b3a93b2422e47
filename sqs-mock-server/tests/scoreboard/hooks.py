"""Web hooks of rows: servers of HTTP that record what they get."""

import json
import queue
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Until a request arrives, in seconds.
PATIENCE = 5


@dataclass(frozen=True)
class Arrival:
    """A request to a web hook; names of headers are in lower case."""

    headers: dict
    body: str
    time: float

    @property
    def kind(self):
        """The type in the header, or else in the body: that the header is missing fails the row about headers."""
        if named := self.headers.get("x-amz-sns-message-type"):
            return named
        try:
            return self.json()["Type"]
        except (ValueError, KeyError, TypeError):
            return None

    def json(self):
        return json.loads(self.body)


class Hook:
    """A web hook on a free port. It answers this status to the first notifications."""

    def __init__(self, status=200, failures=0):
        self.arrived = queue.Queue()
        # The message by which the row has confirmed the subscription.
        self.confirmation = None
        self.left = failures
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                arrival = Arrival(headers, body, time.monotonic())
                is_refused = arrival.kind != "SubscriptionConfirmation" and hook.left > 0
                hook.left -= is_refused
                self.send_response(status if is_refused else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()
                hook.arrived.put(arrival)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def next(self, kind, seconds=PATIENCE):
        """The next request, which must be of this kind."""
        try:
            arrival = self.arrived.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"no {kind} within {seconds} s") from None
        assert arrival.kind == kind, f"{arrival.kind} instead of {kind}"
        return arrival

    def silent(self, seconds=0.5):
        """Nothing more arrives."""
        time.sleep(seconds)
        assert self.arrived.empty(), f"{self.arrived.get().kind} arrives"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
