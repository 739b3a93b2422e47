"""Tests S3 of the server with boto3 and the Amazon SQS Extended Client Library: `tour_s3.py ENDPOINT S3_ENDPOINT`."""

import io
import json
import sys
import urllib.error
import urllib.request
from importlib.metadata import version

import boto3
import sqs_extended_client  # noqa: F401, adds support for large payloads to boto3
from botocore.exceptions import ClientError

SQS, S3 = sys.argv[1:]
BUCKET = "payloads"
COMMON = {"region_name": "us-east-1", "aws_access_key_id": "test", "aws_secret_access_key": "test"}
s3 = boto3.client("s3", endpoint_url=S3, **COMMON)


def equal(given, expected):
    assert given == expected, f"expected {expected!r:.200}, got {given!r:.200}"


def rejected(code, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        equal(error.response["Error"]["Code"], code)
    else:
        raise AssertionError(f"not rejected with {code}")


def keys():
    return [row["Key"] for row in s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]


def fault(**settings):
    request = urllib.request.Request(f"{SQS}/_mock/faults", data=json.dumps(settings).encode(), method="POST")
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def object_is_returned_with_metadata_and_by_range():
    s3.put_object(Bucket=BUCKET, Key="a", Body=b"abcdef", Metadata={"m": "1"}, ContentEncoding="gzip")
    got = s3.get_object(Bucket=BUCKET, Key="a")
    equal((got["Body"].read(), got["Metadata"], got["ContentEncoding"]), (b"abcdef", {"m": "1"}, "gzip"))
    part = s3.get_object(Bucket=BUCKET, Key="a", Range="bytes=1-2")
    equal((part["Body"].read(), part["ResponseMetadata"]["HTTPStatusCode"]), (b"bc", 206))
    rejected("PreconditionFailed", s3.put_object, Bucket=BUCKET, Key="a", Body=b"x", IfNoneMatch="*")
    rejected("NoSuchKey", s3.get_object, Bucket=BUCKET, Key="nothing")
    rejected("NoSuchBucket", s3.put_object, Bucket="nowhere", Key="a", Body=b"x")


def presigned_url_keeps_metadata_and_checksum():
    settings = {"Bucket": BUCKET, "Key": "a", "Metadata": {"m": "a b+"}, "StorageClass": "GLACIER"}
    for put in (settings, settings | {"ContentMD5": "AAAAAAAAAAAAAAAAAAAAAA=="}):
        # Signature version 2, which has all headers in the URL.
        url = s3.generate_presigned_url("put_object", put)
        assert "x-amz-meta-m=" in url, url
        request = urllib.request.Request(url, data=b"tea", method="PUT", headers={"Content-Type": ""})
        try:
            urllib.request.urlopen(request).close()
        except urllib.error.HTTPError as error:
            assert b"<Code>BadDigest</Code>" in error.read() and "ContentMD5" in put
    head = s3.head_object(Bucket=BUCKET, Key="a")
    equal((head["Metadata"], head["StorageClass"]), ({"m": "a b+"}, "GLACIER"))


def keys_with_special_characters_are_listed_and_deleted():
    odd = ["a b+c", "100%", "x//y", "ü/日本", "<&>"]
    for key in odd:
        s3.put_object(Bucket=BUCKET, Key=key, Body=key.encode())
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, PaginationConfig={"PageSize": 2})
    equal([row["Key"] for page in pages for row in page["Contents"]], sorted(odd + ["a"]))
    s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": key} for key in odd + ["a"]]})
    equal(keys(), [])


def large_body_is_uploaded_in_parts():
    body = bytes(range(251)) * 50_000
    s3.upload_fileobj(io.BytesIO(body), BUCKET, "big")
    assert s3.head_object(Bucket=BUCKET, Key="big")["ETag"].endswith('-2"')
    down = io.BytesIO()
    s3.download_fileobj(BUCKET, "big", down)
    assert down.getvalue() == body
    s3.delete_object(Bucket=BUCKET, Key="big")


