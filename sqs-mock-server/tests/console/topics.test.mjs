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

test("change_of_a_subscription_with_a_typing_error_changes_nothing", () =>
  stage.visit("#/topic/us-east-1/000000000000/orders", async (page) => {
    await server.createQueue("kitchen");
    await server.sns("CreateTopic", { Name: "orders" });
    const subscribe = { TopicArn: arn("orders", "sns"), Protocol: "sqs", Endpoint: arn("kitchen") };
    const policy = { "Attributes.entry.1.key": "FilterPolicy", "Attributes.entry.1.value": '{"kind": ["hot"]}' };
    await server.sns("Subscribe", { ...subscribe, ...policy });
    await page.getByRole("button", { name: "Change kitchen" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Raw delivery").check();
    await dialog.getByLabel("Filter policy").fill('{"dish": {"kind": ["hot"]}');
    await dialog.getByLabel("Filter by").selectOption("body");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("failed to parse JSON").waitFor();
    const [{ raw, filter_policy, filter_policy_scope }] = (await server.get("topics/orders")).subscriptions;
    assert.deepEqual([raw, filter_policy, filter_policy_scope], [false, '{"kind": ["hot"]}', "MessageAttributes"]);
  }));

test("change_whose_last_value_is_wrong_keeps_a_policy_that_fits_the_earlier_scope_only", () =>
  stage.visit("#/topic/us-east-1/000000000000/orders", async (page) => {
    await server.createQueue("kitchen");
    await server.sns("CreateTopic", { Name: "orders" });
    const subscribe = { TopicArn: arn("orders", "sns"), Protocol: "sqs", Endpoint: arn("kitchen") };
    const scope = { "Attributes.entry.1.key": "FilterPolicyScope", "Attributes.entry.1.value": "MessageBody" };
    const policy = { "Attributes.entry.2.key": "FilterPolicy", "Attributes.entry.2.value": '{"dish": {"kind": ["hot"]}}' };
    await server.sns("Subscribe", { ...subscribe, ...scope, ...policy });
    await page.getByRole("button", { name: "Change kitchen" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Filter policy").fill('{"kind": ["hot"]}');
    await dialog.getByLabel("Filter by").selectOption("attributes");
    await dialog.getByLabel("Dead-letter queue").fill("nowhere");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("deadLetterTargetArn is an invalid arn").waitFor();
    const [{ filter_policy, filter_policy_scope }] = (await server.get("topics/orders")).subscriptions;
    assert.deepEqual([filter_policy, filter_policy_scope], ['{"dish": {"kind": ["hot"]}}', "MessageBody"]);
  }));

test("dead_letter_queue_of_a_subscription_is_removed", () =>
  stage.visit("#/topic/us-east-1/000000000000/orders", async (page) => {
    await server.createQueue("kitchen");
    await server.sns("CreateTopic", { Name: "orders" });
    const subscribe = { TopicArn: arn("orders", "sns"), Protocol: "sqs", Endpoint: arn("kitchen") };
    const policy = JSON.stringify({ deadLetterTargetArn: arn("dead") });
    await server.sns("Subscribe", { ...subscribe, "Attributes.entry.1.key": "RedrivePolicy", "Attributes.entry.1.value": policy });
    await page.getByText("dead letters to").waitFor();
    await page.getByRole("button", { name: "Change kitchen" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Dead-letter queue").fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("dead letters to").waitFor({ state: "detached" });
  }));

test("open_topic_fetches_only_messages_that_are_new", () =>
  stage.visit("#/topics", async (page) => {
    await server.sns("CreateTopic", { Name: "orders" });
    const publish = (Message) => server.sns("Publish", { TopicArn: arn("orders", "sns"), Message });
    const shown = (text) => page.locator("summary", { hasText: text });
    await publish("soup");
    await page.getByRole("link", { name: "orders", exact: true }).click();
    await shown("soup").waitFor();
    const pages = [];
    page.on("response", async (response) => {
      if (response.url().includes("/published")) pages.push((await response.json()).messages.map(({ body }) => body));
    });
    await publish("cake");
    await shown("cake").waitFor();
    await eventually(() => assert.deepEqual(pages.flat(), ["cake"]));
    const before = pages.length;
    await server.createQueue("other");
    await server.sqs("SendMessage", { QueueUrl: `${server.url}/000000000000/other`, MessageBody: "m" });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.equal(pages.length, before, "other requests do not concern the topic");
    await server.reset();
    await page.getByText("There is no topic orders").waitFor();
    await server.sns("CreateTopic", { Name: "orders" });
    await publish("tea");
    await shown("tea").waitFor();
    assert.equal(await shown("cake").count(), 0);
  }));

test("queues_and_topics_are_created_in_the_region_and_account_of_the_server", async () => {
  const other = await Stage.open(["--region", "eu-west-1", "--account", "111122223333"], { s3: false });
  try {
    for (const [view, button] of [["#/queues", "Create queue"], ["#/topics", "Create topic"]]) {
      await other.visit(view, async (page) => {
        await page.getByRole("button", { name: button }).click();
        const dialog = page.getByRole("dialog");
        await dialog.getByLabel("Name").fill("orders");
        await dialog.getByRole("button", { name: "Create" }).click();
        await page.getByRole("link", { name: "orders", exact: true }).waitFor();
      });
    }
    const created = [(await other.server.get("queues")).queues[0].arn, (await other.server.get("topics")).topics[0].arn];
    assert.deepEqual(created, ["sqs", "sns"].map((service) => `arn:aws:${service}:eu-west-1:111122223333:orders`));
  } finally {
    await other.close();
  }
});

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

test("requests_to_a_web_hook_are_shown_with_their_failures", () =>
  stage.visit("#/topic/us-east-1/000000000000/orders", async (page) => {
    await server.sns("CreateTopic", { Name: "orders" });
    await server.sns("Subscribe", { TopicArn: arn("orders", "sns"), Protocol: "http", Endpoint: "http://127.0.0.1:1/hook" });
    const sent = page.getByRole("region", { name: "Requests to web hooks" });
    const row = sent.getByRole("row", { name: /127\.0\.0\.1:1\/hook/ });
    await row.getByText("cannot connect").waitFor();
    await row.getByText("SubscriptionConfirmation").waitFor();
    await page.getByRole("region", { name: "Subscriptions" }).getByText("1 waiting").waitFor();
  }));
