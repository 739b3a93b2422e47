"""S3: objects and events."""

import base64
import hashlib
import json
import re

from rows import DOCUMENTED, RECORDED, S3, Chapter
from session import equal

CHAPTER = Chapter("S3", (S3,))
PART = b"p" * (5 << 20)


def tag_of(data):
    return f'"{hashlib.md5(data).hexdigest()}"'


def texts(root, name):
    return [element.text or "" for element in root.iter(name)]


@CHAPTER.row("The ETag of an object is its MD5; GetObject and HeadObject return its metadata", RECORDED)
def _(s):
    key = f"{s.bucket()}/a/b%20%C3%BC"
    put = s.s3_done("PUT", key, b"tea", x_amz_meta_m="1", content_type="text/x-tea")
    got, head = s.s3_done("GET", key), s.s3_done("HEAD", key)
    equal((got.body, head.body), (b"tea", b""))
    equal({response.headers.get("etag") for response in (put, got, head)}, {tag_of(b"tea")})
    for response in (got, head):
        names = ["content-length", "content-type", "x-amz-meta-m"]
        equal([response.headers.get(name) for name in names], ["3", "text/x-tea", "1"])
        assert response.headers.get("last-modified", "").endswith(" GMT")


@CHAPTER.row("A range is answered with 206, a range beyond the end with InvalidRange", RECORDED)
def _(s):
    key = f"{s.bucket()}/a"
    s.s3_done("PUT", key, b"abcdef")
    ranges = [("1-2", b"bc", "1-2"), ("4-", b"ef", "4-5"), ("-1", b"f", "5-5"), ("4-99", b"ef", "4-5")]
    for asked, body, shown in ranges:
        got = s.s3_done("GET", key, status=206, range=f"bytes={asked}")
        equal((got.body, got.headers.get("content-range")), (body, f"bytes {shown}/6"))
    s.s3_refused("GET", key, 416, "InvalidRange", range="bytes=6-")


@CHAPTER.row("GetObject and HeadObject obey If-None-Match and If-Match", RECORDED)
def _(s):
    key = f"{s.bucket()}/a"
    etag = s.s3_done("PUT", key, b"tea").headers["etag"]
    for method in ("GET", "HEAD"):
        s.s3_done(method, key, status=304, if_none_match=etag)
        s.s3_done(method, key, if_none_match='"x"')
        s.s3_done(method, key, if_match=etag)
        equal(s.s3(method, key, if_match='"x"').status, 412)
    s.s3_refused("GET", key, 412, "PreconditionFailed", if_match='"x"')


@CHAPTER.row("PutObject obeys If-None-Match: * and If-Match", RECORDED)
def _(s):
    key = f"{s.bucket()}/a"
    etag = s.s3_done("PUT", key, b"tea", if_none_match="*").headers["etag"]
    s.s3_refused("PUT", key, 412, "PreconditionFailed", b"x", if_none_match="*")
    s.s3_refused("PUT", key, 412, "PreconditionFailed", b"x", if_match='"x"')
    equal(s.s3_done("GET", key).body, b"tea")
    s.s3_done("PUT", key, b"soup", if_match=etag)


@CHAPTER.row("NoSuchKey and NoSuchBucket are XML that names the key or the bucket", RECORDED)
def _(s):
    bucket = s.bucket()
    error = s.s3_refused("GET", f"{bucket}/a", 404, "NoSuchKey")
    equal(error.get("Key"), "a")
    assert error.get("Message") and error.get("RequestId"), error
    equal(s.s3("HEAD", f"{bucket}/a").status, 404)
    for method, path in [("GET", f"{bucket}-not/a"), ("PUT", f"{bucket}-not/a"), ("GET", f"{bucket}-not?list-type=2")]:
        error = s.s3_refused(method, path, 404, "NoSuchBucket", b"x" if method == "PUT" else b"")
        equal(error.get("BucketName"), f"{bucket[1:]}-not")


