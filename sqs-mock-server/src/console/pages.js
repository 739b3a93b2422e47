/** The pages of a long list that were fetched. */

/** Entries of a page. */
const PAGE = 100;

/**
 * @template T
 * @param {(skip: number, limit: number) => Promise<{ total: number, items: T[] }>} fetch
 */
export function pageCache(fetch) {
  let total = 0;
  /** @type {Map<number, T[]>} */
  let held = new Map();
  let generation = 0;
  let filling = false;

  /** @type {(first: number, last: number) => number[]} */
  const covering = (first, last) => {
    const numbers = [];
    for (let page = Math.floor(first / PAGE); page * PAGE < Math.max(last, 1); page++) numbers.push(page);
    return numbers;
  };
  /** @type {(page: number) => Promise<T[]>} */
  const load = async (page) => {
    const current = generation;
    /** @type {T[]} */
    const items = [];
    // The server ends an answer early if the entries are large.
    for (;;) {
      const found = await fetch(page * PAGE + items.length, PAGE - items.length);
      if (current === generation) total = found.total;
      items.push(...found.items);
      const complete = items.length === PAGE || page * PAGE + items.length >= found.total;
      if (complete || found.items.length === 0 || current !== generation) return items;
    }
  };

  return {
    /** The length of the list. */
    total: () => total,
    /**
     * The entry at an index, if its page is here.
     * @param {number} index
     */
    at: (index) => held.get(Math.floor(index / PAGE))?.[index % PAGE],
    areAllHere: () => held.size * PAGE >= total,
    /**
     * The index of an entry that is here; -1 if none matches.
     * @param {(item: T) => boolean} matches
     */
    indexOf(matches) {
      for (const [page, items] of held) {
        const at = items.findIndex(matches);
        if (at >= 0) return page * PAGE + at;
      }
      return -1;
    },
    /**
     * Fetches the pages of a range again, and forgets all others. The old pages stay until the new ones are here.
     * @param {number} first
     * @param {number} last
     * @returns {Promise<boolean>} false if another call has taken over
     */
    async renew(first, last) {
      const current = ++generation;
      /** @type {Map<number, T[]>} */
      const fresh = new Map();
      for (const page of covering(first, last)) {
        fresh.set(page, await load(page));
        if (current !== generation) return false;
      }
      held = fresh;
      return true;
    },
    /**
     * Fetches what is missing, one page at a time, and asks again for the range after each.
     * @param {() => { first: number, last: number }} range
     * @param {() => void} arrived
     */
    async complete(range, arrived) {
      if (filling) return;
      filling = true;
      try {
        for (;;) {
          const { first, last } = range();
          const missing = covering(first, last).find((page) => !held.has(page));
          if (missing === undefined) return;
          const into = held;
          into.set(missing, await load(missing));
          arrived();
        }
      } finally {
        filling = false;
      }
    },
    /** Forgets all pages; answers that are on their way are dropped. */
    clear() {
      generation++;
      held = new Map();
    },
  };
}
