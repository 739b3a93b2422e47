/** The clock of the server: its time, moving it forward, stopping it; and the reset of the server. */

import { post } from "../api.js";
import { confirm } from "../dialog.js";
import { attribute, h, setText } from "../dom.js";
import { duration, time } from "../format.js";
import { button, heading, labelled } from "./parts.js";

/** Steps, and why a test wants them. @type {[label: string, advance: string, reason: string][]} */
const STEPS = [
  ["1 s", "1s", ""],
  ["30 s", "30s", "default visibility timeout"],
  ["5 min", "5min", "deduplication interval"],
  ["1 h", "1h", ""],
  ["4 days", "4days", "default retention"],
  ["14 days", "14days", "longest retention"],
];

/**
 * A field with a button on the page.
 * @param {string} label
 * @param {string} placeholder
 * @param {string} title of the button
 * @param {(value: string) => Promise<boolean>} run
 */
function line(label, placeholder, title, run) {
  const input = h("input", { placeholder, required: true, autocomplete: "off", spellcheck: "false" });
  /** @param {SubmitEvent} event */
  const onsubmit = async (event) => {
    event.preventDefault();
    if (await run(input.value)) input.value = "";
  };
  return h("form", { class: "toolbar", onsubmit }, labelled(label, input), h("button", { type: "submit" }, title));
}

/** @type {import("../app.js").ViewFunction} */
export function view(root, params, context) {
  /** @type {(body: object, text: string) => Promise<boolean>} */
  const change = (body, text) =>
    context.act(text, () => post("/_mock/clock", body), { method: "POST", path: "/_mock/clock", body });
  const now = h("p", { class: "clock num", role: "timer" });
  const about = h("p", { class: "muted" });
  const frozen = () => Boolean(context.state?.clock.frozen);
  const toggle = button("Freeze", () => change({ frozen: !frozen() }, frozen() ? "The clock runs" : "The clock is frozen"), "primary");
  const steps = STEPS.map(([label, advance, reason]) =>
    button([`+ ${label}`, reason && h("small", null, ` ${reason}`)], () => change({ advance }, `The clock advanced by ${label}`)),
  );
  const tick = () => {
    const { state } = context;
    setText(now, state ? `${time(context.now(), frozen())} UTC` : "");
    if (!state) return;
    setText(about, frozen() ? `Frozen; the system time is ${time(Date.now())} UTC` : `Running, ${lead(state.clock.offset_ms)}`);
    setText(toggle, frozen() ? "Resume" : "Freeze");
    attribute(toggle, "aria-pressed", frozen() ? "true" : "false");
  };
  root.append(
    heading("Clock"),
    h("section", { class: "card", "aria-label": "Time" }, now, about, h("div", { class: "toolbar" }, toggle)),
    h(
      "section",
      { class: "card" },
      h("h2", null, "Move forward"),
      h("p", { class: "muted" }, "Visibility timeouts, delays, retention and long polls follow at once. The clock never goes back."),
      h("div", { class: "toolbar" }, steps),
      line("Advance by", "1h 30m", "Advance", (advance) =>
        change({ advance }, `The clock advanced by ${advance}`),
      ),
      line("Move to (UTC)", "2030-01-01 00:00:00", "Move", (text) =>
        change({ now: /[Zz]$|[+-]\d\d:\d\d$/.test(text) ? text : `${text.trim().replace(" ", "T")}Z` }, `The clock moved to ${text}`),
      ),
    ),
    resetSection(context),
  );
  tick();
  return { update: tick, tick, close() {} };
}

/** @param {number} offset the lead over the system time in milliseconds */
function lead(offset) {
  if (Math.abs(offset) < 1000) return "equal to the system time";
  return offset > 0 ? `${duration(offset)} ahead of the system time` : `${duration(-offset)} behind the system time`;
}

/** @param {import("../app.js").Context} context */
function resetSection(context) {
  const call = { method: "POST", path: "/_mock/reset" };
  const onclick = () =>
    confirm({
      title: "Reset the server",
      text: "Deletes all queues, topics, messages, faults and recorded requests. Startup queues, topics and faults are recreated.",
      submit: "Reset",
      type: "reset",
      async run() {
        await post("/_mock/reset", {});
        context.done("The server is reset", call);
      },
    });
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Reset"),
    h("p", { class: "muted" }, "Deletes all queues, topics, messages, faults and recorded requests; those of the startup are recreated. Only a reset sets the clock back to its start. Objects in an S3 directory stay."),
    h("div", { class: "toolbar" }, button("Reset the server", onclick, "danger")),
  );
}
