"""Lists of queues, and their pages."""

from rows import DOCUMENTED, Chapter
from session import equal, redrive

CHAPTER = Chapter("Lists of queues")


@CHAPTER.row("ListQueues finds queues by a prefix, which is case-sensitive", DOCUMENTED)
def _(s):
    start = s.new_name()
    urls = [s.queue(f"{start}-{number}") for number in range(2)]
    equal(sorted(s.done("ListQueues", QueueNamePrefix=start)["QueueUrls"]), urls)
    equal(s.done("ListQueues", QueueNamePrefix=start.upper()), {})


def pages(s, action, member, **members):
    found, count = [], 0
    while count < 9:
        output = s.done(action, MaxResults=2, **members)
        found += output[member]
        count += 1
        if "NextToken" not in output:
            break
        members["NextToken"] = output["NextToken"]
    return found, count


@CHAPTER.row("ListQueues has pages with MaxResults and NextToken", DOCUMENTED)
def _(s):
    start = s.new_name()
    urls = [s.queue(f"{start}-{number}") for number in range(3)]
    found, count = pages(s, "ListQueues", "QueueUrls", QueueNamePrefix=start)
    equal((sorted(found), count), (urls, 2))


@CHAPTER.row("ListDeadLetterSourceQueues has pages with MaxResults and NextToken", DOCUMENTED)
def _(s):
    dead = s.queue()
    policy = redrive(s.arn(dead), 1)
    sources = sorted(s.queue(RedrivePolicy=policy) for _ in range(3))
    found, count = pages(s, "ListDeadLetterSourceQueues", "queueUrls", QueueUrl=dead)
    equal((sorted(found), count), (sources, 2))
