"""AWS's library for Python. It reads calls and writes results, a line each, as peer.rs does."""

import base64
import json
import os
import re
import sys
import uuid

import boto3
import sqs_extended_client  # noqa: F401: it extends the client of boto3


def main():
    sqs = boto3.client("sqs")
    sqs.large_payload_support = os.environ["BUCKET"]
    # Without this it leaves the payload of a deleted message where it is.
    sqs.delete_payload_from_s3 = True
    for line in sys.stdin:
        try:
            result = {"output": answer(sqs, **json.loads(line, object_hook=with_text))}
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result, default=to_base64), flush=True)


def answer(sqs, action, mode, prefix, input):
    sqs.use_legacy_attribute = mode == "legacy"
    if prefix:
        # It has no prefix for all keys, but takes the whole key of a message from this attribute.
        key = {"DataType": "String", "StringValue": f"{prefix}{uuid.uuid4()}"}
        input.setdefault("MessageAttributes", {})["S3Key"] = key
    method = re.sub(r"(?<!^)(?=[A-Z])", "_", action).lower()
    return getattr(sqs, method)(**input)


def with_text(member):
    """Makes binary values text: the library takes their length as that of a text, so bytes fail."""
    if "BinaryValue" in member:
        member["BinaryValue"] = base64.b64decode(member["BinaryValue"]).decode()
    return member


def to_base64(value):
    return base64.b64encode(value).decode()


main()
