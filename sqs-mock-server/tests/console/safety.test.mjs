// The page shows what strangers sent, and changes what the server has.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { Stage } from "./browser.mjs";

const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());
beforeEach(() => server.reset());

const markup = `<img src=x onerror="document.title='broken'"><script>document.title="broken"</script><b id=bold>tea</b>`;
const envelope = JSON.stringify({ Type: "Notification", TopicArn: "arn:aws:sns:us-east-1:000000000000:t", MessageId: "1", Subject: markup, Message: markup });

/** Asserts that the page has the text, and no element of it. */
async function isText(page) {
  await page.getByText("<b id=bold>tea</b>").first().waitFor();
  assert.equal(await page.locator("#bold").count(), 0);
  assert.notEqual(await page.title(), "broken");
}

test("markup_in_a_message_stays_text", async () => {
  await server.createQueue("orders", { VisibilityTimeout: "60" });
  const attributes = { kind: { DataType: "String", StringValue: markup } };
  await server.send("orders", markup, { MessageAttributes: attributes });
  await server.send("orders", envelope);
  await stage.visit("#/queue/us-east-1/000000000000/orders", async (page) => {
    const rows = page.getByRole("grid", { name: /messages/i }).getByRole("row");
    for (const index of [1, 2]) {
      await rows.nth(index).click();
      await isText(page);
    }
  });
  await stage.visit("#/requests", async (page) => {
    await page.getByRole("row", { name: /SendMessage/ }).first().click();
    await isText(page);
  });
});

test("markup_in_objects_and_topics_stays_text", async () => {
  await server.s3("PUT", "/payloads/markup", markup);
  await stage.visit("#/bucket/payloads", async (page) => {
    await page.getByRole("button", { name: "markup", exact: true }).click();
    await isText(page);
  });
  await server.sns("CreateTopic", { Name: "orders" });
  await server.sns("Publish", { TopicArn: "arn:aws:sns:us-east-1:000000000000:orders", Message: markup });
  await stage.visit("#/topic/us-east-1/000000000000/orders", isText);
});

test("page_of_another_origin_can_neither_read_nor_change", { skip: Boolean(process.env.CONSOLE_DEV) }, async () => {
  const other = await Stage.open();
  try {
    const page = await other.page("#/clock");
    const call = (method, path, headers = {}) =>
      page.evaluate(
        ([url, options]) => fetch(url, options).then((response) => response.status, () => "refused"),
        [`${server.url}${path}`, { method, headers, body: method === "GET" ? undefined : '{"frozen":true}' }],
      );
    for (const path of ["/_mock/queues", "/_mock/events", "/_mock/console/app.js"]) {
      assert.equal(await call("GET", path), "refused", path);
    }
    assert.equal(await call("POST", "/_mock/clock"), "refused");
    assert.equal(await call("POST", "/_mock/aws", { "x-amz-target": "AmazonSQS.ListQueues" }), "refused");
    assert.equal((await server.get("clock")).frozen, false);
    const headers = { origin: "http://evil.example", "content-type": "text/plain" };
    const forged = await server.request("POST", "/_mock/clock", { headers, body: '{"frozen":true}' });
    assert.equal(forged.status, 403);
    assert.equal((await server.get("clock")).frozen, false);
  } finally {
    await other.close();
  }
});

test("policy_forbids_inline_scripts_and_frames", async () => {
  const { headers } = await server.request("GET", "/_mock/console/");
  const policy = headers["content-security-policy"];
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]) {
    assert.ok(policy.includes(part), `${part} is missing in ${policy}`);
  }
});

test("admin_token_is_asked_for_and_sent", { skip: Boolean(process.env.CONSOLE_DEV) }, async () => {
  const locked = await Stage.open(["--admin-token", "secret"]);
  try {
    await locked.visit("#/clock", async (page) => {
      const dialog = page.getByRole("dialog", { name: "Admin token" });
      await dialog.getByLabel("Token").fill("wrong");
      await page.keyboard.press("Enter");
      await dialog.getByText("The server rejected this token.").waitFor();
      await dialog.getByLabel("Token").fill("secret");
      await page.keyboard.press("Enter");
      await page.getByText("live", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Freeze" }).click();
      await page.getByText("Frozen; ").waitFor();
    });
  } finally {
    await locked.close();
  }
});
