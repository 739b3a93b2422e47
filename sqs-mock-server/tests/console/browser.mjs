// Pages in Chromium for the tests.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { Server } from "./server.mjs";

const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
  .concat(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);

/** A server and a browser. Pages that report an error fail the test that closes them. */
export class Stage {
  #errors = [];

  static async open(flags, options) {
    const stage = new Stage();
    stage.server = await Server.start(flags, options);
    stage.browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
    return stage;
  }

  async close() {
    await this.browser.close();
    await this.server.stop();
  }

  /** Opens a view of the console, such as `#/queues`, in a context of its own. */
  async page(hash = "", { scheme = "light", viewport = { width: 1280, height: 800 } } = {}) {
    const context = await this.browser.newContext({ colorScheme: scheme, viewport, locale: "en-US" });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on("pageerror", (error) => this.#errors.push(String(error)));
    page.on("console", (message) => {
      // Chromium reports each response with an error status; the console shows those itself.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
        this.#errors.push(message.text());
      }
    });
    await page.goto(`${this.server.url}/_mock/console/${hash}`);
    return page;
  }

  /** Runs a test with a page on a fresh server, and asserts that the page reported no error. */
  async visit(hash, test, options) {
    const page = await this.page(hash, options);
    try {
      await test(page);
    } catch (error) {
      if (process.env.CONSOLE_FAILURES) {
        await page.screenshot({ path: `${process.env.CONSOLE_FAILURES}/${Date.now()}.png` });
      }
      throw new Error([error.message, ...this.#errors.splice(0)].join("\n"), { cause: error });
    } finally {
      await page.context().close();
    }
    assert.deepEqual(this.#errors.splice(0), [], "the page reported errors");
  }
}

/** Repeats a check until it stops failing, for 30 seconds. */
export async function eventually(check) {
  const end = Date.now() + 30_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) {
        throw error;
      }
    }
    await sleep(25);
  }
}
