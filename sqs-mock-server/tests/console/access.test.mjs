// The console without a mouse, and for assistive technology.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { Stage } from "./browser.mjs";
import { arn } from "./server.mjs";

const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

before(async () => {
  await server.createQueue("orders-dlq");
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn("orders-dlq"), maxReceiveCount: "3" });
  await server.createQueue("orders", { RedrivePolicy });
  for (const body of ["soup", '{"drink":"tea"}']) await server.send("orders", body);
  await server.receive("orders", { MaxNumberOfMessages: 1 });
  await assert.rejects(server.send("nowhere", "tea"));
  await server.sns("CreateTopic", { Name: "news" });
  await server.sns("Subscribe", { TopicArn: arn("news", "sns"), Protocol: "sqs", Endpoint: arn("orders") });
  await server.sns("Publish", { TopicArn: arn("news", "sns"), Message: "tea" });
  await server.s3("PUT", "/payloads/a.json", "{}");
  await server.post("faults", { effect: "throttle", queue: "nobody" });
});

/** Serious findings of axe, one line each. */
async function findings(page) {
  // The policy of the page forbids scripts in elements, not those of the debugger.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}

const queue = "#/queue/us-east-1/000000000000/orders";
const row = (name) => (page) => page.getByRole("grid").getByRole("row", { name }).first().click();
const press = (name) => (page) => page.getByRole("button", { name, exact: true }).first().click();
const views = [
  ["queues", "#/queues"],
  ["create queue", "#/queues", press("Create queue")],
  ["queue", queue, row(/drink/)],
  ["send", queue, press("Send message")],
  ["purge", queue, press("Purge")],
  ["settings", queue, press("Settings")],
  ["edit attributes", queue, async (page) => (await press("Settings")(page), await press("Edit attributes")(page))],
  ["requests", "#/requests", row(/nowhere/)],
  ["clock", "#/clock"],
  ["faults", "#/faults"],
  ["add fault", "#/faults", press("Add fault")],
  ["topics", "#/topics"],
  ["topic", "#/topic/us-east-1/000000000000/news", (page) => page.locator("summary", { hasText: "tea" }).click()],
  ["publish", "#/topic/us-east-1/000000000000/news", press("Publish")],
  ["buckets", "#/buckets"],
  ["bucket", "#/bucket/payloads", press("a.json")],
  ["failed action", "#/clock", async (page) => {
    await page.getByLabel("Move to (UTC)").fill("2020-01-01");
    await press("Move")(page);
    await page.locator("#notices .bad").waitFor();
  }],
];

for (const scheme of ["light", "dark"]) {
  for (const [name, hash, act] of views) {
    test(`axe_finds_nothing_in_${name.replaceAll(" ", "_")}_${scheme}`, () =>
      stage.visit(
        hash,
        async (page) => {
          await page.getByText("live", { exact: true }).waitFor();
          await act?.(page);
          await page.waitForTimeout(500);
          assert.deepEqual(await findings(page), []);
        },
        { scheme },
      ));
  }
}

/** Presses Tab until the focus is on an element with this name. */
async function tabTo(page, name) {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      const label = element?.getAttribute("aria-label") ?? element?.labels?.[0]?.textContent ?? element?.textContent ?? "";
      const outline = getComputedStyle(element).outlineStyle;
      return { label: label.trim(), outline };
    });
    if (focused.label === name) {
      assert.notEqual(focused.outline, "none", `${name} shows no focus`);
      return;
    }
  }
  assert.fail(`Tab does not reach ${name}`);
}

test("keyboard_alone_creates_a_queue_sends_shows_and_deletes_a_message", () =>
  stage.visit("", async (page) => {
    const { keyboard } = page;
    await page.getByText("live", { exact: true }).waitFor();
    await tabTo(page, "Create queue");
    await keyboard.press("Enter");
    await keyboard.type("by-keyboard");
    await keyboard.press("Enter");
    await page.getByRole("link", { name: "by-keyboard" }).waitFor();
    await tabTo(page, "by-keyboard");
    await keyboard.press("Enter");
    await page.getByRole("heading", { name: "by-keyboard" }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "by-keyboard");
    await page.getByRole("button", { name: "Send message" }).waitFor();

    await tabTo(page, "Send message");
    await keyboard.press("Enter");
    await keyboard.type("typed tea");
    await tabTo(page, "Send");
    await keyboard.press("Enter");
    await page.getByRole("row", { name: /typed tea/ }).waitFor();
    await tabTo(page, "Messages");
    await tabTo(page, "Messages");
    await keyboard.press("ArrowDown");
    await page.getByLabel("Body", { exact: true }).filter({ hasText: "typed tea" }).waitFor();
    await tabTo(page, "Delete");
    await keyboard.press("Enter");
    await page.getByText(/^Message .* is deleted$/).waitFor();
    assert.deepEqual(await server.messages("by-keyboard"), []);

    await tabTo(page, "Skip to content");
    await keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  }));

test("escape_closes_a_dialog_and_returns_the_focus", () =>
  stage.visit("#/faults", async (page) => {
    await page.getByText("live", { exact: true }).waitFor();
    await tabTo(page, "Add fault");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Add fault");
  }));
