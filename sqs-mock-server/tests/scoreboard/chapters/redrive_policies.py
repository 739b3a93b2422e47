"""Redrive policies, and which sources a dead-letter queue allows."""

import json

from codes import PARAMETER
from rows import DOCUMENTED, RECORDED, Chapter, refused
from session import redrive

CHAPTER = Chapter("Redrive policies")


def redriving(title, *policies, fifo=False):
    """Declares redrive policies that are refused; `policies` get the ARN of a standard queue."""

    @CHAPTER.row(refused(title), RECORDED)
    def _(s):
        arn, url = s.arn(s.queue()), s.fifo() if fifo else s.queue()
        for policy in policies:
            attributes = {"RedrivePolicy": json.dumps(policy(arn))}
            s.refused("SetQueueAttributes", PARAMETER, QueueUrl=url, Attributes=attributes)


def counted(count):
    return lambda arn: {"deadLetterTargetArn": arn, "maxReceiveCount": count}


redriving("A dead-letter queue that does not exist", lambda arn: counted(1)(arn + "-not"))
redriving("A standard dead-letter queue of a FIFO queue", counted(1), fifo=True)
redriving("maxReceiveCount 0 or 1001", counted(0), counted(1001))
redriving("maxReceiveCount that is no number", counted("many"))
redriving("No maxReceiveCount", lambda arn: {"deadLetterTargetArn": arn})
redriving("No deadLetterTargetArn", lambda arn: {"maxReceiveCount": 1})
redriving("Another member", lambda arn: {**counted(1)(arn), "other": 1})


@CHAPTER.row("Refused: CreateQueue with a dead-letter queue that does not exist", RECORDED)
def _(s):
    attributes = {"RedrivePolicy": redrive(s.arn(s.queue()) + "-not", 1)}
    s.refused("CreateQueue", PARAMETER, QueueName=s.new_name(), Attributes=attributes)


@CHAPTER.row("A queue can be its own dead-letter queue", RECORDED)
def _(s):
    url = s.queue()
    s.set(url, RedrivePolicy=redrive(s.arn(url), 3))


@CHAPTER.row("maxReceiveCount 1000 is accepted", DOCUMENTED)
def _(s):
    s.set(s.queue(), RedrivePolicy=redrive(s.arn(s.queue()), 1000))


def allowing(title, evidence, is_refused, allow):
    @CHAPTER.row(title, evidence)
    def _(s):
        dead, source = s.queue(), s.queue()
        s.set(dead, RedriveAllowPolicy=json.dumps(allow(s.arn(source))))
        attributes = {"RedrivePolicy": redrive(s.arn(dead), 1)}
        if is_refused:
            s.refused("SetQueueAttributes", PARAMETER, QueueUrl=source, Attributes=attributes)
        else:
            s.set(source, **attributes)


def by_queue(*arns):
    return {"redrivePermission": "byQueue", "sourceQueueArns": list(arns)}


allowing("denyAll refuses every source", RECORDED, True, lambda arn: {"redrivePermission": "denyAll"})
allowing("byQueue refuses another source", RECORDED, True, lambda arn: by_queue(arn + "-other"))
allowing("byQueue allows its sources", DOCUMENTED, False, lambda arn: by_queue(arn))
allowing("allowAll allows every source", DOCUMENTED, False, lambda arn: {"redrivePermission": "allowAll"})

ARN = "arn:aws:sqs:us-east-1:123456789012:q"
for title, *policies in [
    ("byQueue without sources", {"redrivePermission": "byQueue"}),
    ("byQueue with eleven sources", by_queue(*(f"{ARN}{number}" for number in range(11)))),
    (
        "allowAll or denyAll with sources",
        *({**by_queue(ARN), "redrivePermission": other} for other in ("allowAll", "denyAll")),
    ),
]:
    members = [{"Attributes": {"RedriveAllowPolicy": json.dumps(policy)}} for policy in policies]
    CHAPTER.refusals(lambda s: {"QueueUrl": s.queue()}, (title, RECORDED, "SetQueueAttributes", members, PARAMETER))
