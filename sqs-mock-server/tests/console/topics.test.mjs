import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { eventually, Stage } from "./browser.mjs";
import { arn } from "./server.mjs";

const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());
beforeEach(() => server.reset());

async function attribute(dialog, index, type, name, value) {
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await dialog.getByLabel("Name").nth(index).fill(name);
  await dialog.getByLabel("Type").nth(index).selectOption(type);
  await dialog.getByLabel("Value").nth(index).fill(value);
}

test("created_topic_delivers_a_published_message_to_a_subscribed_queue", () =>
  stage.visit("#/topics", async (page) => {
    await server.createQueue("kitchen");
    await page.getByRole("button", { name: "Create topic" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("orders");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("link", { name: "orders", exact: true }).click();

    await page.getByRole("button", { name: "Subscribe queue" }).click();
    await dialog.getByLabel("Raw delivery").check();
    await dialog.getByLabel("Filter policy").fill('{"kind": ["hot"]}');
    await dialog.getByRole("button", { name: "Subscribe" }).click();
    const subscription = page.getByRole("row", { name: /kitchen/ });
    await subscription.getByText('["hot"]').waitFor();

    for (const [kind, message] of [["cold", "salad"], ["hot", "soup"]]) {
      await page.getByRole("button", { name: "Publish" }).click();
      await dialog.getByLabel("Message", { exact: true }).fill(message);
      await attribute(dialog, 0, "String", "kind", kind);
      await attribute(dialog, 1, "Number", "portions", "2");
      await dialog.getByRole("button", { name: "Publish" }).click();
      await dialog.waitFor({ state: "detached" });
      await page.locator("summary", { hasText: message }).waitFor();
    }
    const messages = await eventually(async () => {
      const found = await server.messages("kitchen");
      assert.equal(found.length, 1);
      return found;
    });
    assert.equal(messages[0].body, "soup");
    assert.deepEqual(messages[0].attributes.portions, { DataType: "Number", StringValue: "2" });
  }));

test("subscription_is_changed_and_removed", () =>
  stage.visit("#/topic/us-east-1/000000000000/orders", async (page) => {
    await page.getByText("There is no topic orders").waitFor();
    await server.createQueue("kitchen");
    await server.sns("CreateTopic", { Name: "orders" });
    const subscribe = { TopicArn: arn("orders", "sns"), Protocol: "sqs", Endpoint: arn("kitchen") };
    await server.sns("Subscribe", subscribe);
    await page.getByRole("button", { name: "Change kitchen" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Raw delivery").check();
    await dialog.getByLabel("Filter policy").fill('{"kind": ["hot"]}');
    await dialog.getByRole("button", { name: "Save" }).click();
    const row = page.getByRole("row", { name: /kitchen/ });
    await row.getByText("raw").waitFor();
    await page.getByRole("button", { name: "Change kitchen" }).click();
    await dialog.getByLabel("Filter policy").fill('{"dish": {"kind": ["hot"]}}');
    await dialog.getByLabel("Filter by").selectOption("body");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row.getByText('{"dish": {"kind": ["hot"]}}').waitFor();
    await row.getByText("of the body").waitFor();
    await row.getByRole("button", { name: "Unsubscribe kitchen" }).click();
    await dialog.getByRole("button", { name: "Unsubscribe" }).click();
    await page.getByText("No subscription.").waitFor();
  }));

test("fifo_topic_is_deleted_after_its_name_is_typed", () =>
  stage.visit("#/topics", async (page) => {
    await page.getByRole("button", { name: "Create topic" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("orders");
    await dialog.getByLabel("FIFO").check();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("link", { name: "orders.fifo" }).click();
    await page.getByText("ContentBasedDeduplication").waitFor();
    await page.getByRole("button", { name: "Delete topic" }).click();
    await dialog.getByLabel("Type orders.fifo to confirm").fill("orders.fifo");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("There is no topic.").waitFor();
  }));
