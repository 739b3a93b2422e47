/** Attributes and tags of a queue. */

import { parseArn, sqs } from "../api.js";
import { form } from "../dialog.js";
import { fill, h } from "../dom.js";
import { duration, pretty, time } from "../format.js";
import { pairs } from "../pairs.js";
import { isFifo, redrivePolicy, siblingArn } from "../queue-model.js";
import { button } from "./parts.js";

/** @typedef {import("../queue-model.js").Queue} Queue */
/** @typedef {import("../dialog.js").Field} Field */
/** @typedef {import("../app.js").Context} Context */

/** Attributes with a number: label, least and most. @type {[string, string, number, number][]} */
const NUMBERS = [
  ["VisibilityTimeout", "Visibility timeout (s)", 0, 43_200],
  ["MessageRetentionPeriod", "Retention period (s)", 60, 1_209_600],
  ["DelaySeconds", "Delay (s)", 0, 900],
  ["ReceiveMessageWaitTimeSeconds", "Wait time of a receive (s)", 0, 20],
  ["MaximumMessageSize", "Maximum message size (bytes)", 1024, 1_048_576],
];
const SECONDS = NUMBERS.slice(0, 4).map(([name]) => name);
const TIMES = ["CreatedTimestamp", "LastModifiedTimestamp"];
const COUNTS = /^ApproximateNumberOf|^QueueArn$|^FifoQueue$/;

/** Fields for the dead-letter queue: one of `queues`, or the one it has. @type {(queues: Queue[], chosen: ReturnType<typeof redrivePolicy>) => Field[]} */
export const deadLetterFields = (queues, chosen) => {
  const fits = queues.map(({ arn }) => arn);
  const arns = chosen && !fits.includes(chosen.arn) ? [chosen.arn, ...fits] : fits;
  return [
    { name: "dead", label: "Dead-letter queue", type: "select", value: chosen?.arn ?? "", options: [["", "none"], ...arns.map((arn) => /** @type {[string, string]} */ ([arn, parseArn(arn).name]))] },
    { name: "receives", label: "Receives before a message moves", type: "number", value: chosen?.receives ?? "3", min: 1, max: 1000 },
  ];
};

/** Whether dead letters of a queue may go to another: AWS requires the same type, account and region. @type {(queue: Pick<Queue, "arn" | "name">, other: Queue) => boolean} */
export const canBeDeadLetterQueue = (queue, other) =>
  other.arn !== queue.arn && isFifo(other) === isFifo(queue) && siblingArn(other.arn, queue.name) === queue.arn;

/** The text of a redrive policy. @type {(dead: string, receives: string) => string} */
export const policyText = (dead, receives) => (dead ? JSON.stringify({ deadLetterTargetArn: dead, maxReceiveCount: receives }) : "");

/**
 * Changes attributes; only those that differ are sent.
 * @param {Context} context
 * @param {Queue} queue
 * @param {Queue[]} queues
 */
function editAttributes(context, queue, queues) {
  const { attributes, url: QueueUrl, arn } = queue;
  const fifo = isFifo(queue);
  /** @type {Field[]} */
  const fifoFields = [
    { name: "ContentBasedDeduplication", label: "Content-based deduplication", type: "select", options: ["true", "false"], value: attributes.ContentBasedDeduplication },
    { name: "DeduplicationScope", label: "Deduplication scope", type: "select", options: ["queue", "messageGroup"], value: attributes.DeduplicationScope },
    { name: "FifoThroughputLimit", label: "Throughput limit", type: "select", options: ["perQueue", "perMessageGroupId"], value: attributes.FifoThroughputLimit },
  ];
  return form({
    title: `Attributes of ${queue.name}`,
    wide: true,
    fields: [
      ...NUMBERS.map(([name, label, min, max]) => /** @type {Field} */ ({ name, label, type: "number", value: attributes[name], min, max, required: true })),
      ...(fifo ? fifoFields : []),
      ...deadLetterFields(queues.filter((other) => canBeDeadLetterQueue(queue, other)), redrivePolicy(queue)),
      { name: "SqsManagedSseEnabled", label: "SQS-managed encryption (SSE-SQS)", type: "select", options: ["true", "false"], value: attributes.SqsManagedSseEnabled ?? "false" },
      { name: "KmsMasterKeyId", label: "KMS key", value: attributes.KmsMasterKeyId ?? "", help: "An id, ARN or alias; replaces SQS-managed encryption" },
      { name: "RedriveAllowPolicy", label: "Redrive allow policy (JSON)", type: "textarea", rows: 3, value: pretty(attributes.RedriveAllowPolicy ?? "") },
      { name: "Policy", label: "Access policy (JSON)", type: "textarea", rows: 5, value: pretty(attributes.Policy ?? "") },
    ],
    submit: "Save",
    async run({ dead, receives, ...values }) {
      const before = redrivePolicy(queue);
      const policy = policyText(dead, receives);
      const changed = Object.entries(values).filter(([name, value]) => value !== pretty(attributes[name] ?? (name === "SqsManagedSseEnabled" ? "false" : "")));
      if (policy !== (before ? policyText(before.arn, before.receives) : "")) changed.push(["RedrivePolicy", policy]);
      if (changed.length === 0) return;
      const input = { QueueUrl, Attributes: Object.fromEntries(changed) };
      await sqs("SetQueueAttributes", input, arn);
      context.done(`Attributes of ${queue.name} are saved`, { service: "sqs", action: "SetQueueAttributes", input, arn });
    },
  });
}

