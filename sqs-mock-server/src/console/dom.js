/** Building and updating elements. Text always goes in as text nodes, never as markup. */

/** @typedef {Node | string | number | false | null | undefined} Single */
/** @typedef {Single | readonly Single[]} Child */

/**
 * An element. `on..` functions are listeners; `value` and `checked` are properties; true is an empty attribute; false, null and
 * undefined are no attribute; everything else is an attribute.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any> | null} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (name === "value" || name === "checked") {
      /** @type {any} */ (element)[name] = value;
    } else {
      attribute(element, name, value);
    }
  }
  append(element, children);
  return element;
}

/**
 * Sets, changes or removes an attribute.
 * @param {Element} element
 * @param {string} name
 * @param {string | number | boolean | null | undefined} value
 */
export function attribute(element, name, value) {
  if (value === false || value === null || value === undefined) {
    element.removeAttribute(name);
  } else {
    const text = value === true ? "" : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

/**
 * @param {Element} parent
 * @param {readonly Child[]} children
 */
function append(parent, children) {
  for (const child of children) {
    if (Array.isArray(child)) {
      append(parent, child);
    } else if (child !== false && child !== null && child !== undefined) {
      parent.append(child instanceof Node ? child : String(child));
    }
  }
}

/**
 * Replaces all children.
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/**
 * Changes the text of an element only if it differs, so that a selection survives.
 * @param {Element} element
 * @param {string | number} text
 */
export function setText(element, text) {
  if (element.textContent !== String(text)) element.textContent = String(text);
}

/**
 * One item of a keyed list: its element, and how it shows a newer version of the item.
 * @template T
 * @typedef {{ element: HTMLElement, update(item: T): void }} Row
 */

/** @type {WeakMap<Element, Map<string, Row<any>>>} */
const lists = new WeakMap();

/**
 * Makes the children of `parent` match `items`. Rows with the same key stay, so that focus and selection survive.
 * @template T
 * @param {Element} parent
 * @param {readonly T[]} items
 * @param {(item: T) => string} key
 * @param {(item: T) => Row<T>} create
 */
export function keyed(parent, items, key, create) {
  const before = lists.get(parent) ?? new Map();
  /** @type {Map<string, Row<T>>} */
  const after = new Map();
  for (const item of items) {
    const row = before.get(key(item)) ?? create(item);
    row.update(item);
    after.set(key(item), row);
  }
  for (const [name, row] of before) {
    if (!after.has(name)) row.element.remove();
  }
  let next = parent.firstElementChild;
  for (const { element } of after.values()) {
    if (element === next) {
      next = next.nextElementSibling;
    } else {
      parent.insertBefore(element, next);
    }
  }
  lists.set(parent, after);
}

/**
 * A link to a view: `href("queue", region, account, name)`.
 * @param {...string} parts
 */
export const href = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;
