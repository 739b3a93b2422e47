"""Tags, permissions, and access policies."""

import json

from codes import ANY, ATTRIBUTE_VALUE, OVER_LIMIT, PARAMETER
from rows import DOCUMENTED, LOGGED, RECORDED, Chapter
from session import equal

TAGS = Chapter("Tags")
PERMISSIONS = Chapter("Permissions and access policies")

ACCOUNT = ["123456789012"]


def on_a_queue(s):
    return {"QueueUrl": s.queue()}


@TAGS.row("TagQueue adds and replaces tags", DOCUMENTED)
def _(s):
    url = s.queue(tags={"a": "1", "b": "2"})
    s.done("TagQueue", QueueUrl=url, Tags={"b": "3", "c": "4"})
    equal(s.done("ListQueueTags", QueueUrl=url), {"Tags": {"a": "1", "b": "3", "c": "4"}})


@TAGS.row("UntagQueue removes tags and ignores others", DOCUMENTED)
def _(s):
    url = s.queue(tags={"a": "1", "b": "2"})
    s.done("UntagQueue", QueueUrl=url, TagKeys=["a", "none"])
    equal(s.done("ListQueueTags", QueueUrl=url), {"Tags": {"b": "2"}})


@TAGS.row("The value of a tag can be empty", RECORDED)
def _(s):
    url = s.queue(tags={"a": ""})
    equal(s.done("ListQueueTags", QueueUrl=url), {"Tags": {"a": ""}})


@TAGS.row("Keys have up to 128 characters, values up to 256", DOCUMENTED)
def _(s):
    tags = {"k" * 128: "v" * 256, "Zürich": "€"}
    equal(s.done("ListQueueTags", QueueUrl=s.queue(tags=tags)), {"Tags": tags})


TAGS.refusals(
    on_a_queue,
    ("A key of 129 characters", DOCUMENTED, "TagQueue", {"Tags": {"k" * 129: "v"}}, ANY),
    ("A value of 257 characters", DOCUMENTED, "TagQueue", {"Tags": {"k": "v" * 257}}, ANY),
    ("A key that starts with aws:", DOCUMENTED, "TagQueue", {"Tags": {"aws:k": "v"}}, ANY),
)


def permit(s, url, label="l", accounts=ACCOUNT, actions=("SendMessage",)):
    s.done("AddPermission", QueueUrl=url, Label=label, AWSAccountIds=list(accounts), Actions=list(actions))


def policy_of(s, url):
    return json.loads(s.attributes(url)["Policy"])


@PERMISSIONS.row("AddPermission makes a policy of one statement", RECORDED)
def _(s):
    url = s.queue()
    permit(s, url)
    arn = s.arn(url)
    statement = {
        "Sid": "l",
        "Effect": "Allow",
        "Principal": {"AWS": "arn:aws:iam::123456789012:root"},
        "Action": "SQS:SendMessage",
        "Resource": arn,
    }
    expected = {"Version": "2008-10-17", "Id": f"{arn}/SQSDefaultPolicy", "Statement": [statement]}
    equal(policy_of(s, url), expected)


@PERMISSIONS.row("Several accounts and actions are lists", RECORDED)
def _(s):
    url = s.queue()
    permit(s, url, accounts=["111122223333", "444455556666"], actions=["SendMessage", "ReceiveMessage"])
    (statement,) = policy_of(s, url)["Statement"]
    roots = [f"arn:aws:iam::{account}:root" for account in ("111122223333", "444455556666")]
    equal(statement["Principal"], {"AWS": roots})
    equal(statement["Action"], ["SQS:SendMessage", "SQS:ReceiveMessage"])


@PERMISSIONS.row("RemovePermission removes the statement with the label", DOCUMENTED)
def _(s):
    url = s.queue()
    permit(s, url, "one")
    permit(s, url, "two")
    s.done("RemovePermission", QueueUrl=url, Label="one")
    equal([statement["Sid"] for statement in policy_of(s, url)["Statement"]], ["two"])


def permitted(s):
    url = s.queue()
    permit(s, url)
    return {"QueueUrl": url, "AWSAccountIds": ACCOUNT}


PERMISSIONS.refusals(
    permitted,
    ("A repeated label", DOCUMENTED, "AddPermission", {"Label": "l", "Actions": ["*"]}, PARAMETER),
    ("Eight actions", RECORDED, "AddPermission", {"Label": "m", "Actions": ["SendMessage"] * 8}, OVER_LIMIT),
    ("An unknown action", DOCUMENTED, "AddPermission", {"Label": "m", "Actions": ["MakeCoffee"]}, ANY),
)
PERMISSIONS.refusals(
    on_a_queue,
    ("An unknown label", DOCUMENTED, "RemovePermission", {"Label": "none"}, PARAMETER),
)


def statement(**members):
    return {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "SQS:SendMessage", "Resource": "*", **members}


def stating(**members):
    return {"Version": "2012-10-17", "Statement": [statement(**members)]}


def invalid(title, *policies):
    members = [{"Attributes": {"Policy": json.dumps(policy)}} for policy in policies]
    return (title, LOGGED, "SetQueueAttributes", members, ATTRIBUTE_VALUE)


PERMISSIONS.refusals(
    on_a_queue,
    (*invalid("A policy that is no object", "x", []), "Invalid value for the parameter Policy.", LOGGED),
    invalid("A policy without Statement", {"Version": "2012-10-17"}),
    invalid("A policy with an unknown action", stating(Action="SQS:MakeCoffee")),
    invalid("A policy with an invalid principal", stating(Principal={"AWS": "someone"})),
)


@PERMISSIONS.row("A policy is returned without spaces, in the order of SQS", RECORDED)
def _(s):
    url = s.queue()
    given = {"Statement": [{"Resource": "*", "Action": ["sqs:SendMessage"], "Effect": "Allow", "Sid": "s"}]}
    given["Statement"][0]["Principal"] = "*"
    s.set(url, Policy=json.dumps({**given, "Id": "i", "Version": "2012-10-17"}, indent=1))
    expected = (
        '{"Version":"2012-10-17","Id":"i","Statement":[{"Sid":"s","Effect":"Allow","Principal":"*",'
        '"Action":"sqs:SendMessage","Resource":"*"}]}'
    )
    equal(s.attributes(url)["Policy"], expected)


@PERMISSIONS.row("A policy without Version gets one", LOGGED)
def _(s):
    url = s.queue()
    s.set(url, Policy=json.dumps({"Statement": [statement()]}))
    assert policy_of(s, url).get("Version"), policy_of(s, url)