/**
 * @param {Context} context
 * @param {Queue} queue
 */
function editTags(context, { name, url: QueueUrl, arn, tags }) {
  const editor = pairs("Tags", Object.entries(tags).map(([key, value]) => ({ name: key, type: "", value })));
  return form({
    title: `Tags of ${name}`,
    fields: [],
    extra: editor.element,
    submit: "Save",
    async run() {
      const after = Object.fromEntries(editor.read().map((pair) => [pair.name, pair.value]));
      const TagKeys = Object.keys(tags).filter((key) => !(key in after));
      const Tags = Object.fromEntries(Object.entries(after).filter(([key, value]) => tags[key] !== value));
      /** @type {(text: string, action: string, input: object) => Promise<void>} */
      const change = async (text, action, input) => {
        await sqs(action, input, arn);
        context.done(text, { service: "sqs", action, input, arn });
      };
      if (Object.keys(Tags).length) await change(`Tags of ${name} are saved`, "TagQueue", { QueueUrl, Tags });
      if (TagKeys.length) await change(`Tags of ${name} are removed`, "UntagQueue", { QueueUrl, TagKeys });
    },
  });
}

/** How an attribute reads. @type {(name: string, value: string) => string} */
function readable(name, value) {
  if (SECONDS.includes(name)) return `${value} s${Number(value) >= 60 ? ` (${duration(Number(value) * 1000)})` : ""}`;
  if (TIMES.includes(name)) return `${time(Number(value) * 1000)} UTC`;
  return pretty(value);
}

/**
 * The settings of a queue.
 * @param {Context} context
 * @param {() => Queue | null} current
 * @param {() => Promise<Queue[]>} queues
 */
export function settings(context, current, queues) {
  const attributes = h("dl", { class: "kv" });
  const tags = h("dl", { class: "kv" });
  const none = h("p", { class: "muted" }, "No tags.");
  /** @type {(edit: (queue: Queue) => unknown) => () => unknown} */
  const on = (edit) => () => {
    const queue = current();
    return queue && edit(queue);
  };
  const element = h("div", { class: "cards" },
    h("section", { class: "card" }, h("div", { class: "toolbar" }, h("h2", null, "Attributes"), h("span", { class: "push" }),
      button("Edit attributes", on(async (queue) => editAttributes(context, queue, await queues())))), attributes),
    h("section", { class: "card" }, h("div", { class: "toolbar" }, h("h2", null, "Tags"), h("span", { class: "push" }),
      button("Edit tags", on((queue) => editTags(context, queue)))), tags, none));
  let shown = "";
  return {
    element,
    /** @param {Queue} queue */
    update(queue) {
      const text = JSON.stringify([Object.entries(queue.attributes).filter(([name]) => !COUNTS.test(name)), queue.tags, queue.arn]);
      if (text === shown) return;
      shown = text;
      const list = Object.entries({ ARN: queue.arn, URL: queue.url, ...queue.attributes }).filter(([name]) => !COUNTS.test(name));
      fill(attributes, ...list.flatMap(([name, value]) => {
        const text = readable(name, value);
        return [h("dt", null, name), h("dd", null, text.includes("\n") ? h("pre", null, text) : text)];
      }));
      fill(tags, ...Object.entries(queue.tags).flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
      none.hidden = Object.keys(queue.tags).length > 0;
    },
  };
}
