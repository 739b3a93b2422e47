// A web hook that verifies signatures with the certificate of the server.
import assert from "node:assert/strict";
import { createVerify } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { equal } from "./checks.js";
import { Topic } from "./topic.js";

const OF_NOTIFICATION = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"];
const OF_CONFIRMATION = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

async function verify(message) {
  const fields = message.Type === "Notification" ? OF_NOTIFICATION : OF_CONFIRMATION;
  const text = fields.filter((name) => name in message).map((name) => `${name}\n${message[name]}\n`).join("");
  const certificate = await (await fetch(message.SigningCertURL)).text();
  const algorithm = message.SignatureVersion === "2" ? "RSA-SHA256" : "RSA-SHA1";
  assert.ok(createVerify(algorithm).update(text).verify(certificate, message.Signature, "base64"), message.Type);
}

export async function notifications({ sns }) {
  const arrived = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    response.end();
    arrived.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
    server.emit("arrived");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const next = async (kind) => {
    if (arrived.length === 0) await once(server, "arrived", { signal: AbortSignal.timeout(20_000) });
    const { headers, body } = arrived.shift();
    equal(headers["x-amz-sns-message-type"], kind);
    const message = JSON.parse(body);
    await verify(message);
    return { headers, message };
  };
  const topic = await Topic.make(sns, "hooked", false, { SignatureVersion: "2" });
  const Endpoint = `http://127.0.0.1:${server.address().port}/hook`;
  await sns.subscribe({ TopicArn: topic.arn, Protocol: "http", Endpoint });
  const { message } = await next("SubscriptionConfirmation");
  await fetch(message.SubscribeURL);
  const { MessageId } = await topic.publish("thé", { Subject: "news" });
  const notification = await next("Notification");
  equal([notification.message.Message, notification.headers["x-amz-sns-message-id"]], ["thé", MessageId]);
  await fetch(notification.message.UnsubscribeURL);
  const ended = await next("UnsubscribeConfirmation");
  await fetch(ended.message.SubscribeURL);
  await topic.publish("again");
  equal((await next("Notification")).message.Message, "again");
  server.closeAllConnections();
  server.close();
}
