// The console on a narrow screen.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage } from "./browser.mjs";
import { arn } from "./server.mjs";

const options = { viewport: { width: 400, height: 800 } };
/** @type {Stage} */
let stage;
before(async () => {
  stage = await Stage.open();
  const { server } = stage;
  await server.createQueue("orders");
  await server.send("orders", '{"dish":"soup"}');
  await server.sns("CreateTopic", { Name: "events" });
  await server.sns("Subscribe", { TopicArn: arn("events", "sns"), Protocol: "sqs", Endpoint: arn("orders") });
  await server.sns("Publish", { TopicArn: arn("events", "sns"), Message: "the soup is ready" });
  await server.s3("PUT", "/payloads/invoices/2026/november/000123.pdf", "soup");
  await server.post("faults", { effect: "throttle", queue: "orders", times: 1 });
  await server.send("orders", "soup").catch(() => {});
  await server.receive("orders", { MaxNumberOfMessages: 1 });
});
after(() => stage.close());

const queue = "#/queue/us-east-1/000000000000/orders";
const topic = "#/topic/us-east-1/000000000000/events";

test("no view is wider than the screen, and the links to views are in one line", async () => {
  const views = [
    ["#/queues", "orders"], [queue, "in flight"], ["#/requests", "CreateQueue"], ["#/clock", "Freeze"], ["#/faults", "throttle"], ["#/topics", "events"],
    [topic, "the soup is ready"], ["#/buckets", "payloads"], ["#/bucket/payloads", "invoices/2026/november/000123.pdf"],
  ];
  for (const [hash, content] of views) {
    await stage.visit(hash, async (page) => {
      await page.getByText("live", { exact: true }).waitFor();
      await page.locator("main").getByText(content).first().waitFor();
      const { width, head } = await page.evaluate(() => ({
        width: Math.max(...[...document.querySelectorAll("html, main, main .scroll")].map((part) => part.scrollWidth)),
        head: document.querySelector("header")?.clientHeight,
      }));
      assert.ok(width <= 400, `${hash} is ${width} pixels wide`);
      assert.ok(head <= 80, `the header of ${hash} is ${head} pixels high`);
    }, options);
  }
});

/** Asserts that an element is within the screen, from left to right. */
async function isInView(locator) {
  const box = await locator.first().boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 400, `${locator}: from ${box.x} to ${box.x + box.width}`);
  return box;
}

test("bodies, statuses and buttons are within the screen, and names are not broken", async () => {
  await stage.visit(queue, (page) => isInView(page.getByRole("gridcell", { name: '{"dish":"soup"}' })), options);
  await stage.visit("#/requests", (page) => isInView(page.getByRole("gridcell", { name: /^403/ })), options);
  await stage.visit("#/faults", (page) => isInView(page.getByRole("button", { name: /^Remove fault/ })), options);
  await stage.visit(topic, (page) => isInView(page.getByRole("button", { name: "Unsubscribe orders" })), options);
  await stage.visit("#/bucket/payloads", async (page) => {
    const { height } = await isInView(page.getByText("invoices/2026/november/000123.pdf", { exact: true }));
    assert.ok(height < 30, `the key has ${height} pixels`);
  }, options);
});

test("cells of a card have the titles of their columns", async () => {
  await stage.visit("#/queues", async (page) => {
    const available = page.getByRole("row", { name: /orders/ }).locator("td").nth(2);
    await available.waitFor();
    assert.match(await available.evaluate((cell) => getComputedStyle(cell, "::before").content), /^"Available "/);
  }, options);
});

test("an SNS envelope shows the published message", async () => {
  await stage.visit(queue, (page) => isInView(page.getByRole("gridcell", { name: "SNS the soup is ready" })), options);
});
