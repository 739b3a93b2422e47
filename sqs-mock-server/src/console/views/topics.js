/** All topics of SNS. */

import { arnOf, defaults, get, parseArn, query } from "../api.js";
import { form } from "../dialog.js";
import { h, href, keyed, setText } from "../dom.js";
import { number } from "../format.js";
import { button, cell, empty, heading, search, table } from "./parts.js";

/**
 * @typedef {{ arn: string, protocol: string, endpoint: string, raw: boolean, filter_policy: string | object | null,
 *   filter_policy_scope: string | null, dead_letter_queue: string | null, confirmed: boolean, waiting: number }} Subscription
 */
/** @typedef {{ name: string, arn: string, fifo: boolean, subscriptions: Subscription[], published: number,
 *   attributes: Record<string, string>, tags: Record<string, string> }} Topic */

const PAGE = 1000;

/** @returns {Promise<Topic[]>} all topics */
async function allTopics() {
  /** @type {Topic[]} */
  const found = [];
  for (let skip = 0, next = 0; next !== null; skip = next) {
    const page = await get("/_mock/topics", { skip, limit: PAGE });
    found.push(...page.topics);
    next = page.next ?? null;
  }
  return found;
}

/** @param {Topic} topic */
const link = ({ arn, name }) => {
  const { region, account } = parseArn(arn);
  return href("topic", region, account, name);
};

/**
 * @param {import("../app.js").Context} context
 * @param {import("../api.js").Place} place
 */
function createTopic(context, place) {
  return form({
    title: "Create a topic",
    fields: [
      { name: "name", label: "Name", required: true, pattern: "[A-Za-z0-9_\\-]{1,256}", help: "Letters, digits, - and _" },
      { name: "fifo", label: "FIFO", type: "checkbox", help: "Adds .fifo to the name" },
      { name: "content", label: "Content-based deduplication", type: "checkbox", help: "FIFO only" },
      { name: "region", label: "Region", value: place.region, required: true },
      { name: "account", label: "Account", value: place.account, pattern: "\\d{12}", required: true },
    ],
    submit: "Create",
    async run({ name, fifo, content, region, account }) {
      const Name = fifo ? `${name}.fifo` : name;
      /** @type {Record<string, string>} */
      const Attributes = fifo ? { FifoTopic: "true", ...(content ? { ContentBasedDeduplication: "true" } : {}) } : {};
      const input = fifo ? { Name, Attributes } : { Name };
      const arn = arnOf("sns", region, account, Name);
      await query("sns", "CreateTopic", { Name, ...entries("Attributes", Attributes) }, arn);
      context.done(`Topic ${Name} is created`, { service: "sns", action: "CreateTopic", input, arn });
    },
  });
}

/**
 * A map as flat parameters of the query protocol.
 * @param {string} name
 * @param {Record<string, string>} map
 */
export function entries(name, map) {
  /** @type {Record<string, string>} */
  const flat = {};
  Object.entries(map).forEach(([key, value], index) => {
    flat[`${name}.entry.${index + 1}.key`] = key;
    flat[`${name}.entry.${index + 1}.value`] = value;
  });
  return flat;
}

/** @type {(topic: Topic) => import("../dom.js").Row<Topic>} */
function row(topic) {
  const { region, account } = parseArn(topic.arn);
  const cells = [1, 2].map(() => cell("num"));
  const element = h("tr", null, cell("", h("a", { href: link(topic) }, topic.name)), cell("", topic.fifo ? "FIFO" : "standard"), cell("", `${region} · ${account}`), cells);
  /** @param {Topic} item */
  const update = ({ subscriptions, published }) => {
    [subscriptions.length, published].forEach((value, index) => setText(cells[index], number(value)));
  };
  return { element, update };
}

/** @type {import("../app.js").ViewFunction} */
export function view(root, params, context) {
  /** @type {Topic[]} */
  let topics = [];
  /** Known before the button is pressed, so that a form opens at once and gets all that is typed. @type {import("../api.js").Place | undefined} */
  let place;
  const filter = search("filter", "Filter topics");
  const body = h("tbody", null);
  const none = empty("");
  const list = table("Topics", ["Name", "Type", "Region and account", "#Subscriptions", "#Published"], body);
  const show = () => {
    const text = filter.value.trim().toLowerCase();
    const shown = topics.filter(({ name }) => name.toLowerCase().includes(text));
    keyed(body, shown, ({ arn }) => arn, row);
    list.hidden = shown.length === 0;
    none.hidden = shown.length > 0;
    setText(none, topics.length ? "No topic matches the filter." : "There is no topic.");
  };
  filter.addEventListener("input", show);
  root.append(h("div", { class: "toolbar" }, heading("Topics"), h("span", { class: "push" }), filter, button("Create topic", async () => createTopic(context, (place ??= await defaults())), "primary")), list, none);
  return {
    async update(changed) {
      if (!changed.has("topics")) return;
      place ??= await defaults();
      topics = await allTopics();
      show();
    },
    close() {},
  };
}
