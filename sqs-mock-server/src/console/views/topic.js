/** A topic: subscriptions, latest messages, attributes and tags. */

import { ApiError, arnOf, get, parseArn } from "../api.js";
import { fill, h, href, keyed } from "../dom.js";
import { pretty, relative, time } from "../format.js";
import { deliveries } from "./deliveries.js";
import { back, button, cell, code, empty, facts, heading, showMissing, table } from "./parts.js";
import { change, deleteTopic, publish, subscribe, unsubscribe } from "./topic-actions.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("./topics.js").Subscription} Subscription */
/** @typedef {import("./topics.js").Topic} Topic */
/** @typedef {{ number: number, id: string, time: string, subject: string | null, body: string, attributes: Record<string, any>, group: string | null }} Published */

const MESSAGES = 100;
/** The most that one update fetches. A single message may be larger. */
const BYTES = 1 << 20;

/**
 * A topic; null if it does not exist.
 * @type {(name: string, place: { region: string, account: string }) => Promise<Topic | null>}
 */
async function find(name, place) {
  try {
    return await get(`/_mock/topics/${encodeURIComponent(name)}`, place);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/**
 * The latest messages of a topic, newest first. Each call fetches only those that came since the last one.
 * @param {string} name
 * @param {{ region: string, account: string }} place
 */
function latestMessages(name, place) {
  /** @type {Published[]} */
  let known = [];
  /** @param {number} kept how many the server keeps */
  return async (kept) => {
    const after = known[0]?.number ?? 0;
    const fetched = (/** @type {number} */ after) => get(`/_mock/topics/${encodeURIComponent(name)}/published`, { ...place, after, bytes: BYTES, limit: MESSAGES });
    let page = await fetched(after);
    // Another server has taken over, or a reset removed them.
    if (page.latest < after) {
      known = [];
      page = await fetched(0);
    }
    known = [...page.messages.reverse(), ...known].slice(0, Math.min(MESSAGES, Math.max(kept, page.messages.length)));
    return known;
  };
}

/** @param {string} endpoint an ARN, a URL or an address; a queue becomes a link */
function target(endpoint) {
  const { service, region, account, name } = parseArn(endpoint);
  return service === "sqs" ? h("a", { href: href("queue", region, account, name), title: endpoint }, name) : endpoint;
}

/** @param {Subscription} subscription what differs from a plain subscription */
function details({ raw, filter_policy, filter_policy_scope, dead_letter_queue, confirmed, waiting }) {
  const policy = filter_policy && (typeof filter_policy === "string" ? filter_policy : JSON.stringify(filter_policy));
  return [
    raw ? [h("span", { class: "badge" }, "raw"), " "] : null,
    confirmed ? null : h("span", { class: "badge warn" }, "not confirmed"),
    waiting ? h("span", { class: "badge warn", title: "Requests without an answer" }, `${waiting} waiting`) : null,
    policy ? [h("code", { title: "Filter policy" }, policy), filter_policy_scope === "MessageBody" ? " of the body" : null] : null,
    dead_letter_queue ? [" dead letters to ", target(dead_letter_queue)] : null,
  ].flat();
}

/**
 * @param {Context} context
 * @returns {(subscription: Subscription) => import("../dom.js").Row<Subscription>}
 */
function subscriptionRow(context) {
  return (first) => {
    let latest = first;
    const about = cell();
    const label = parseArn(first.endpoint).name || first.endpoint;
    const buttons = cell(
      "num",
      button("Change", () => change(context, latest), "quiet", `Change ${label}`),
      " ",
      button("Unsubscribe", () => unsubscribe(context, latest), "quiet", `Unsubscribe ${label}`),
    );
    const element = h("tr", null, cell("", target(first.endpoint)), cell("", first.protocol), about, buttons);
    let shown = "";
    /** @param {Subscription} item */
    const update = (item) => {
      latest = item;
      const text = JSON.stringify(item);
      if (text !== shown) fill(about, details(item));
      shown = text;
    };
    return { element, update };
  };
}

/** @type {(message: Published, context: Context) => HTMLElement} */
function publishedItem({ id, time: at, subject, body, attributes, group }, context) {
  const first = body.length > 120 ? `${body.slice(0, 120)}…` : body;
  const values = Object.entries(attributes ?? {}).map(([name, value]) => `${name} = ${value?.StringValue ?? value?.Value ?? JSON.stringify(value)}`);
  return h(
    "details",
    null,
    h("summary", null, h("span", { class: "num", title: relative(at, context.now()) }, time(at, true)), " ", subject && h("strong", null, `${subject} `), h("span", { class: "body" }, first)),
    h("p", { class: "muted" }, [id, group && `group ${group}`, ...values].filter(Boolean).join(" · ")),
    code("Body", pretty(body)),
  );
}

/** @type {(name: string, json: string) => HTMLElement} */
const folded = (name, json) => h("details", null, h("summary", null, "JSON"), code(name, pretty(json)));

/** @type {import("../app.js").ViewFunction} */
export function view(root, { region, account, name }, context) {
  const arn = arnOf("sns", region, account, name);
  const place = { region, account };
  const messagesOf = latestMessages(name, place);
  const subscriptions = h("tbody", null);
  const list = table("Subscriptions", ["Endpoint", "Protocol", "Settings", ""], subscriptions);
  const none = empty("No subscription. Published messages go nowhere.");
  const messages = h("div", { class: "published" });
  const silent = empty("No recent message.");
  const sent = deliveries(arn, { title: "Requests to web hooks", count: "#Attempt" });
  const settings = h("div", { class: "card" });
  const missing = empty(`There is no topic ${name} in ${region}, account ${account}.`);
  root.append(
    back("Topics"),
    h(
      "div",
      { class: "toolbar" },
      heading(name),
      h("span", { class: "muted" }, `${region} · ${account}`),
      h("span", { class: "push" }),
      button("Publish", () => publish(context, arn, name.endsWith(".fifo")), "primary"),
      button("Subscribe queue", () => subscribe(context, arn)),
      h("a", { class: "button", href: `#/requests?service=sns&topic=${encodeURIComponent(name)}` }, "Requests"),
      button("Delete topic", () => deleteTopic(context, arn, name), "danger"),
    ),
    h("h2", null, "Subscriptions"),
    list,
    none,
    h("h2", null, "Latest messages"),
    messages,
    silent,
    sent.element,
    h("h2", null, "Attributes and tags"),
    settings,
    missing,
  );
  let shown = "";
  const showSettings = (/** @type {Topic} */ { attributes, tags }) => {
    const entries = [...Object.entries(attributes), ...Object.entries(tags).map(([key, value]) => [`tag ${key}`, value])];
    const text = JSON.stringify(entries);
    if (text !== shown) fill(settings, facts(entries.map(([key, value]) => [key, value.startsWith("{") ? folded(key, value) : value])));
    shown = text;
  };
  return {
    async update(changed) {
      if (!changed.has("topics")) return;
      const topic = await find(name, place);
      showMissing(root, missing, !topic);
      if (!topic) return;
      keyed(subscriptions, topic.subscriptions, (subscription) => subscription.arn, subscriptionRow(context));
      list.hidden = topic.subscriptions.length === 0;
      none.hidden = topic.subscriptions.length > 0;
      const latest = await messagesOf(topic.published);
      keyed(messages, latest, ({ id }) => id, (message) => ({ element: publishedItem(message, context), update() {} }));
      silent.hidden = latest.length > 0;
      await sent.load();
      showSettings(topic);
    },
    close() {},
  };
}
