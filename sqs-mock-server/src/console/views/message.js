/** One message in full. */

import { get, parseArn, remove } from "../api.js";
import { copyMenu, copyText } from "../copy.js";
import { fill, h, href, setText } from "../dom.js";
import { envelope, number, pointer, pretty, relative, size, time } from "../format.js";
import { queueLink, STATES } from "../queue-model.js";
import { button, code, facts } from "./parts.js";
import { resendMessage, sendCall } from "./send.js";

/** @typedef {import("../queue-model.js").Queue} Queue */
/** @typedef {import("../queue-model.js").Message} Message */
/** @typedef {import("../app.js").Context} Context */

/** A time, and how far it is from now. @type {(context: Context, at: string | number | null | undefined) => HTMLElement | null} */
function when(context, at) {
  if (!at) return null;
  const iso = new Date(at).toISOString();
  return h("span", null, time(iso, true), " ", h("span", { class: "muted", "data-time": iso }, relative(iso, context.now())));
}

/** @param {Message} message */
function attributes({ attributes = {} }) {
  const rows = Object.entries(attributes).map(([name, { DataType, StringValue, BinaryValue }]) =>
    h("tr", null, h("td", null, name), h("td", { class: "muted" }, DataType), h("td", { class: "mono wrap" }, StringValue ?? BinaryValue)));
  if (rows.length === 0) return null;
  const heads = ["Name", "Type", "Value"].map((title) => h("th", { scope: "col" }, title));
  return [h("h3", null, "Message attributes"), h("table", { class: "small" }, h("thead", null, h("tr", null, heads)), h("tbody", null, rows))];
}

/** The body: unwrapped, resolved, readable; and as it is. @param {Message} message */
function content({ body }) {
  const wrapped = envelope(body);
  const object = pointer(wrapped?.message ?? body);
  const parts = [];
  if (wrapped) {
    const { name, region, account } = parseArn(wrapped.topic);
    const extra = Object.entries(wrapped.attributes).map(([key, { Type, Value }]) => `${key} (${Type}): ${Value}`).join("\n");
    parts.push(h("h3", null, "Message of topic ", h("a", { href: href("topic", region, account, name) }, name)));
    if (wrapped.subject) parts.push(h("p", null, "Subject: ", wrapped.subject));
    if (extra) parts.push(code("Attributes of the SNS message", extra));
    if (!object) parts.push(code("Message", pretty(wrapped.message)));
  }
  if (object) parts.push(payload(object));
  const readable = pretty(body);
  const raw = h("details", null, h("summary", null, readable === body ? "Body" : "Body as sent"), code("Body as sent", body));
  if (wrapped || object) return [...parts, raw];
  const title = h("h3", null, "Body ", h("span", { class: "muted num" }, size(new Blob([body]).size)));
  return readable === body ? [title, code("Body", body)] : [title, code("Body", readable), raw];
}

/** The object that a pointer names. @param {{ bucket: string, key: string }} object */
function payload({ bucket, key }) {
  const text = h("div", null, h("p", { class: "muted" }, "Loading the payload"));
  get("/_mock/objects/content", { bucket, key }).then(
    (found) => fill(text, found.text === null ? h("p", { class: "muted" }, `${size(found.length)}, not text`) : code("Payload", pretty(found.text)),
      found.text !== null && new Blob([found.text]).size < found.length ? h("p", { class: "muted" }, `The first part of ${size(found.length)}`) : null),
    (error) => fill(text, h("p", { class: "problem" }, error.message)),
  );
  return h("div", null, h("h3", null, "Payload in S3: ", h("a", { href: href("bucket", bucket) }, bucket), `/${key}`), text);
}

/**
 * The panel beside the list.
 * @param {Context} context
 * @param {() => Queue | null} current
 * @param {() => Promise<Queue[]>} queues
 */
export function messagePanel(context, current, queues) {
  const element = h("section", { class: "card detail", "aria-label": "Message", tabindex: "0" });
  const hint = () => h("p", { class: "empty hint" }, "Select a message to see its body and attributes.");
  let shown = "";
  fill(element, hint());

  /** @param {Message} message */
  const drop = async (message) => {
    const queue = current();
    if (!queue) return;
    const path = `/_mock/messages/${encodeURIComponent(message.id)}`;
    const call = { method: "DELETE", path: `${path}?queue=${queue.arn}` };
    if (await context.act(`Message ${message.id} is deleted`, () => remove(path, { queue: queue.arn }), call)) gone();
  };
  /** @param {Message} message */
  const resend = async (message) => {
    const queue = current();
    if (queue) await resendMessage(context, queue, message, await queues());
  };
  /** @param {Message} message */
  const copyBody = async ({ body }) => (await copyText(body)) && context.done("The body is copied");
  const gone = () => fill(element, h("p", { class: "empty", role: "status" }, "The message is no longer in this list."));
  /** @type {(message: Message, queue: Queue) => void} */
  const build = (message, queue) => {
    const [state, style] = STATES[message.state] ?? [message.state, ""];
    const retention = Number(queue.attributes.MessageRetentionPeriod) * 1000;
    const until = message.state === "delayed" || message.state === "in_flight" || message.until ? when(context, message.until) : null;
    fill(element,
      h("div", { class: "toolbar" }, h("h2", { class: "mono" }, message.id), h("span", { class: `badge ${style}` }, state)),
      h("div", { class: "toolbar" }, button("Edit and send again", () => resend(message)), button("Copy body", () => copyBody(message)),
        copyMenu(() => sendCall(queue, message)), h("span", { class: "push" }), button("Delete", () => drop(message), "danger")),
      facts([
        ["Group", message.group],
        ["Deduplication id", message.deduplication_id],
        ["Sequence number", message.sequence_number],
        ["Receive count", number(message.receive_count)],
        ["Sent", when(context, message.sent)],
        ["First received", when(context, message.first_received)],
        ["Visible at", until],
        ["Blocked by", message.by],
        ["Expires", Number.isFinite(retention) ? when(context, new Date(message.sent).getTime() + retention) : null],
        ["Sender", message.sender],
        ["Came from", message.dead_letter_source ? h("a", { href: queueLink(message.dead_letter_source) }, parseArn(message.dead_letter_source).name) : null],
      ]),
      ...(attributes(message) ?? []), ...content(message));
  };
  return {
    element,
    /** Shows a message, or that it is gone. @param {Message | null} message */
    show(message) {
      const queue = current();
      const text = JSON.stringify([message, queue?.attributes.MessageRetentionPeriod]);
      if (text === shown) return;
      const before = shown;
      shown = text;
      if (message && queue) return build(message, queue);
      if (before) gone();
      else fill(element, hint());
    },
    clear() {
      shown = "";
      fill(element, hint());
    },
    tick() {
      for (const span of element.querySelectorAll("[data-time]")) setText(span, relative(span.getAttribute("data-time"), context.now()));
    },
  };
}
