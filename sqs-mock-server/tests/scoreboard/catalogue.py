"""All rows, in the order of the page."""

from boto3_scenarios import askable
from chapters import (
    attribute_changes,
    attributes,
    batches,
    checksums,
    dead_letters,
    deduplication,
    fifo,
    groups,
    handles,
    json_errors,
    json_responses,
    lists,
    message_attributes,
    move_tasks,
    policies,
    query_get,
    query_requests,
    query_responses,
    queues,
    receiving,
    redrive_policies,
    s3,
    sending,
    topics,
    unknown_queues,
    web_hooks,
)
from rows import BOTH, DOCUMENTED, TEXTS, Chapter, Row

CHAPTERS = [
    json_responses.CHAPTER,
    json_errors.CHAPTER,
    query_requests.CHAPTER,
    query_responses.CHAPTER,
    query_get.CHAPTER,
    queues.CHAPTER,
    unknown_queues.CHAPTER,
    lists.CHAPTER,
    attributes.CHAPTER,
    attribute_changes.CHAPTER,
    policies.TAGS,
    policies.PERMISSIONS,
    redrive_policies.CHAPTER,
    sending.CHAPTER,
    message_attributes.CHAPTER,
    batches.CHAPTER,
    receiving.CHAPTER,
    handles.CHAPTER,
    fifo.CHAPTER,
    groups.CHAPTER,
    deduplication.CHAPTER,
    dead_letters.CHAPTER,
    move_tasks.CHAPTER,
    checksums.CHAPTER,
    TEXTS,
]
OTHER_SERVICES = [topics.CHAPTER, web_hooks.CHAPTER, s3.CHAPTER]
SCENARIOS = Chapter("Scenarios with boto3")


def title_of(name):
    return name.replace("_", " ").capitalize()


for name, _ in askable():
    SCENARIOS.rows.append(Row(SCENARIOS.title, title_of(name), DOCUMENTED, BOTH, None))

OF_SQS = [row for chapter in CHAPTERS for row in chapter.rows]
OF_OTHERS = [row for chapter in OTHER_SERVICES for row in chapter.rows]
ASKED = [*OF_SQS, *OF_OTHERS]
ROWS = [*OF_SQS, *SCENARIOS.rows, *OF_OTHERS]

titles = [(row.chapter, row.title) for row in ROWS]
repeated = {title for title in titles if titles.count(title) > 1}
assert not repeated, f"rows with the same title: {repeated}"