@CHAPTER.row("InvalidRange names the range and the size of the object, PreconditionFailed the condition", RECORDED)
def _(s):
    key = f"{s.bucket()}/a"
    s.s3_done("PUT", key, b"abcdef")
    error = s.s3_refused("GET", key, 416, "InvalidRange", range="bytes=6-")
    equal((error.get("RangeRequested"), error.get("ActualObjectSize")), ("bytes=6-", "6"))
    for method, headers, condition in [
        ("GET", {"if_match": '"x"'}, "If-Match"),
        ("PUT", {"if_none_match": "*"}, "If-None-Match"),
    ]:
        equal(s.s3_refused(method, key, 412, "PreconditionFailed", **headers).get("Condition"), condition)


def filled(s, *keys):
    bucket = s.bucket()
    for key in keys:
        s.s3_done("PUT", f"{bucket}/{key}", b"tea")
    return bucket


@CHAPTER.row("ListObjectsV2 selects by a prefix and groups by a delimiter", RECORDED)
def _(s):
    bucket = filled(s, "a/1", "a/b/2", "a/b/3", "a/c/4", "d")
    root = s.s3_done("GET", f"{bucket}?list-type=2&prefix=a/&delimiter=/").xml().root
    equal((texts(root, "Key"), texts(root, "ETag"), texts(root, "Size")), (["a/1"], [tag_of(b"tea")], ["3"]))
    equal([element.findtext("Prefix") for element in root.iter("CommonPrefixes")], ["a/b/", "a/c/"])
    shown = {name: root.findtext(name) for name in ("Name", "Prefix", "KeyCount", "IsTruncated")}
    equal(shown, {"Name": bucket[1:], "Prefix": "a/", "KeyCount": "3", "IsTruncated": "false"})


@CHAPTER.row("ListObjectsV2 has pages in the byte order of keys, and start-after", RECORDED)
def _(s):
    keys = ["B", "a", "a-1", "b", "%C3%BC"]
    bucket = filled(s, *reversed(keys))
    found, token = [], ""
    for count in (2, 2, 1):
        root = s.s3_done("GET", f"{bucket}?list-type=2&max-keys=2&encoding-type=url{token}").xml().root
        equal((root.findtext("KeyCount"), root.findtext("IsTruncated")), (str(count), str(count == 2).lower()))
        found += texts(root, "Key")
        if count == 2:
            token = f"&continuation-token={quoted(root.findtext('NextContinuationToken'))}"
    equal(found, keys)
    assert root.find("NextContinuationToken") is None
    root = s.s3_done("GET", f"{bucket}?list-type=2&start-after=a-1&encoding-type=url").xml().root
    equal(texts(root, "Key"), keys[3:])


def quoted(text):
    return "".join(f"%{byte:02X}" for byte in text.encode())


@CHAPTER.row("CopyObject copies or replaces metadata", RECORDED)
def _(s):
    bucket = s.bucket()
    s.s3_done("PUT", f"{bucket}/a%20b", b"tea", x_amz_meta_m="1", content_type="text/x-tea")
    source = {"x_amz_copy_source": f"{bucket}/a%20b"}
    root = s.s3_done("PUT", f"{bucket}/c", **source).xml().root
    equal((root.tag, texts(root, "ETag")), ("CopyObjectResult", [tag_of(b"tea")]))
    replaced = {"x_amz_metadata_directive": "REPLACE", "x_amz_meta_n": "2", "content_type": "text/x-new"}
    s.s3_done("PUT", f"{bucket}/d", **source, **replaced)
    for key, expected in [("c", ["text/x-tea", "1", None]), ("d", ["text/x-new", None, "2"])]:
        got = s.s3_done("GET", f"{bucket}/{key}")
        names = ["content-type", "x-amz-meta-m", "x-amz-meta-n"]
        equal((got.body, [got.headers.get(name) for name in names]), (b"tea", expected))
    s.s3_refused("PUT", f"{bucket}/e", 404, "NoSuchKey", x_amz_copy_source=f"{bucket}/not")


def begun(s):
    """The path of a new upload in parts."""
    key = f"{s.bucket()}/a"
    root = s.s3_done("POST", f"{key}?uploads").xml().root
    return key, f"{key}?uploadId={root.findtext('UploadId')}"


def uploaded(s, upload, *parts):
    path, _, query = upload.partition("?")
    return [
        s.s3_done("PUT", f"{path}?partNumber={number}&{query}", data).headers["etag"]
        for number, data in enumerate(parts, 1)
    ]


