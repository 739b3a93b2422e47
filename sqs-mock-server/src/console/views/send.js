/** Sending a message, also one that was sent before. */

import { parseArn, remove, sqs } from "../api.js";
import { form } from "../dialog.js";
import { pairs } from "../pairs.js";
import { isFifo } from "../queue-model.js";

/** @typedef {import("../queue-model.js").Queue} Queue */
/** @typedef {import("../queue-model.js").Message} Message */
/** @typedef {import("../queue-model.js").MessageAttribute} MessageAttribute */
/** @typedef {import("../dialog.js").Field} Field */
/** @typedef {import("../app.js").Context} Context */

const TYPES = ["String", "Number", "Binary"];

/** The editor of message attributes. @param {Record<string, MessageAttribute>} initial */
function attributeEditor(initial) {
  const start = Object.entries(initial).map(([name, { DataType, StringValue, BinaryValue }]) => ({ name, type: DataType, value: StringValue ?? BinaryValue ?? "" }));
  const editor = pairs("Message attributes (binary values in Base64)", start, TYPES);
  return {
    element: editor.element,
    read: () => Object.fromEntries(editor.read().map(({ name, type, value }) =>
      [name, type.startsWith("Binary") ? { DataType: type, BinaryValue: value } : { DataType: type, StringValue: value }])),
  };
}

/** Fields that a kind of queue has. @type {(fifo: boolean, message: Partial<Message>) => Field[]} */
const ordering = (fifo, message) => [
  { name: "group", label: fifo ? "Message group id" : "Message group id (fair queues)", value: message.group ?? "", required: fifo },
  ...(fifo ? [{ name: "deduplication", label: "Deduplication id", help: "May be empty with content-based deduplication. Within 5 minutes, a repeated id is accepted but not stored." }] : []),
  ...(fifo ? [] : [{ name: "delay", label: "Delay (s)", type: "number", min: 0, max: 900, help: "Empty: the delay of the queue" }]),
];

/** The input of SendMessage; empty fields are left out. */
/** @type {(QueueUrl: string, values: import("../dialog.js").Values, attributes: Record<string, MessageAttribute>) => Record<string, any>} */
function inputOf(QueueUrl, { body, group, deduplication, delay }, attributes) {
  return {
    QueueUrl,
    MessageBody: body,
    ...(delay ? { DelaySeconds: Number(delay) } : {}),
    ...(group ? { MessageGroupId: group } : {}),
    ...(deduplication ? { MessageDeduplicationId: deduplication } : {}),
    ...(Object.keys(attributes).length ? { MessageAttributes: attributes } : {}),
  };
}

/** The call that sends such a message. @type {(queue: Queue, message: Message) => import("../copy.js").Call} */
export function sendCall({ url, arn, name }, { body, group = "", deduplication_id: deduplication = "", attributes = {} }) {
  const input = inputOf(url, { body, group, deduplication: isFifo({ name }) ? deduplication : "" }, attributes);
  return { service: "sqs", action: "SendMessage", input, arn };
}

/**
 * @param {Context} context
 * @param {Queue} queue
 */
export function sendMessage(context, queue) {
  const attributes = attributeEditor({});
  return form({
    title: `Send a message to ${queue.name}`,
    wide: true,
    fields: [{ name: "body", label: "Body", type: "textarea", rows: 8, required: true }, ...ordering(isFifo(queue), {})],
    extra: attributes.element,
    submit: "Send",
    async run(values) {
      const input = inputOf(queue.url, values, attributes.read());
      const { MessageId } = await sqs("SendMessage", input, queue.arn);
      context.done(`Message ${MessageId} is sent`, { service: "sqs", action: "SendMessage", input, arn: queue.arn });
    },
  });
}

/**
 * Sends a message again, edited: to the queue that it came from, or to this one.
 * @param {Context} context
 * @param {Queue} queue
 * @param {Message} message
 * @param {Queue[]} queues
 */
export function resendMessage(context, queue, message, queues) {
  const fifo = isFifo(queue);
  const targets = queues.filter((other) => isFifo(other) === fifo);
  const source = targets.find(({ arn }) => arn === message.dead_letter_source);
  const attributes = attributeEditor(message.attributes ?? {});
  return form({
    title: "Edit and send again",
    intro: `Message ${message.id}, received ${message.receive_count} ${message.receive_count === 1 ? "time" : "times"}`,
    wide: true,
    fields: [
      { name: "target", label: "To", type: "select", value: source?.arn ?? queue.arn, options: targets.map(({ arn, name }) => [arn, name]) },
      { name: "body", label: "Body", type: "textarea", rows: 8, required: true, value: message.body },
      ...ordering(fifo, message),
      { name: "drop", label: "Delete the original", type: "checkbox", value: Boolean(source), help: `From ${parseArn(queue.arn).name}, once the new message is sent` },
    ],
    extra: attributes.element,
    submit: "Send",
    async run(values) {
      const target = targets.find(({ arn }) => arn === values.target) ?? queue;
      const deduplication = values.deduplication || (fifo ? crypto.randomUUID?.() ?? String(Math.random()) : "");
      const input = inputOf(target.url, { ...values, deduplication }, attributes.read());
      const { MessageId } = await sqs("SendMessage", input, target.arn);
      context.done(`Message ${MessageId} is sent to ${target.name}`, { service: "sqs", action: "SendMessage", input, arn: target.arn });
      // The dialog has to close even if this fails: who presses Send once more would send the message twice.
      if (values.drop) await remove(`/_mock/messages/${encodeURIComponent(message.id)}`, { queue: queue.arn }).catch(context.fail);
    },
  });
}
