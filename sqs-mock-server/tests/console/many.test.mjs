// A queue of 100,000 messages.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eventually, Stage } from "./browser.mjs";

const COUNT = 100_000;
const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());

async function fill(name) {
  const url = await server.createQueue(name);
  let next = 0;
  const worker = async () => {
    while (next < COUNT) {
      const from = next;
      next += 10;
      const entries = Array.from({ length: 10 }, (_, index) => ({ Id: String(index), MessageBody: `{"order":${from + index}}` }));
      await server.sqs("SendMessageBatch", { QueueUrl: url, Entries: entries });
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** Counts of all queues, and receive counts of the first messages. */
async function counts() {
  const { queues } = await server.get("queues");
  const messages = await server.messages("orders");
  return [queues.map(({ name, messages }) => [name, messages]), messages.map(({ id, state, receive_count }) => [id, state, receive_count])];
}

test("100_000_messages_scroll_without_a_freeze_and_looking_changes_nothing", async () => {
  await fill("orders");
  const before = await counts();
  const bodyAt = async (skip) => (await server.get(`messages?queue=orders&skip=${skip}&limit=1`)).messages[0].body;
  const [first, last] = [await bodyAt(0), await bodyAt(COUNT - 1)];
  await stage.visit("#/queue/us-east-1/000000000000/orders", async (page) => {
    const grid = page.getByRole("grid", { name: "Messages" });
    await grid.getByText(first).waitFor();
    assert.equal(await grid.getAttribute("aria-rowcount"), String(COUNT + 1));
    // The longest time between two frames, while the list is scrolled from the start to the end.
    const slowest = await grid.evaluate(
      (element) =>
        new Promise((resolve) => {
          let longest = 0;
          let last = performance.now();
          let step = 0;
          const frame = () => {
            const now = performance.now();
            longest = Math.max(longest, now - last);
            last = now;
            element.scrollTop = (element.scrollHeight * ++step) / 120;
            if (step < 120) requestAnimationFrame(frame);
            else resolve(longest);
          };
          requestAnimationFrame(frame);
        }),
    );
    console.log(`longest frame while scrolling: ${Math.round(slowest)} ms`);
    assert.ok(slowest < 1000, `${slowest} ms`);
    await grid.getByText(last).waitFor();
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    assert.ok(nodes < 2000, `${nodes} elements`);

    await grid.focus();
    await page.keyboard.press("End");
    await page.getByLabel("Body", { exact: true }).filter({ hasText: String(JSON.parse(last).order) }).waitFor();
    await page.keyboard.press("Home");
    await grid.getByText(first).waitFor();
    await eventually(async () => assert.equal(await grid.evaluate((element) => element.scrollTop), 0));
  });
  assert.deepEqual(await counts(), before);
  assert.equal((await server.get("requests?action=ReceiveMessage")).total, 0);
});
