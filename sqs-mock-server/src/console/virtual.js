/** A list of any length that holds only the rows in view. */

import { attribute, h } from "./dom.js";
import { pageCache } from "./pages.js";

/** @typedef {string | { title: string, class: string }} Column */
/**
 * - `class` has the widths of the columns, in style.css as `--columns`.
 * - `fetch` gets a page of the list; `cells` has the content of a row, one child for each column.
 * - `select` is called when a row is selected, and after each refresh with its newer version, or null if it is gone.
 * - `open` is called for a click and for Enter.
 * @template T
 * @typedef {{ label: string, class?: string, columns: Column[], empty?: string,
 *   fetch(skip: number, limit: number): Promise<{ total: number, items: T[] }>, cells(item: T, index: number): import("./dom.js").Child[],
 *   key?(item: T): string, rowClass?(item: T): string, select?(item: T | null): void, open?(item: T, index: number): void }} VirtualOptions
 */

/** Heights in style.css. */
const ROW = 30;
const HEAD = 32;
/** Rows above and below the view. */
const SPARE = 6;
/** Browsers limit the height of an element; a longer list scrolls in proportion. */
const MAX_HEIGHT = 8_000_000;
/** While the user scrolls fast, only the place where the list comes to rest is fetched. */
const REST_MS = 40;

let ids = 0;

/**
 * Rows are selected with a click, or with arrow keys, Page Up, Page Down, Home and End.
 * @template T
 * @param {VirtualOptions<T>} options
 */