def objects_are_copied_with_metadata_and_tags():
    s3.put_object(Bucket=BUCKET, Key="a b", Body=b"tea", Metadata={"m": "1"}, Tagging="shop=x")
    source = {"Bucket": BUCKET, "Key": "a b"}
    s3.copy_object(Bucket=BUCKET, Key="c", CopySource=source)
    equal(s3.head_object(Bucket=BUCKET, Key="c")["Metadata"], {"m": "1"})
    equal(s3.get_object_tagging(Bucket=BUCKET, Key="c")["TagSet"], [{"Key": "shop", "Value": "x"}])
    rejected("InvalidRequest", s3.copy_object, Bucket=BUCKET, Key="a b", CopySource=source)
    body = bytes(range(251)) * 50_000
    s3.put_object(Bucket=BUCKET, Key="big", Body=body)
    # In parts.
    s3.copy({"Bucket": BUCKET, "Key": "big"}, BUCKET, "copy")
    assert s3.head_object(Bucket=BUCKET, Key="copy")["ETag"].endswith('-2"')
    equal(s3.get_object(Bucket=BUCKET, Key="copy")["Body"].read(), body)
    equal([row["Key"] for row in s3.list_objects(Bucket=BUCKET)["Contents"]], ["a b", "big", "c", "copy"])
    for key in keys():
        s3.delete_object(Bucket=BUCKET, Key=key)


def throttled_and_lost_requests_are_retried():
    fault(effect="throttle", actions=["PutObject"], times=1)
    fault(effect="reset_after", actions=["PutObject"], times=1)
    sent = s3.put_object(Bucket=BUCKET, Key="a", Body=b"tea")
    equal(sent["ResponseMetadata"]["RetryAttempts"], 2)
    fault(effect="error", code="AccessDenied", bucket=BUCKET, times=1)
    rejected("AccessDenied", s3.get_object, Bucket=BUCKET, Key="a")
    s3.delete_object(Bucket=BUCKET, Key="a")


def port_of_sqs_has_the_same_objects():
    shared = boto3.client("s3", endpoint_url=SQS, **COMMON)
    shared.put_object(Bucket=BUCKET, Key="a", Body=b"tea")
    equal(s3.get_object(Bucket=BUCKET, Key="a")["Body"].read(), b"tea")
    shared.delete_object(Bucket=BUCKET, Key="a")
    equal(keys(), [])


def extended_client(legacy, always):
    sqs = boto3.client("sqs", endpoint_url=SQS, **COMMON)
    sqs.large_payload_support = BUCKET
    sqs.use_legacy_attribute = legacy
    sqs.always_through_s3 = always
    sqs.delete_payload_from_s3 = True
    sqs.s3_client = s3
    return sqs


def extended_client_sends_and_receives_through_s3():
    for legacy in (False, True):
        for always, body in ((False, "tea ü" * 50_000), (True, "tea")):
            sqs = extended_client(legacy, always)
            url = sqs.create_queue(QueueName=f"extended-{legacy}-{always}")["QueueUrl"]
            attributes = {"shop": {"DataType": "String", "StringValue": "x"}}
            sqs.send_message(QueueUrl=url, MessageBody=body, MessageAttributes=attributes)
            stored = keys()
            equal(len(stored), 1)
            equal(s3.get_object(Bucket=BUCKET, Key=stored[0])["Body"].read().decode(), body)
            received = sqs.receive_message(QueueUrl=url, MessageAttributeNames=["All"])["Messages"][0]
            equal(received["Body"], body)
            sqs.delete_message(QueueUrl=url, ReceiptHandle=received["ReceiptHandle"])
            equal(keys(), [])


TOUR = [
    object_is_returned_with_metadata_and_by_range,
    presigned_url_keeps_metadata_and_checksum,
    keys_with_special_characters_are_listed_and_deleted,
    large_body_is_uploaded_in_parts,
    objects_are_copied_with_metadata_and_tags,
    throttled_and_lost_requests_are_retried,
    port_of_sqs_has_the_same_objects,
    extended_client_sends_and_receives_through_s3,
]
for step in TOUR:
    step()
print(f"ok: S3, boto3 {boto3.__version__}, amazon-sqs-extended-client {version('amazon-sqs-extended-client')}")
