"""The peer with the AWS library for Python. It reads calls and writes results, one per line, like peer.rs."""

import base64
import json
import os
import re
import sys
import uuid

import boto3
import sqs_extended_client  # noqa: F401, extends the client of boto3


def main():
    sqs = boto3.client("sqs")
    sqs.large_payload_support = os.environ["BUCKET"]
    # Without this setting, a delete of a message leaves its payload.
    sqs.delete_payload_from_s3 = True
    for line in sys.stdin:
        try:
            result = {"output": execute(sqs, **json.loads(line, object_hook=with_text))}
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result, default=to_base64), flush=True)


def execute(sqs, action, mode, prefix, input):
    sqs.use_legacy_attribute = mode == "legacy"
    if prefix:
        # The library has no key prefix, but reads the key of a message from this attribute.
        key = {"DataType": "String", "StringValue": f"{prefix}{uuid.uuid4()}"}
        input.setdefault("MessageAttributes", {})["S3Key"] = key
    method = re.sub(r"(?<!^)(?=[A-Z])", "_", action).lower()
    return getattr(sqs, method)(**input)


def with_text(member):
    """Converts binary values to text, because the library fails for bytes when it computes their length."""
    if "BinaryValue" in member:
        member["BinaryValue"] = base64.b64decode(member["BinaryValue"]).decode()
    return member


def to_base64(value):
    return base64.b64encode(value).decode()


main()
