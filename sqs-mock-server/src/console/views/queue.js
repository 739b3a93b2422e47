/** One queue: messages, move tasks, settings; send, purge, delete. */

import { ApiError, arnOf, get, parseArn, sqs } from "../api.js";
import { copyMenu } from "../copy.js";
import { confirm } from "../dialog.js";
import { attribute, fill, h, href, setText } from "../dom.js";
import { duration, number } from "../format.js";
import { allQueues, isFifo, queueLink, redrivePolicy, siblingArn, total } from "../queue-model.js";
import { messages } from "./messages.js";
import { back, button, heading } from "./parts.js";
import { settings } from "./queue-settings.js";
import { redrive } from "./redrive.js";
import { sendMessage } from "./send.js";
import { triggers } from "./triggers.js";

/** @typedef {import("../queue-model.js").Queue} Queue */

/** @type {import("../app.js").ViewFunction} */
export function view(root, params, context) {
  const { region, account, name } = params;
  const arn = arnOf("sqs", region, account, name);
  const path = `/_mock/queues/${encodeURIComponent(name)}`;
  /** @type {Queue | null} */
  let queue = null;
  let readAt = 0;
  let tab = "Messages";
  const current = () => queue;

  const parts = {
    messages: messages(context, arn, current, allQueues),
    redrive: redrive(context, current, allQueues),
    settings: settings(context, current, allQueues),
    triggers: triggers(arn),
  };
  const title = heading(name);
  const facts = h("div", { class: "facts" });
  const why = h("p", { class: "card", role: "status", hidden: true });
  const missing = h("p", { class: "empty", role: "alert", hidden: true }, `There is no queue ${name} in ${region}, account ${account}.`);
  const body = h("div", { class: "fill column" });

  /** @type {(run: (queue: Queue) => unknown) => () => unknown} */
  const on = (run) => () => queue && run(queue);
  const purge = on(({ url, messages }) => {
    const input = { QueueUrl: url };
    return confirm({
      title: `Purge ${name}`,
      text: `Deletes all messages: ${number(messages.available)} available, ${number(messages.in_flight)} in flight, ${number(messages.delayed)} delayed.`,
      submit: "Purge",
      type: name,
      async run() {
        await sqs("PurgeQueue", input, arn);
        context.done(`Queue ${name} is purged`, { service: "sqs", action: "PurgeQueue", input, arn });
      },
    });
  });
  const drop = on(({ url }) => {
    const input = { QueueUrl: url };
    return confirm({
      title: `Delete ${name}`,
      text: "Deletes the queue and its messages.",
      submit: "Delete",
      type: name,
      async run() {
        await sqs("DeleteQueue", input, arn);
        context.done(`Queue ${name} is deleted`, { service: "sqs", action: "DeleteQueue", input, arn });
        location.hash = "#/queues";
      },
    });
  });
  const explain = async () => {
    const { text } = await get(`${path}/why-empty`, { region, account });
    fill(why, h("b", null, "Why is a receive empty? "), text);
  };
  const showWhy = (/** @type {boolean} */ shown) => {
    why.hidden = !shown;
    attribute(asking, "aria-expanded", String(shown));
    return shown ? explain() : undefined;
  };
  const asking = button("Why is a receive empty?", () => showWhy(Boolean(why.hidden)));
  attribute(asking, "aria-expanded", "false");
  const redriveButton = button("Redrive", () => (choose("Redrive"), parts.redrive.start()));
  const actions = h("div", { class: "toolbar push" }, button("Send message", on((found) => sendMessage(context, found)), "primary"), redriveButton, asking,
    copyMenu(() => ({ service: "sqs", action: "GetQueueAttributes", input: { QueueUrl: queue?.url ?? "", AttributeNames: ["All"] }, arn }), "Copy attributes call as"),
    button("Purge", purge, "danger"), button("Delete queue", drop, "danger"));

  const tabs = ["Messages", "Redrive", "Triggers", "Settings"].map((label) => h("button", { type: "button", onclick: () => choose(label) }, label));
  const tabList = h("div", { class: "tabs", role: "group", "aria-label": "Parts of the queue" }, tabs);
  const choose = (/** @type {string} */ label) => {
    tab = label;
    tabs.forEach((item) => attribute(item, "aria-pressed", String(item.textContent === tab)));
    const shown = { Messages: parts.messages, Redrive: parts.redrive, Triggers: parts.triggers, Settings: parts.settings }[tab];
    fill(body, shown?.element);
    refreshTab().catch(context.fail);
  };
  const refreshTab = async () => {
    if (!queue) return;
    if (tab === "Messages") await parts.messages.refresh();
    if (tab === "Redrive") await parts.redrive.load();
    const count = await parts.triggers.count();
    tabs[2].hidden = count === 0 && tab !== "Triggers";
    if (tab === "Triggers") await parts.triggers.load();
  };
  const age = h("b", null);
  const showAge = () => setText(age, duration(Math.max(1000, (queue?.oldest_message_age_ms ?? 0) + context.now() - readAt)));
  let described = "";
  /** @param {Queue} found */
  const show = (found) => {
    parts.messages.update(found);
    parts.settings.update(found);
    const isTarget = found.dead_letter_sources.length > 0;
    redriveButton.hidden = !isTarget;
    tabs[1].hidden = !isTarget && tab !== "Redrive";
    showAge();
    const { oldest_message_age_ms: oldest, ...steady } = found;
    const text = JSON.stringify([oldest === null, steady]);
    if (text !== described) fill(facts, ...describe(found));
    described = text;
  };
  /** @param {Queue} found */
  const describe = (found) => {
    const policy = redrivePolicy(found);
    const sources = found.dead_letter_sources.flatMap((source) => [" ", h("a", { href: queueLink(siblingArn(arn, source)) }, source)]);
    return [
      h("span", null, h("b", null, number(total(found))), total(found) === 1 ? " message" : " messages"),
      found.oldest_message_age_ms === null ? null : h("span", null, "oldest ", age),
      policy && h("span", null, "dead letters to ", h("a", { href: queueLink(policy.arn) }, parseArn(policy.arn).name), ` after ${policy.receives} ${policy.receives === "1" ? "receive" : "receives"}`),
      sources.length ? h("span", null, "dead letters from", sources) : null,
      h("span", null, h("a", { href: `${href("requests")}?queue=${encodeURIComponent(name)}` }, "recorded requests")),
    ];
  };

  root.append(h("div", { class: "toolbar" }, back("Queues"), title, isFifo({ name }) ? h("span", { class: "badge" }, "FIFO") : null,
    h("span", { class: "muted" }, `${region} · ${account}`), actions), facts, why, missing, tabList, body);
  // Before the queue is there, its buttons have nothing to act on.
  const showParts = (/** @type {boolean} */ there) => [facts, actions, body, tabList].forEach((part) => (part.hidden = !there));
  showParts(false);
  choose("Messages");

  return {
    async update(changed) {
      if (!["queues", "messages", "clock"].some((area) => changed.has(area))) return;
      try {
        queue = await get(path, { region, account });
        readAt = context.now();
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
        queue = null;
      }
      missing.hidden = queue !== null;
      showParts(queue !== null);
      if (!queue) return showWhy(false);
      show(queue);
      if (!why.hidden) await explain();
      await refreshTab();
    },
    tick() {
      if (!queue) return;
      parts.messages.tick();
      parts.redrive.tick();
      showAge();
    },
    close: () => parts.messages.close(),
  };
}
