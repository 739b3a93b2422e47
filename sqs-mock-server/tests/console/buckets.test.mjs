import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Stage } from "./browser.mjs";
import { arn } from "./server.mjs";

const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());

test("object_is_put_shown_and_deleted", () =>
  stage.visit("#/buckets", async (page) => {
    await page.getByRole("button", { name: "Create bucket" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("uploads");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("link", { name: "uploads" }).click();
    await page.getByText("The bucket is empty.").waitFor();

    await page.getByRole("button", { name: "Put object" }).click();
    await dialog.getByLabel("Key").fill("in/a b.json");
    await dialog.getByLabel("Content", { exact: true }).fill('{"drink":"tea"}');
    await dialog.getByRole("button", { name: "Put" }).click();
    await page.getByRole("button", { name: "in/a b.json", exact: true }).click();
    const panel = page.getByRole("region", { name: "Object in/a b.json" });
    assert.match(await panel.getByLabel("Content").textContent(), /"drink": "tea"/);
    await panel.getByRole("button", { name: "Close" }).click();

    await page.getByLabel("Prefix of keys").fill("out/");
    await page.getByText("No key has this prefix.").waitFor();
    await page.getByLabel("Prefix of keys").fill("in/");
    await page.getByRole("button", { name: "Delete in/a b.json" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No key has this prefix.").waitFor();

    await page.getByRole("button", { name: "Delete bucket" }).click();
    await dialog.getByLabel("Type uploads to confirm").fill("uploads");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("link", { name: "payloads" }).waitFor();
  }));

test("file_is_put_and_bytes_that_are_not_text_are_not_shown", () =>
  stage.visit("#/bucket/payloads", async (page) => {
    await page.getByRole("button", { name: "Put object" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Key").fill("picture");
    await dialog.getByLabel("Or a file").setInputFiles({ name: "p.bin", mimeType: "image/png", buffer: Buffer.of(0xff, 0xfe, 0) });
    await dialog.getByRole("button", { name: "Put" }).click();
    await page.getByRole("button", { name: "picture", exact: true }).click();
    await page.getByText("The content is not UTF-8 text.").waitFor();
  }));

test("buckets_show_their_regions", () =>
  stage.visit("#/buckets", async (page) => {
    await page.getByRole("row", { name: /payloads us-east-1/ }).waitFor();
    const place = "<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>";
    await server.s3("PUT", "/irish", place);
    await page.getByRole("row", { name: /irish eu-west-1/ }).getByRole("link").click();
    await page.getByText("eu-west-1 · 0 objects").waitFor();
  }));

test("rules_for_events_show_their_target_and_keys", () =>
  stage.visit("#/bucket/payloads", async (page) => {
    await page.getByText("No notifications are sent.").waitFor();
    await server.createQueue("uploads");
    const filter = "<Filter><S3Key><FilterRule><Name>prefix</Name><Value>in/</Value></FilterRule></S3Key></Filter>";
    const rule = `<Id>1</Id><Queue>${arn("uploads")}</Queue><Event>s3:ObjectCreated:*</Event>${filter}`;
    const body = `<NotificationConfiguration><QueueConfiguration>${rule}</QueueConfiguration></NotificationConfiguration>`;
    await server.s3("PUT", "/payloads?notification", body);
    const row = page.getByRole("row", { name: /s3:ObjectCreated:\*.*prefix in\// });
    assert.match(await row.getByRole("link", { name: "uploads" }).getAttribute("href"), /#\/queue\//);
  }));

test("late_answer_for_an_earlier_prefix_is_dropped", () =>
  stage.visit("#/bucket/payloads", async (page) => {
    await server.s3("PUT", "/payloads/early", "1");
    await server.s3("PUT", "/payloads/late", "2");
    await page.getByRole("button", { name: "early", exact: true }).waitFor();
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await page.route(/prefix=early/, async (route) => (await held, await route.continue()));
    const answered = page.waitForResponse(/prefix=early/);
    await page.getByLabel("Prefix of keys").fill("early");
    await page.getByLabel("Prefix of keys").fill("late");
    await page.getByRole("button", { name: "early", exact: true }).waitFor({ state: "detached" });
    release();
    await (await answered).finished();
    await page.waitForTimeout(200);
    await page.getByRole("button", { name: "late", exact: true }).waitFor();
    assert.equal(await page.getByRole("button", { name: "early", exact: true }).count(), 0);
  }));

test("focus_of_an_object_survives_other_requests", () =>
  stage.visit("#/bucket/payloads", async (page) => {
    await server.s3("PUT", "/payloads/steady", "1");
    const button = page.getByRole("button", { name: "steady", exact: true });
    await button.focus();
    const loaded = page.waitForResponse(/_mock\/objects\?/);
    await server.createQueue("other");
    await (await loaded).finished();
    await page.waitForTimeout(200);
    assert.ok(await button.evaluate((element) => element === document.activeElement));
  }));
