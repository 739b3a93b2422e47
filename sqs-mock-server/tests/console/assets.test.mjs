// The files of the page: their size, and how fast they become a page.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { Stage } from "./browser.mjs";

const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());

const names = (await readdir(process.env.CONSOLE_SOURCES, { recursive: true })).filter((name) => /\.(js|css|html)$/.test(name));
const files = await Promise.all(names.map(async (name) => [name, await readFile(join(process.env.CONSOLE_SOURCES, name))]));
const total = (sizes) => sizes.reduce((sum, size) => sum + size, 0);

test("assets_take_at_most_100_kb_on_the_wire", () => {
  const raw = total(files.map(([, content]) => content.length));
  const compressed = total(files.map(([, content]) => gzipSync(content, { level: 9 }).length));
  console.log(`assets: ${files.length} files, ${raw} bytes, ${compressed} with gzip`);
  assert.ok(compressed <= 100 * 1024, `${compressed} bytes`);
});

test("assets_name_no_other_host", () => {
  for (const [name, content] of files) {
    for (const [url] of content.toString().matchAll(/(?:https?:)?\/\/[a-z0-9-]+\.[a-z]+/gi)) {
      assert.fail(`${name} names ${url}`);
    }
  }
});

test("assets_are_sent_with_gzip_when_asked", { skip: Boolean(process.env.CONSOLE_DEV) }, async () => {
  for (const [name, content] of files) {
    const plain = await server.request("GET", `/_mock/console/${name}`);
    assert.equal(plain.status, 200, name);
    assert.equal(plain.headers["content-encoding"], undefined);
    assert.ok(plain.bytes.equals(content), `${name} differs`);
    const zipped = await server.request("GET", `/_mock/console/${name}`, { headers: { "accept-encoding": "gzip" } });
    assert.equal(zipped.headers["content-encoding"], "gzip", name);
    assert.ok(gunzipSync(zipped.bytes).equals(content), `${name} differs`);
  }
});

test("browser_is_sent_to_the_console", { skip: Boolean(process.env.CONSOLE_DEV) }, async () => {
  const page = await stage.page();
  await page.goto(`${server.url}/`);
  await page.getByRole("heading", { name: "Queues" }).waitFor();
  assert.match(page.url(), /\/_mock\/console\//);
  await page.context().close();
});

test("first_paint_is_fast", () =>
  stage.visit("#/queues", async (page) => {
    await page.reload();
    const time = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const report = (list) => {
            const entry = list.getEntriesByName("first-contentful-paint")[0];
            if (entry) resolve(entry.startTime);
          };
          new PerformanceObserver(report).observe({ type: "paint", buffered: true });
        }),
    );
    console.log(`first contentful paint: ${Math.round(time)} ms`);
    assert.ok(time < 1000, `${time} ms`);
  }));
