/** All queues: counts, ages, rates, dead-letter queues. */

import { attribute, h, keyed, setText } from "../dom.js";
import { duration, number } from "../format.js";
import { defaults, parseArn } from "../api.js";
import { allQueues, isFifo, queueLink, redrivePolicy, siblingArn } from "../queue-model.js";
import { rates } from "../rates.js";
import { createQueue } from "./create-queue.js";
import { button, cell, empty, nameCells, search } from "./parts.js";

/** @typedef {import("../queue-model.js").Queue} Queue */

/** More rows than this make the page slow; the filter finds the others. */
const MAX_ROWS = 500;

/** `orders-9` comes before `orders-10`. */
const byName = new Intl.Collator("en", { numeric: true });

/** Title, style and value to sort by. @type {[string, string, (queue: Queue) => string | number][]} */
const COLUMNS = [
  ["Name", "", (queue) => queue.name],
  ["Region", "", (queue) => queue.arn],
  ["Available", "num", (queue) => queue.messages.available],
  ["In flight", "num", (queue) => queue.messages.in_flight],
  ["Delayed", "num", (queue) => queue.messages.delayed],
  ["Oldest", "num", (queue) => queue.oldest_message_age_ms ?? -1],
  ["In/s", "num", (queue) => rates.of(queue).arrived],
  ["Out/s", "num", (queue) => rates.of(queue).left],
  ["Dead letters", "", (queue) => redrivePolicy(queue)?.arn ?? queue.dead_letter_sources.join()],
];

/** A count; zero is pale. @type {(element: HTMLElement, value: number) => void} */
function show(element, value) {
  setText(element, number(value));
  attribute(element, "class", value ? "num" : "num zero");
}

/** Links to the dead-letter queue and to its sources. @param {Queue} queue */
function deadLetters(queue) {
  const policy = redrivePolicy(queue);
  const target = policy && h("span", null, "to ", h("a", { href: queueLink(policy.arn) }, parseArn(policy.arn).name), ` after ${policy.receives}`);
  const sources = queue.dead_letter_sources.map((name) => h("a", { href: queueLink(siblingArn(queue.arn, name)) }, name));
  return [target, target && sources.length ? "; " : null, ...(sources.length ? ["from ", ...sources.flatMap((link, at) => (at ? [", ", link] : [link]))] : [])];
}

/** @type {(queue: Queue, context: import("../app.js").Context, readAt: () => number) => import("../dom.js").Row<Queue>} */
function row(queue, context, readAt) {
  const { region, account } = parseArn(queue.arn);
  const counts = ["available", "in_flight", "delayed"].map(() => cell("num"));
  const [oldest, arrived, left] = [cell("num"), cell("num"), cell("num")];
  const links = cell();
  const element = h("tr", null,
    h("td", null, h("a", { href: queueLink(queue.arn) }, queue.name), isFifo(queue) ? [" ", h("span", { class: "badge" }, "FIFO")] : null),
    cell("muted nowrap", region, account === "000000000000" ? "" : ` · ${account}`), counts, oldest, arrived, left, links);
  let shown = "";
  return {
    element,
    update(next) {
      const { available, in_flight, delayed } = next.messages;
      [available, in_flight, delayed].forEach((count, at) => show(counts[at], count));
      const age = next.oldest_message_age_ms;
      setText(oldest, age === null ? "" : duration(Math.max(1000, age + context.now() - readAt())));
      const rate = rates.of(next);
      setText(arrived, rates.text(rate.arrived));
      setText(left, rates.text(rate.left));
      const links_ = JSON.stringify([next.attributes.RedrivePolicy, next.dead_letter_sources]);
      if (links_ === shown) return;
      shown = links_;
      links.replaceChildren(h("span", null, deadLetters(next)));
    },
  };
}

/** @type {import("../app.js").ViewFunction} */
export function view(root, _params, context) {
  rates.restart();
  /** @type {Queue[]} */
  let all = [];
  /** Known before the button is pressed, so that a form opens at once and gets all that is typed. @type {import("../api.js").Place | undefined} */
  let place;
  let readAt = 0;
  let sortBy = 0;
  let ascending = true;
  const filter = search("filter", "Filter by name or tag");
  const summary = h("span", { class: "muted num", role: "status" });
  const none = empty("");
  const body = h("tbody", null);
  const heads = COLUMNS.map(([title, style], at) => h("th", { scope: "col", class: style }, h("button", { type: "button", onclick: () => sort(at) }, title)));
  const rows = h("table", null, h("thead", null, h("tr", null, heads)), body);
  nameCells(rows, COLUMNS.map(([title]) => title));
  const table = h("div", { class: "scroll fill", role: "region", "aria-label": "Queues", tabindex: "0" }, rows, none);

  const matching = () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    const text = (/** @type {Queue} */ { name, tags }) => [name, ...Object.entries(tags).map((tag) => tag.join("="))].join(" ").toLowerCase();
    return all.filter((queue) => words.every((word) => text(queue).includes(word)));
  };
  const render = () => {
    const [, , value] = COLUMNS[sortBy];
    /** @type {(a: Queue, b: Queue) => number} */
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      const order = typeof x === "number" ? x - Number(y) : byName.compare(String(x), String(y));
      return (ascending ? order : -order) || byName.compare(a.arn, b.arn);
    };
    const found = matching().sort(compare);
    keyed(body, found.slice(0, MAX_ROWS), (queue) => queue.arn, (queue) => row(queue, context, () => readAt));
    heads.forEach((head, at) => attribute(head, "aria-sort", at === sortBy ? (ascending ? "ascending" : "descending") : null));
    const counted = `${number(all.length)} ${all.length === 1 ? "queue" : "queues"}`;
    setText(summary, found.length > MAX_ROWS ? `first ${MAX_ROWS} of ${number(found.length)} shown` : found.length < all.length ? `${found.length} of ${counted}` : counted);
    setText(none, all.length ? "No queue matches the filter." : "There are no queues yet.");
    none.hidden = found.length > 0;
    table.classList.toggle("one-region", new Set(all.map(({ arn }) => arn.replace(/[^:]*$/, ""))).size <= 1);
  };
  const sort = (/** @type {number} */ at) => {
    ascending = at === sortBy ? !ascending : COLUMNS[at][1] !== "num";
    sortBy = at;
    render();
  };
  filter.addEventListener("input", render);
  document.addEventListener("visibilitychange", rates.restart);
  root.append(
    h("div", { class: "toolbar" }, h("h1", { tabindex: "-1" }, "Queues"), summary, h("span", { class: "push" }), filter,
      button("Create queue", async () => createQueue(context, all, (place ??= await defaults())), "primary")),
    table,
  );
  return {
    async update(changed) {
      if (!["queues", "messages", "clock"].some((area) => changed.has(area))) return;
      place ??= await defaults();
      all = await allQueues();
      readAt = context.now();
      rates.record(all);
      render();
    },
    tick: render,
    close: () => document.removeEventListener("visibilitychange", rates.restart),
  };
}
