/** The journal: the latest requests of all services, live. */

import { get, remove } from "../api.js";
import { confirm } from "../dialog.js";
import { attribute, fill, h, setText } from "../dom.js";
import { number, time } from "../format.js";
import { virtualList } from "../virtual.js";
import { button, heading, labelled, search } from "./parts.js";
import { detail, elapsed, failed, resource } from "./request-detail.js";

/** @typedef {import("./request-detail.js").Request} Request */

const STATUSES = ["200", "204", "400", "403", "404", "409", "429", "500", "503"];
const COLUMNS = ["Number", "Time", "Service", "Action", "Resource", "Status", "Duration"];
const NUMBERS = ["Number", "Duration"];

/** @type {(name: string, options: [string, string][], value?: string) => HTMLSelectElement} */
function select(name, options, value = "") {
  const choices = options.map(([key, title]) => h("option", { value: key }, title));
  choices.forEach((choice) => (choice.selected = choice.value === value));
  return h("select", { name }, choices);
}

/** @param {Request} request */
function cells(request) {
  const style = failed(request) ? "badge bad" : "badge good";
  return [
    request.number,
    time(request.time, true).slice(11),
    request.service.toUpperCase(),
    request.action ?? "unknown",
    resource(request),
    [h("span", { class: style }, request.status ?? "none"), ` ${request.error ?? ""} `, warned(request)],
    elapsed(request.elapsed_us),
  ].map((content) => h("span", null, content));
}

/** @param {Request} request */
const warned = ({ warnings }) => (warnings.length ? h("span", { class: "badge warn", title: warnings.join("\n") }, "warning") : null);

/** @param {import("../app.js").Params} params the filter of the address */
function filterForm(params) {
  const service = params.service ?? (params.topic ? "sns" : params.bucket ? "s3" : "");
  const statuses = STATUSES.map((status) => /** @type {[string, string]} */ ([status, status]));
  return h(
    "form",
    { class: "toolbar", role: "search", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    labelled("Service", select("service", [["", "all"], ["sqs", "SQS"], ["sns", "SNS"], ["s3", "S3"], ["sts", "STS"]], service)),
    search("matching", "Action, queue, topic or bucket", params.queue ?? params.topic ?? params.bucket ?? params.action),
    labelled("Status", select("status", [["", "all"], ...statuses, ["none", "no response"]], params.status)),
  );
}

/**
 * The parameters of the list.
 * @param {HTMLFormElement} form
 */
function query(form) {
  const { service, matching, status } = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form)));
  return { service, matching: matching.trim(), status };
}

/** @type {import("../app.js").ViewFunction} */
export function view(root, params, context) {
  const path = "/_mock/requests";
  let paused = false;
  let chosen = 0;
  let kept = 0;
  const hint = h("p", { class: "empty hint" }, "Select a request to see it with its response.");
  const panel = h("div", { "aria-live": "polite" }, hint);
  const form = filterForm(params);
  const total = h("span", { class: "muted num", role: "status" });

  /** @param {number} next the number of a request */
  const show = async (next) => {
    if (chosen === next) return;
    chosen = next;
    const section = await detail(next);
    if (chosen === next) fill(panel, section);
  };
  const deselect = () => {
    chosen = 0;
    fill(panel, hint);
  };
  const list = virtualList({
    label: "Requests",
    class: "requests",
    columns: COLUMNS.map((title) => ({ title, class: NUMBERS.includes(title) ? "num" : "" })),
    empty: "No request matches.",
    async fetch(skip, limit) {
      const page = await get(path, { ...query(form), skip, limit });
      setText(total, `${number(page.total)} ${page.total === 1 ? "request" : "requests"}`);
      // Pages start from the latest request, but each page is oldest first.
      return { total: page.total, items: /** @type {Request[]} */ (page.requests).reverse() };
    },
    key: (request) => String(request.number),
    rowClass: (request) => (failed(request) ? "failed" : ""),
    cells,
    select: (request) => request && show(request.number).catch(context.fail),
  });
  const refresh = () => list.refresh().catch(context.fail);
  form.addEventListener("input", refresh);

  const pause = button("Pause", () => {
    paused = !paused;
    attribute(pause, "aria-pressed", String(paused));
    if (!paused) refresh();
  });
  attribute(pause, "aria-pressed", "false");
  const clear = () =>
    confirm({
      title: "Clear the journal",
      text: "Removes all recorded requests. Queues and messages stay.",
      submit: "Clear",
      async run() {
        await remove(path);
        deselect();
        await refresh();
        context.done("The journal is empty", { method: "DELETE", path });
      },
    });
  form.prepend(heading("Requests"), total, h("span", { class: "push" }));
  form.append(pause, button("Clear", clear, "danger"));
  root.append(form, h("div", { class: "split fill" }, list.element, panel));
  if (params.number) show(Number(params.number)).catch(context.fail);
  return {
    update: async (changed) => {
      // Only clearing the journal makes it shorter.
      const now = context.state?.kept ?? kept;
      if (now < kept) deselect();
      kept = now;
      if ((changed.has("requests") || changed.has("kept")) && !paused) await list.refresh();
    },
    close: list.close,
  };
}
