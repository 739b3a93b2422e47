/** `Copy as`: the line of boto3, the AWS CLI or Rust that does the same as the page. */

import { hasToken } from "./api.js";
import { cli, curl, python } from "./code.js";
import { fill, h, setText } from "./dom.js";
import { rust } from "./rust.js";

/**
 * An action of AWS with its input as in the JSON API (the body is that of `file`, if given), or a request to `/_mock`.
 * @typedef {{ service: "sqs" | "sns" | "s3", action: string, input: Record<string, any>, arn?: string, file?: string }} AwsCall
 * @typedef {{ method: string, path: string, body?: unknown }} MockCall
 * @typedef {AwsCall | MockCall} Call
 */

/**
 * Name and text of each form of a call.
 * @param {Call} call
 * @returns {[string, string][]}
 */
export function forms(call) {
  if ("path" in call) return [["curl", curl(call, location.origin, hasToken())]];
  return [["boto3", python(call, location.origin)], ["AWS CLI", cli(call, location.origin)], ["Rust", rust(call)]];
}

/**
 * A menu with the forms of a call.
 * @param {() => Call} call
 * @param {string} [label]
 * @returns {HTMLElement}
 */
export function copyMenu(call, label = "Copy as") {
  const result = h("span", { role: "status", class: "visually-hidden" });
  const items = h("div", null);
  const summary = h("summary", null, label);
  const menu = h("details", { class: "menu" }, summary, items, result);
  const close = () => {
    menu.open = false;
    summary.focus();
  };
  menu.addEventListener("toggle", () => {
    if (!menu.open) return;
    fill(items, forms(call()).map(([name, text]) => h("button", { type: "button", onclick: () => copy(name, text) }, name)));
  });
  /** @type {(name: string, text: string) => Promise<void>} */
  const copy = async (name, text) => {
    close();
    if (!(await copyText(text))) return;
    setText(summary, "Copied");
    setText(result, `Copied as ${name}`);
    setTimeout(() => setText(summary, label), 1500);
  };
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.preventDefault();
    event.stopPropagation();
    close();
  });
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !menu.contains(event.relatedTarget)) menu.open = false;
  });
  return menu;
}

/**
 * Copies a text. Browsers without a clipboard for this page (no HTTPS, not localhost) show it to be copied by hand.
 * @param {string} text
 * @returns {Promise<boolean>} whether it is copied
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { readonly: true, rows: 8, "aria-label": "Text to copy", value: text });
    const dialog = h("dialog", { class: "wide", "aria-label": "Copy" },
      h("form", { onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), dialog.close()) }, area,
        h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Close"))));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    area.select();
    return false;
  }
}
