/** The messages of a queue, by state. They are peeked at, never received. */

import { get } from "../api.js";
import { attribute, h, setText } from "../dom.js";
import { duration, envelope, number, relative } from "../format.js";
import { isFifo, STATES, total } from "../queue-model.js";
import { virtualList } from "../virtual.js";
import { messagePanel } from "./message.js";

/** @typedef {import("../queue-model.js").Queue} Queue */
/** @typedef {import("../queue-model.js").Message} Message */
/** @typedef {import("../app.js").Context} Context */

/** Value of `state=`, title, and how many there are. @type {[string, string, (queue: Queue) => number][]} */
const FILTERS = [
  ["", "All", total],
  ["available", "Available", ({ messages }) => messages.available],
  ["in_flight", "In flight", ({ messages }) => messages.in_flight],
  ["delayed", "Delayed", ({ messages }) => messages.delayed],
];
/** Enough of a body for one line. */
const PREVIEW = 300;

/** One line of a body. Envelopes of SNS all begin alike, so theirs is the published message. @param {string} body */
function preview(body) {
  // Rows are built every second, and most bodies are worth no parsing.
  const published = body.includes('"TopicArn"') ? envelope(body) : null;
  return published ? [h("span", { class: "badge" }, "SNS"), ` ${published.message.slice(0, PREVIEW)}`] : [body.slice(0, PREVIEW)];
}

/**
 * @param {Context} context
 * @param {string} arn
 * @param {() => Queue | null} current
 * @param {() => Promise<Queue[]>} queues
 */
export function messages(context, arn, current, queues) {
  const fifo = isFifo({ name: arn });
  const panel = messagePanel(context, current, queues);
  let state = "";

  /** @param {Message} message */
  const cells = (message) => {
    const [text, style] = STATES[message.state] ?? [message.state, ""];
    const wait = message.until ? ` ${duration(Math.max(0, new Date(message.until).getTime() - context.now()), 1)}` : "";
    return [
      h("span", { class: "mono" }, message.id.slice(0, 8)),
      h("span", { class: `badge ${style}` }, text, wait),
      relative(message.sent, context.now(), 1),
      number(message.receive_count),
      ...(fifo ? [message.group ?? ""] : []),
      h("span", { class: "mono" }, preview(message.body)),
    ];
  };
  const list = virtualList({
    label: "Messages",
    class: fifo ? "messages fifo" : "messages",
    columns: ["Id", "State", "Sent", { title: "Received", class: "num" }, ...(fifo ? ["Group"] : []), "Body"],
    empty: "No messages.",
    async fetch(skip, limit) {
      const page = await get("/_mock/messages", { queue: arn, state, skip: skip || null, limit });
      return { total: page.total, items: /** @type {Message[]} */ (page.messages) };
    },
    key: (message) => message.id,
    cells,
    select: (message) => panel.show(message),
  });

  const counts = FILTERS.map(() => h("span", { class: "num muted" }));
  const buttons = FILTERS.map(([value, title], at) => h("button", { type: "button", onclick: () => choose(value) }, title, counts[at]));
  const choose = (/** @type {string} */ value) => {
    state = value;
    mark();
    panel.clear();
    list.restart().catch(context.fail);
  };
  const mark = () => buttons.forEach((item, at) => attribute(item, "aria-pressed", String(FILTERS[at][0] === state)));
  mark();

  return {
    element: h("div", { class: "messages-view fill" }, h("div", { class: "chips", role: "group", "aria-label": "State" }, buttons),
      h("div", { class: "split" }, list.element, panel.element)),
    refresh: () => list.refresh(),
    /** @param {Queue} queue */
    update(queue) {
      FILTERS.forEach(([, , count], at) => setText(counts[at], number(count(queue))));
    },
    tick() {
      list.tick();
      panel.tick();
    },
    close: () => list.close(),
  };
}
