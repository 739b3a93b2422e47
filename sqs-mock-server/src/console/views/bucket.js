/** A bucket: its objects and their content, and its event notifications. */

import { get, parseArn, s3 } from "../api.js";
import { confirm, form } from "../dialog.js";
import { fill, h, href, keyed, setText } from "../dom.js";
import { number, pretty, size, time } from "../format.js";
import { back, button, cell, code, empty, heading, search, showMissing, table } from "./parts.js";
import { allBuckets } from "./buckets.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {{ key: string, size: number, etag: string, modified: string, content_type: string | null }} Item */

const PAGE = 200;

/** @type {(context: Context, bucket: string) => Promise<unknown>} */
function putObject(context, bucket) {
  const file = h("input", { type: "file", id: "object-file" });
  return form({
    title: "Put an object",
    wide: true,
    fields: [
      { name: "key", label: "Key", required: true },
      { name: "type", label: "Content type", placeholder: "application/json" },
      { name: "content", label: "Content", type: "textarea" },
    ],
    extra: h("div", { class: "field" }, h("label", { for: file.id }, "Or a file"), file),
    submit: "Put",
    async run({ key, type, content }) {
      if (/(^|\/)\.{1,2}(\/|$)/.test(key)) throw new Error("A browser cannot send a key with a part that is . or .. alone.");
      const body = file.files?.[0] ?? content;
      const headers = type ? { "Content-Type": type } : undefined;
      await s3("PUT", bucket, key, { body, headers });
      const input = { Bucket: bucket, Key: key, ...(type ? { ContentType: type } : {}) };
      const source = typeof body === "string" ? { input: { ...input, Body: body } } : { input, file: body.name };
      context.done(`Object ${key} is stored`, { service: "s3", action: "PutObject", ...source });
    },
  });
}

/** @type {(context: Context, bucket: string, key: string) => Promise<unknown>} */
function deleteObject(context, bucket, key) {
  const run = async () => {
    await s3("DELETE", bucket, key);
    context.done(`Object ${key} is deleted`, { service: "s3", action: "DeleteObject", input: { Bucket: bucket, Key: key } });
  };
  return confirm({ title: "Delete the object", text: key, submit: "Delete", run });
}

/** @type {(context: Context, bucket: string) => Promise<unknown>} */
function deleteBucket(context, bucket) {
  const run = async () => {
    await s3("DELETE", bucket, "");
    context.done(`Bucket ${bucket} is deleted`, { service: "s3", action: "DeleteBucket", input: { Bucket: bucket } });
    location.hash = "#/buckets";
  };
  return confirm({ title: "Delete the bucket", text: "Only an empty bucket can be deleted.", submit: "Delete", type: bucket, run });
}

/** @param {import("./buckets.js").Rule} rule */
function ruleRow({ id, target, events, prefix, suffix }) {
  const { service, region, account, name } = parseArn(target);
  const view = service === "sqs" ? "queue" : service === "sns" ? "topic" : "";
  const cells = [
    view ? h("a", { href: href(view, region, account, name), title: target }, name) : target,
    events.join(", "),
    [prefix && `prefix ${prefix}`, suffix && `suffix ${suffix}`].filter(Boolean).join(", ") || "all keys",
    h("code", null, id),
  ];
  return h("tr", null, cells.map((content) => cell("", content)));
}

/** @type {import("../app.js").ViewFunction} */
export function view(root, { name: bucket }, context) {
  /** How many rows a refresh has to show. */
  let shown = PAGE;
  let generation = 0;
  let shownRules = "";
  const prefix = search("prefix", "Prefix of keys");
  const objects = h("tbody", null);
  const rules = h("tbody", null);
  const list = table("Objects", ["Key", "#Size", "Type", "#Modified", ""], objects);
  const ruleList = table("Event notifications", ["Target", "Events", "Keys", "Id"], rules);
  const noRule = empty("No notifications are sent.");
  const none = empty("");
  const counts = h("span", { class: "muted num" });
  const more = button("Show more", () => ((shown += PAGE), load()));
  const panel = h("div", null);

  /** @param {string} key */
  const open = async (key) => {
    const opener = document.activeElement;
    const { length, text } = await get("/_mock/objects/content", { bucket, key });
    const close = () => (fill(panel), opener instanceof HTMLElement && opener.focus());
    const note = text === null ? "The content is not UTF-8 text." : new Blob([text]).size < length ? `The first ${size(new Blob([text]).size)} of ${size(length)}` : size(length);
    fill(
      panel,
      h(
        "section",
        { class: "card", "aria-label": `Object ${key}` },
        h("div", { class: "toolbar" }, h("h2", { tabindex: "-1" }, key), button("Close", close, "push")),
        h("p", { class: "muted" }, note),
        text === null ? null : code("Content", pretty(text)),
      ),
    );
    panel.querySelector("h2")?.focus();
  };
  /** @param {Item} item */
  const objectRow = ({ key, size: bytes, modified, content_type }) =>
    h(
      "tr",
      null,
      cell("", button(key, () => open(key), "link")),
      cell("num", size(bytes)),
      cell("", content_type),
      cell("num", time(modified)),
      cell("num", button("Delete", () => deleteObject(context, bucket, key), "quiet", `Delete ${key}`)),
    );
  const load = async () => {
    /** @type {Item[]} */
    const items = [];
    const current = ++generation;
    let next = "";
    do {
      const page = await get("/_mock/objects", { bucket, prefix: prefix.value, after: next, limit: PAGE });
      if (current !== generation) return;
      items.push(...page.objects);
      next = page.next ?? "";
    } while (next && items.length < shown);
    keyed(objects, items, JSON.stringify, (item) => ({ element: objectRow(item), update() {} }));
    more.hidden = !next;
    list.hidden = items.length === 0;
    none.hidden = items.length > 0;
    setText(none, prefix.value ? "No key has this prefix." : "The bucket is empty.");
  };
  const missing = empty(`There is no bucket ${bucket}.`);
  const reload = () => ((shown = PAGE), load().catch(context.fail));

  prefix.addEventListener("input", reload);
  root.append(
    back("Buckets"),
    h(
      "div",
      { class: "toolbar" },
      heading(bucket),
      counts,
      h("span", { class: "push" }),
      prefix,
      button("Put object", () => putObject(context, bucket), "primary"),
      h("a", { class: "button", href: `#/requests?service=s3&bucket=${encodeURIComponent(bucket)}` }, "Requests"),
      button("Delete bucket", () => deleteBucket(context, bucket), "danger"),
    ),
    panel,
    list,
    none,
    h("p", null, more),
    h("h2", null, "Event notifications"),
    ruleList,
    noRule,
    missing,
  );
  return {
    async update(changed) {
      if (!changed.has("buckets")) return;
      const found = (await allBuckets()).find(({ name }) => name === bucket);
      showMissing(root, missing, !found);
      if (!found) return;
      setText(counts, `${found.region} · ${number(found.objects)} ${found.objects === 1 ? "object" : "objects"}, ${size(found.bytes)}`);
      const text = JSON.stringify(found.notifications);
      if (text !== shownRules) fill(rules, found.notifications.map(ruleRow));
      shownRules = text;
      ruleList.hidden = found.notifications.length === 0;
      noRule.hidden = found.notifications.length > 0;
      await load();
    },
    close() {},
  };
}
