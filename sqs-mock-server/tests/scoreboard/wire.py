"""Requests as bytes and responses as values: SQS in AWS JSON and in the Query protocol, SNS, and S3."""

import http.client
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from forms import form_of, sns_form_of
from xml_output import Document, sns_output

JSON, QUERY = "JSON", "Query"
JSON_TYPE = "application/x-amz-json-1.0"
FORM_TYPE = "application/x-www-form-urlencoded; charset=utf-8"

# Of one request, in seconds. The longest poll of a row takes 5.
TIMEOUT = 12


@dataclass(frozen=True)
class Code:
    """An error: the shape in AWS JSON, the code in the Query protocol, and the status of both."""

    shape: str
    query: str
    status: int


@dataclass(frozen=True)
class Refusal:
    """The error of a response: the names that a client may know it by, and its text."""

    status: int
    names: tuple
    message: str

    def means(self, code):
        return self.status == code.status and bool({code.shape, code.query} & set(self.names))


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict
    body: bytes

    def text(self):
        return self.body.decode()

    def json(self):
        value = json.loads(self.body)
        assert isinstance(value, dict), f"not a JSON object: {self.text()[:200]}"
        return value

    def xml(self):
        return Document(self.text())


class Wire:
    """Sends requests to a server, each over its own connection."""

    def __init__(self, endpoint):
        self.address = urlsplit(endpoint).netloc

    def exchange(self, method, path, headers, body=b"", service="sqs"):
        """Without a service, the request has no signature."""
        connection = http.client.HTTPConnection(self.address, timeout=TIMEOUT)
        try:
            connection.request(method, path, body or None, {**(signature(service) if service else {}), **headers})
            response = connection.getresponse()
            lower = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, lower, response.read())
        finally:
            connection.close()

    def json(self, action, body, path="/", **headers):
        """Calls an action in AWS JSON. The body is text, or a value."""
        text = body if isinstance(body, str) else json.dumps(body)
        named = {"Content-Type": JSON_TYPE, "X-Amz-Target": f"AmazonSQS.{action}"}
        return self.exchange("POST", path, {**named, **headers}, text.encode())

    def form(self, form, path="/", **headers):
        return self.exchange("POST", path, {"Content-Type": FORM_TYPE, **headers}, form.encode())

    def get(self, path, **headers):
        return self.exchange("GET", path, headers)

    def sns(self, action, members):
        """The output of an action of SNS, or its refusal."""
        form = sns_form_of(action, members).encode()
        response = self.exchange("POST", "/", {"Content-Type": FORM_TYPE}, form, service="sns")
        return sns_output(response.xml(), action) if response.status == 200 else refusal_in_xml(response)

    def s3(self, method, path, body, headers):
        unsigned = {"X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD"}
        return self.exchange(method, path, {**unsigned, **headers}, body, service="s3")

    def open(self, link):
        """Opens a link of the server without a signature, as a browser does."""
        parts = urlsplit(link)
        own = {self.address, f"localhost:{self.address.partition(':')[2]}"}
        assert parts.netloc in own, f"the link leads to {parts.netloc}"
        return self.exchange("GET", f"{parts.path}?{parts.query}" if parts.query else parts.path, {}, service=None)

    def ask(self, protocol, action, members):
        """The output of an action as in AWS JSON, or its refusal."""
        if protocol == JSON:
            response = self.json(action, members)
            if response.status == 200:
                return response.json() if response.body else {}
            return refusal_in_json(response)
        response = self.form(form_of(action, members))
        if response.status == 200:
            return response.xml().output(action)
        return refusal_in_xml(response)


def signature(service):
    """A header of the right form. The servers run without verification."""
    now = datetime.now(UTC)
    scope = f"test/{now:%Y%m%d}/us-east-1/{service}/aws4_request"
    return {
        "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}",
        "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host;x-amz-date, Signature={'0' * 64}",
    }


def refusal_in_json(response):
    """SDKs look at the header first, and then at the type."""
    error = response.json()
    header = response.headers.get("x-amzn-query-error", "").partition(";")[0]
    shape = error.get("__type", "").rpartition("#")[2]
    return Refusal(response.status, (header, shape), error.get("message") or error.get("Message") or "")


def refusal_in_xml(response):
    root = response.xml().root
    found = {element.tag: element.text or "" for element in root.iter()}
    return Refusal(response.status, (found.get("Code", ""),), found.get("Message", ""))
