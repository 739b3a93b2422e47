// S3 events: the notification configuration of a bucket, and the messages in the queue.
import { S3ServiceException } from "@aws-sdk/client-s3";
import { equal, only, rejected } from "./checks.js";
import { Queue } from "./queue.js";

const Bucket = "javascript-events";

export async function events({ s3, sqs }) {
  await s3.createBucket({ Bucket });
  const queue = await Queue.target(sqs, "events");
  const QueueArn = await queue.arn();
  const filters = { prefix: "in/", suffix: ".csv" };
  const FilterRules = Object.entries(filters).map(([Name, Value]) => ({ Name, Value }));
  const Events = ["s3:ObjectCreated:*", "s3:ObjectRemoved:Delete"];
  await notify(s3, { Id: "tables", QueueArn, Events, Filter: { Key: { FilterRules } } });
  const got = only((await s3.getBucketNotificationConfiguration({ Bucket })).QueueConfigurations);
  equal([got.Id, got.QueueArn, got.Events], ["tables", QueueArn, Events]);
  const returned = got.Filter.Key.FilterRules.map(({ Name, Value }) => [Name.toLowerCase(), Value]);
  equal(Object.fromEntries(returned), filters);
  const test = await next(queue);
  equal([test.Service, test.Event, test.Bucket], ["Amazon S3", "s3:TestEvent", Bucket]);

  let put;
  for (const Key of ["in/a.txt", "out/a.csv", "in/ä b+c.csv"]) {
    put = await s3.putObject({ Bucket, Key, Body: "a,b\n" });
  }
  equal(await changed(queue), ["ObjectCreated:Put", "in/ä b+c.csv", 4, put.ETag.replaceAll('"', "")]);
  await s3.deleteObject({ Bucket, Key: "in/ä b+c.csv" });
  equal(await changed(queue), ["ObjectRemoved:Delete", "in/ä b+c.csv", undefined, undefined]);
  equal(await queue.receive(), []);
  await rejected(S3ServiceException, "InvalidArgument", 400, () => notify(s3, { QueueArn: `${QueueArn}-nowhere`, Events }));
}

async function notify(s3, rule) {
  await s3.putBucketNotificationConfiguration({ Bucket, NotificationConfiguration: { QueueConfigurations: [rule] } });
}

// Waits for an event.
async function next(queue) {
  return JSON.parse(only(await queue.bodies({ WaitTimeSeconds: 5 })));
}

// Waits for an event, and returns its name, and key, size and ETag of the object.
async function changed(queue) {
  const { eventName, s3 } = only((await next(queue)).Records);
  const key = decodeURIComponent(s3.object.key.replaceAll("+", " "));
  return [eventName, key, s3.object.size, s3.object.eTag];
}
