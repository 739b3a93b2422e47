/** All buckets of S3. */

import { get, s3 } from "../api.js";
import { form } from "../dialog.js";
import { h, href, keyed, setText } from "../dom.js";
import { number, size, time } from "../format.js";
import { button, cell, empty, heading, table } from "./parts.js";

/** @typedef {{ id: string, target: string, events: string[], prefix: string | null, suffix: string | null }} Rule */
/** @typedef {{ name: string, region: string, created: string, objects: number, bytes: number, notifications: Rule[] }} Bucket */

/** @returns {Promise<Bucket[]>} */
export const allBuckets = async () => (await get("/_mock/buckets")).buckets;

/** @param {import("../app.js").Context} context */
function createBucket(context) {
  return form({
    title: "Create a bucket",
    fields: [{ name: "name", label: "Name", required: true, pattern: "[a-z0-9][a-z0-9.\\-]{1,61}[a-z0-9]", help: "3 to 63 lowercase letters, digits, - and ." }],
    submit: "Create",
    async run({ name }) {
      await s3("PUT", name, "");
      context.done(`Bucket ${name} is created`, { service: "s3", action: "CreateBucket", input: { Bucket: name } });
    },
  });
}

/** @type {(bucket: Bucket) => import("../dom.js").Row<Bucket>} */
function row({ name, created }) {
  const cells = [cell("muted nowrap"), cell("num"), cell("num"), cell("num")];
  const element = h("tr", null, cell("", h("a", { href: href("bucket", name) }, name)), cells, cell("num", time(created)));
  /** @param {Bucket} bucket */
  const update = ({ region, objects, bytes, notifications }) =>
    [region, number(objects), size(bytes), number(notifications.length)].forEach((text, index) => setText(cells[index], text));
  return { element, update };
}

/** @type {import("../app.js").ViewFunction} */
export function view(root, params, context) {
  const body = h("tbody", null);
  const none = empty("There is no bucket.");
  const list = table("Buckets", ["Name", "Region", "#Objects", "#Size", "#Event rules", "#Created"], body);
  root.append(h("div", { class: "toolbar" }, heading("Buckets"), h("span", { class: "push" }), button("Create bucket", () => createBucket(context), "primary")), list, none);
  return {
    async update(changed) {
      if (!changed.has("buckets")) return;
      const buckets = await allBuckets();
      keyed(body, buckets, ({ name }) => name, row);
      list.hidden = buckets.length === 0;
      none.hidden = buckets.length > 0;
    },
    close() {},
  };
}