def completion(tags):
    parts = [f"<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>" for number, tag in enumerate(tags, 1)]
    namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
    return f'<CompleteMultipartUpload xmlns="{namespace}">{"".join(parts)}</CompleteMultipartUpload>'


@CHAPTER.row("The ETag of a multipart upload is the MD5 of the MD5s of its parts, and their number", RECORDED)
def _(s):
    key, upload = begun(s)
    tags = uploaded(s, upload, PART, b"end")
    equal(tags, [tag_of(PART), tag_of(b"end")])
    root = s.s3_done("POST", upload, completion(tags)).xml().root
    digests = hashlib.md5(PART).digest() + hashlib.md5(b"end").digest()
    etag = f'"{hashlib.md5(digests).hexdigest()}-2"'
    equal((root.tag, root.findtext("Key"), root.findtext("ETag")), ("CompleteMultipartUploadResult", "a", etag))
    head = s.s3_done("HEAD", key).headers
    equal((head["etag"], head["content-length"]), (etag, str(len(PART) + 3)))
    equal(s.s3_done("GET", key, status=206, range="bytes=-4").body, b"pend")


@CHAPTER.row("Refused: completing an upload with wrong ETags, with small parts, or after its abort", RECORDED)
def _(s):
    _, upload = begun(s)
    tags = uploaded(s, upload, b"small", b"end")
    s.s3_refused("POST", upload, 400, "InvalidPart", completion([tags[1], tags[0]]))
    s.s3_refused("POST", upload, 400, "EntityTooSmall", completion(tags))
    s.s3_done("DELETE", upload, status=204)
    s.s3_refused("POST", upload, 404, "NoSuchUpload", completion(tags))


def tagging(tags):
    texts = [f"<Tag><Key>{key}</Key><Value>{value}</Value></Tag>" for key, value in tags.items()]
    return f"<Tagging><TagSet>{''.join(texts)}</TagSet></Tagging>"


@CHAPTER.row("Tags of an object are set by a header or a request, counted, and deleted", RECORDED)
def _(s):
    key = f"{s.bucket()}/a"
    s.s3_done("PUT", key, b"tea", x_amz_tagging="a=1&b=2%203")
    equal(tags_of(s, key), {"a": "1", "b": "2 3"})
    equal(s.s3_done("GET", key).headers.get("x-amz-tagging-count"), "2")
    body = tagging({"c": "4"})
    s.s3_done("PUT", f"{key}?tagging", body, content_md5=md5_header(body))
    equal(tags_of(s, key), {"c": "4"})
    s.s3_done("DELETE", f"{key}?tagging", status=204)
    equal(tags_of(s, key), {})


def tags_of(s, key):
    root = s.s3_done("GET", f"{key}?tagging").xml().root
    return {tag.findtext("Key"): tag.findtext("Value") for tag in root.iter("Tag")}


def md5_header(text):
    return base64.b64encode(hashlib.md5(text.encode()).digest()).decode()


@CHAPTER.row("Deletes of unknown keys succeed; DeleteObjects with Quiet returns only errors", RECORDED)
def _(s):
    bucket = filled(s, "a", "b", "c")
    for _ in range(2):
        s.s3_done("DELETE", f"{bucket}/c", status=204)
    for quiet, keys, shown in [("false", ["a", "not"], ["a", "not"]), ("true", ["b"], [])]:
        entries = "".join(f"<Object><Key>{key}</Key></Object>" for key in keys)
        body = f"<Delete>{entries}<Quiet>{quiet}</Quiet></Delete>"
        root = s.s3_done("POST", f"{bucket}?delete", body, content_md5=md5_header(body)).xml().root
        equal((root.tag, texts(root, "Key"), texts(root, "Error")), ("DeleteResult", shown, []))


def notify(s, bucket, queue, events, *rules, **headers):
    """Puts a configuration that sends events to a queue."""
    filters = "".join(f"<FilterRule><Name>{name}</Name><Value>{value}</Value></FilterRule>" for name, value in rules)
    key = f"<Filter><S3Key>{filters}</S3Key></Filter>" if rules else ""
    names = "".join(f"<Event>{event}</Event>" for event in events)
    entry = f"<QueueConfiguration><Id>rule</Id><Queue>{queue}</Queue>{names}{key}</QueueConfiguration>"
    namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
    body = f'<NotificationConfiguration xmlns="{namespace}">{entry}</NotificationConfiguration>'
    return s.s3("PUT", f"{bucket}?notification", body, **headers)


