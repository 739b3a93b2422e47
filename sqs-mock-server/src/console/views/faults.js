/** Faults: what is armed, how often it struck; adding and removing. */

import { get, remove } from "../api.js";
import { confirm } from "../dialog.js";
import { attribute, h, keyed, setText } from "../dom.js";
import { number } from "../format.js";
import { button, cell, empty, heading, table } from "./parts.js";
import { addFault, EFFECTS } from "./fault-form.js";

/** @typedef {{ id: number, hits: number, spent: boolean, fault: Record<string, any> }} Fault */

/** Faults that tests often need. @type {[label: string, values: Record<string, string>][]} */
const PRESETS = [
  ["Throttle twice", { effect: "throttle", times: "2" }],
  ["Drop responses of sends", { effect: "reset_after", actions: "SendMessage", times: "1" }],
  ["Deliver twice", { effect: "redeliver", probability: "0.1" }],
  ["Fail entries of batches", { effect: "fail_entries", code: "InternalError", probability: "0.2" }],
  ["Slow receives", { effect: "latency", latency_ms: "200", max_latency_ms: "2000", actions: "ReceiveMessage" }],
];
/** Names of conditions as the table shows them; the others appear as they are. @type {Record<string, string>} */
const LABELS = { key_prefix: "key prefix", body_contains: "body contains", times: "at most times", above: "above 1/s" };

/**
 * What a fault does: the effect with its fields.
 * @param {Record<string, any>} fault
 */
function effect(fault) {
  const details = EFFECTS[fault.effect]?.[1].filter((name) => name in fault) ?? [];
  return [fault.effect, ...details.map((name) => `${name} ${fault[name]}`)].join(", ");
}

/**
 * Which requests a fault affects.
 * @param {Record<string, any>} fault
 */
function scope({ effect: name, service = "sqs", actions = [], ...fault }) {
  const fields = EFFECTS[name]?.[1] ?? [];
  const conditions = Object.entries(fault).filter(([field]) => !fields.includes(field));
  const texts = conditions.map(([field, value]) => `${LABELS[field] ?? field} ${Array.isArray(value) ? value.join(", ") : value}`);
  return [`${service.toUpperCase()} ${actions.length ? actions.join(", ") : "all actions"}`, ...texts].join(" · ");
}

/**
 * @param {import("../app.js").Context} context
 * @returns {(item: Fault) => import("../dom.js").Row<Fault>}
 */
function row(context) {
  return ({ id, fault }) => {
    const path = `/_mock/faults/${id}`;
    const hits = cell("num");
    const state = h("span", { class: "badge" });
    const drop = () => context.act(`Fault ${id} is removed`, () => remove(path), { method: "DELETE", path });
    const texts = [cell("num", id), cell("", h("code", null, effect(fault))), cell("", scope(fault))];
    const element = h("tr", null, texts, hits, cell("", state), cell("num", button("Remove", drop, "quiet", `Remove fault ${id}`)));
    /** @param {Fault} item */
    const update = (item) => {
      setText(hits, number(item.hits));
      setText(state, item.spent ? "spent" : "armed");
      attribute(state, "class", item.spent ? "badge" : "badge warn");
    };
    return { element, update };
  };
}

/** @type {import("../app.js").ViewFunction} */
export function view(root, params, context) {
  const path = "/_mock/faults";
  const body = h("tbody", null);
  const none = empty("No fault is armed.");
  const clear = button("Remove all", () =>
    confirm({
      title: "Remove all faults",
      text: "A reset restores the startup faults.",
      submit: "Remove all",
      async run() {
        await remove(path);
        context.done("All faults are removed", { method: "DELETE", path });
      },
    }),
  );
  const list = table("Faults", ["#Id", "Effect", "Requests", "#Hits", "State", ""], body);
  root.append(
    h("div", { class: "toolbar" }, heading("Faults"), h("span", { class: "push" }), clear, button("Add fault", () => addFault(context), "primary")),
    list,
    none,
    h("h2", null, "Useful faults"),
    h("div", { class: "toolbar" }, PRESETS.map(([label, values]) => button(label, () => addFault(context, values)))),
  );
  if (Object.values(params).some(Boolean)) {
    // Coming back to this view opens no dialog.
    history.replaceState(null, "", "#/faults");
    addFault(context, params);
  }
  return {
    async update(changed) {
      if (!changed.has("faults") && !changed.has("requests")) return;
      /** @type {Fault[]} */
      const faults = await get(path);
      keyed(body, faults, ({ id }) => String(id), row(context));
      list.hidden = clear.hidden = faults.length === 0;
      none.hidden = faults.length > 0;
    },
    close() {},
  };
}