export function virtualList(options) {
  const id = `list-${++ids}`;
  const classes = options.columns.map((column) => (typeof column === "string" ? null : column.class));
  const titles = options.columns.map((column, at) =>
    h("span", { role: "columnheader", class: classes[at] }, typeof column === "string" ? column : column.title));
  const rows = h("div", { class: "rows", role: "rowgroup" });
  const empty = h("p", { class: "empty", hidden: true }, options.empty ?? "Nothing to show.");
  const element = h("div", { class: `grid ${options.class ?? ""}`, role: "grid", tabindex: 0, "aria-label": options.label },
    h("div", { role: "rowgroup", class: "top-row" }, h("div", { class: "head", role: "row", "aria-rowindex": 1 }, titles)), rows);
  const frame = h("div", { class: "list" }, element, empty);

  const pages = pageCache(options.fetch);
  const keyOf = options.key ?? ((/** @type {T} */ item) => JSON.stringify(item));
  /** @type {Map<number, { row: HTMLElement, item: T | undefined }>} */
  const shown = new Map();
  /** The selected row; without a key, its page is not here yet. */
  let selected = -1;
  /** @type {string | null} */
  let selectedKey = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let rest;

  /** The height of the view, and how far the list is scrolled. */
  const geometry = () => {
    const view = Math.max(element.clientHeight - HEAD, ROW);
    const full = pages.total() * ROW;
    const height = Math.min(full, MAX_HEIGHT);
    const ratio = height > view ? (full - view) / (height - view) : 1;
    return { view, ratio, top: element.scrollTop * ratio };
  };
  const range = () => {
    const { view, top } = geometry();
    return { first: Math.max(0, Math.floor(top / ROW) - SPARE), last: Math.min(pages.total(), Math.ceil((top + view) / ROW) + SPARE) };
  };

  /** @type {(row: HTMLElement, item: T | undefined, index: number) => void} */
  const build = (row, item, index) => {
    const cells = item === undefined ? classes.map(() => "") : options.cells(item, index);
    attribute(row, "class", `row ${item === undefined ? "" : options.rowClass?.(item) ?? ""}`.trim());
    const fresh = cells.map((cell, at) => h("span", { role: "gridcell", class: classes[at] }, cell));
    const old = [...row.children];
    if (old.length === 0) row.append(...fresh);
    else old.forEach((cell, at) => cell.isEqualNode(fresh[at]) || cell.replaceWith(fresh[at]));
  };
  /** @param {boolean} [renew] whether rows that are there are built again */
  const render = (renew = false) => {
    rows.style.height = `${Math.min(pages.total() * ROW, MAX_HEIGHT)}px`;
    const { first, last } = range();
    const shift = element.scrollTop - geometry().top;
    for (const [index, { row }] of shown) if (index < first || index >= last) (row.remove(), shown.delete(index));
    for (let index = first; index < last; index++) {
      const item = pages.at(index);
      const known = shown.get(index);
      const row = known?.row ?? h("div", { role: "row", id: `${id}-${index}`, "data-index": index, "aria-rowindex": index + 2 });
      if (!known) rows.append(row);
      if (!known || known.item !== item || renew) build(row, item, index);
      row.style.transform = `translateY(${index * ROW + shift}px)`;
      attribute(row, "aria-selected", String(index === selected));
      shown.set(index, { row, item });
    }
    attribute(element, "aria-rowcount", pages.total() + 1);
    attribute(element, "aria-activedescendant", shown.has(selected) ? `${id}-${selected}` : null);
  };

  /** @type {(index: number) => void} */
  const select = (index) => {
    selected = Math.max(0, Math.min(index, pages.total() - 1));
    const { view, ratio, top } = geometry();
    if (selected * ROW < top) element.scrollTop = (selected * ROW) / ratio;
    else if ((selected + 1) * ROW > top + view) element.scrollTop = ((selected + 1) * ROW - view) / ratio;
    selectedKey = null;
    adopt();
    render();
  };
  /** Selects the item of the selected row, if its page is here. */
  const adopt = () => {
    const item = selected >= 0 && selectedKey === null ? pages.at(selected) : undefined;
    if (item === undefined) return;
    selectedKey = keyOf(item);
    options.select?.(item);
  };
  /** Finds the selected item again after a refresh. It is gone only if it is in none of the pages and all of them are here. */
  const follow = () => {
    if (selectedKey === null) return adopt();
    const index = pages.indexOf((item) => keyOf(item) === selectedKey);
    if (index >= 0 || pages.at(selected) !== undefined) selected = index;
    if (index < 0 && !pages.areAllHere()) return;
    if (index < 0) (selected = -1), (selectedKey = null);
    options.select?.(index >= 0 ? pages.at(index) ?? null : null);
  };
  const complete = () => pages.complete(range, () => (adopt(), render()));

  element.addEventListener("scroll", () => {
    render();
    clearTimeout(rest);
    rest = setTimeout(() => complete().catch(() => {}), REST_MS);
  });
  rows.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    const row = target.closest("[data-index]");
    if (!row || target.closest("a, button")) return;
    select(Number(row.getAttribute("data-index")));
    open();
  });
  const open = () => {
    const item = pages.at(selected);
    if (item !== undefined) options.open?.(item, selected);
  };
  element.addEventListener("keydown", (event) => {
    if (event.target !== element || pages.total() === 0) return;
    const screen = Math.max(1, Math.floor(geometry().view / ROW) - 1);
    /** @type {Record<string, number>} */
    const steps = { ArrowDown: selected + 1, ArrowUp: selected - 1, PageDown: selected + screen, PageUp: selected - screen, Home: 0, End: pages.total() - 1 };
    if (event.key === "Enter") open();
    else if (event.key in steps) select(steps[event.key]);
    else return;
    event.preventDefault();
  });
  const resized = new ResizeObserver(() => (render(), complete().catch(() => {})));
  resized.observe(element);

  return {
    element: frame,
    /** Fetches the rows in view again; the old ones are shown meanwhile. */
    async refresh() {
      const { first, last } = range();
      if (!(await pages.renew(first, last))) return;
      empty.hidden = pages.total() > 0;
      follow();
      render();
      await complete();
    },
    /** Shows another list from its start. */
    async restart() {
      pages.clear();
      (selected = -1), (selectedKey = null);
      element.scrollTop = 0;
      await this.refresh();
    },
    /** Builds the rows in view again, for ages. */
    tick: () => render(true),
    /** @param {number} index */
    select,
    close() {
      pages.clear();
      clearTimeout(rest);
      resized.disconnect();
    },
  };
}