def notified(s, events, *rules):
    """A bucket, and the queue that gets its events."""
    bucket = s.bucket()
    url, arn = s.open_queue()
    response = notify(s, bucket, arn, events, *rules)
    equal((response.status, response.body), (200, b""))
    return bucket, url


def records(s, url, count):
    """The records that arrive, without test messages."""
    found = []

    def look():
        for body in s.bodies(url, WaitTimeSeconds=1):
            found.extend(json.loads(body).get("Records", []))
        return len(found) >= count

    s.eventually(look)
    look()
    equal([record["eventName"] for record in found[count:]], [])
    return found


@CHAPTER.row("A put sends an event with its fields to a queue", DOCUMENTED)
def _(s):
    bucket, url = notified(s, ["s3:ObjectCreated:*"])
    s.s3_done("PUT", f"{bucket}/in/a%20b%40c", b"tea")
    [record] = records(s, url, 1)
    names = ["eventVersion", "eventSource", "awsRegion", "eventTime", "eventName", "userIdentity"]
    equal(set(record), {*names, "requestParameters", "responseElements", "s3"})
    values = {"eventSource": "aws:s3", "awsRegion": "us-east-1", "eventName": "ObjectCreated:Put"}
    equal({name: record[name] for name in values}, values)
    assert record["eventVersion"].startswith("2."), record["eventVersion"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["eventTime"]), record["eventTime"]
    equal(set(record["responseElements"]), {"x-amz-request-id", "x-amz-id-2"})
    about = record["s3"]
    equal((about["s3SchemaVersion"], about["configurationId"]), ("1.0", "rule"))
    equal((about["bucket"]["name"], about["bucket"]["arn"]), (bucket[1:], f"arn:aws:s3:::{bucket[1:]}"))
    sequencer = about["object"].pop("sequencer")
    assert re.fullmatch("[0-9A-F]+", sequencer), sequencer
    # The key as in a form, the size as a number, the tag without quotes.
    equal(about["object"], {"key": "in/a+b%40c", "size": 3, "eTag": tag_of(b"tea").strip('"')})


@CHAPTER.row("Prefix and suffix select events; the event of a delete has neither size nor ETag", RECORDED)
def _(s):
    rules = [("prefix", "in/"), ("suffix", ".csv")]
    bucket, url = notified(s, ["s3:ObjectCreated:Copy", "s3:ObjectRemoved:*"], *rules)
    for key in ["a.csv", "in/a.txt", "in/a.csv"]:
        s.s3_done("PUT", f"{bucket}/{key}", b"tea")
        s.s3_done("DELETE", f"{bucket}/{key}", status=204)
    [record] = records(s, url, 1)
    equal(record["eventName"], "ObjectRemoved:Delete")
    equal(set(record["s3"]["object"]), {"key", "sequencer"})
    equal(record["s3"]["object"]["key"], "in/a.csv")


@CHAPTER.row("A new rule for events sends a test event with six fields to its queue", DOCUMENTED)
def _(s):
    bucket, url = notified(s, ["s3:ObjectCreated:*"])
    event = json.loads(s.one(url, WaitTimeSeconds=5)["Body"])
    equal(set(event), {"Service", "Event", "Time", "Bucket", "RequestId", "HostId"})
    expected = {"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": bucket[1:]}
    equal({name: event[name] for name in expected}, expected)


@CHAPTER.row("Refused: rule with an unknown queue, unless the check is skipped", RECORDED)
def _(s):
    bucket = s.bucket()
    url = s.queue()
    arn = f"{s.arn(url)}-not"
    created = ["s3:ObjectCreated:*"]
    response = notify(s, bucket, arn, created)
    found = {element.tag: element.text for element in response.xml().root}
    equal((response.status, found.get("Code")), (400, "InvalidArgument"))
    equal(notify(s, bucket, arn, created, x_amz_skip_destination_validation="true").status, 200)
