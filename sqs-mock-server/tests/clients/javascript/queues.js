// Queues: names, pagination, attributes, tags, permissions, purge and deletion.
import {
  InvalidAttributeName,
  InvalidAttributeValue,
  OverLimit,
  paginateListQueues,
  PurgeQueueInProgress,
  QueueDeletedRecently,
  QueueDoesNotExist,
  QueueNameExists,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import { equal, rejected } from "./checks.js";
import { Queue } from "./queue.js";

const PREFIX = "AWS.SimpleQueueService.";

export async function names({ sqs }, fifo) {
  const queue = await Queue.make(sqs, "names", fifo, { VisibilityTimeout: "30" });
  equal((await Queue.make(sqs, "names", fifo)).url, queue.url);
  equal((await sqs.getQueueUrl({ QueueName: queue.name })).QueueUrl, queue.url);
  equal((await sqs.listQueues({ QueueNamePrefix: queue.name })).QueueUrls, [queue.url]);
  await rejected(QueueNameExists, "QueueAlreadyExists", 400, () =>
    Queue.make(sqs, "names", fifo, { VisibilityTimeout: "31" }));
  await rejected(SQSServiceException, "InvalidParameterValue", 400, () => Queue.make(sqs, "no spaces", fifo));
  await sqs.deleteQueue({ QueueUrl: queue.url });
  await rejected(QueueDoesNotExist, PREFIX + "NonExistentQueue", 400, () => queue.send("x"));
  await rejected(QueueDoesNotExist, PREFIX + "NonExistentQueue", 400, () => sqs.getQueueUrl({ QueueName: queue.name }));
  await rejected(QueueDeletedRecently, PREFIX + "QueueDeletedRecently", 400, () => Queue.make(sqs, "names", fifo));
}

export async function pages({ sqs }) {
  const urls = [];
  for (let number = 0; number < 5; number++) {
    urls.push((await Queue.make(sqs, `page-${number}`, false)).url);
  }
  const pages = [];
  for await (const page of paginateListQueues({ client: sqs, pageSize: 2 }, { QueueNamePrefix: "javascript-page-" })) {
    pages.push(page.QueueUrls);
  }
  equal(pages.map((page) => page.length), [2, 2, 1]);
  equal(pages.flat(), urls);
  equal((await sqs.listQueues({ QueueNamePrefix: "javascript-nothing" })).QueueUrls, undefined);
}

export async function attributes({ sqs }, fifo) {
  const queue = await Queue.make(sqs, "attributes", fifo);
  await sqs.setQueueAttributes({ QueueUrl: queue.url, Attributes: { VisibilityTimeout: "61", DelaySeconds: "0" } });
  const all = await queue.attributes("All");
  equal(Object.keys(all).length, fifo ? 16 : 12);
  equal(all.VisibilityTimeout, "61");
  equal(all.DeduplicationScope, fifo ? "queue" : undefined);
  equal(all.QueueArn, `arn:aws:sqs:us-east-1:000000000000:${queue.name}`);
  equal(await queue.attributes("Policy"), undefined);
  await rejected(InvalidAttributeName, "InvalidAttributeName", 400, () => queue.attributes("Hue"));
  await rejected(InvalidAttributeValue, "InvalidAttributeValue", 400, () =>
    sqs.setQueueAttributes({ QueueUrl: queue.url, Attributes: { VisibilityTimeout: "-1" } }));
}

export async function tags({ sqs }, fifo) {
  const queue = await Queue.make(sqs, "tags", fifo);
  const QueueUrl = queue.url;
  const tagged = await sqs.createQueue({ QueueName: "javascript-tagged", tags: { team: "a & b" } });
  equal((await sqs.listQueueTags(tagged)).Tags, { team: "a & b" });
  await sqs.tagQueue({ QueueUrl, Tags: { team: "a & b", stage: "", owner: "é" } });
  await sqs.untagQueue({ QueueUrl, TagKeys: ["team"] });
  equal((await sqs.listQueueTags({ QueueUrl })).Tags, { stage: "", owner: "é" });
  const reader = { QueueUrl, Label: "reader", AWSAccountIds: ["123456789012"], Actions: ["ReceiveMessage"] };
  await sqs.addPermission(reader);
  const { Policy } = await queue.attributes("Policy");
  equal(JSON.parse(Policy).Statement.map((statement) => statement.Action), ["SQS:ReceiveMessage"]);
  const Actions = ["SendMessage", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueUrl",
    "GetQueueAttributes", "ListDeadLetterSourceQueues", "PurgeQueue"];
  await rejected(OverLimit, "OverLimit", 403, () => sqs.addPermission({ ...reader, Label: "many", Actions }));
  await sqs.removePermission({ QueueUrl, Label: "reader" });
  equal(await queue.attributes("Policy"), undefined);
}

export async function purges({ sqs }, fifo) {
  const queue = await Queue.make(sqs, "purges", fifo);
  await queue.send("1");
  await sqs.purgeQueue({ QueueUrl: queue.url });
  equal(await queue.receive(), []);
  await rejected(PurgeQueueInProgress, PREFIX + "PurgeQueueInProgress", 403, () =>
    sqs.purgeQueue({ QueueUrl: queue.url }));
}
