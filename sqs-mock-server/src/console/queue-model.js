/** What the server says about queues and messages. */

import { get, parseArn } from "./api.js";
import { href } from "./dom.js";
import { parseJson } from "./format.js";

/**
 * @typedef {{ name: string, arn: string, url: string, messages: { available: number, in_flight: number, delayed: number },
 *   oldest_message_age_ms: number | null, dead_letter_sources: string[], attributes: Record<string, string>, tags: Record<string, string>,
 *   totals: { arrived: number, left: number } }} Queue
 */
/** @typedef {{ DataType: string, StringValue?: string, BinaryValue?: string }} MessageAttribute */
/**
 * @typedef {{ id: string, body: string, attributes?: Record<string, MessageAttribute>, state: string, until?: string | null,
 *   by?: string | null, receive_count: number, sent: string, first_received: string | null, sender: string, group?: string,
 *   deduplication_id?: string, sequence_number?: string, dead_letter_source?: string }} Message
 */

const PAGE = 1000;

/** @returns {Promise<Queue[]>} all queues of all accounts and regions */
export async function allQueues() {
  /** @type {Queue[]} */
  const found = [];
  for (let next = 0; next !== null; ) {
    const page = await get("/_mock/queues", { skip: next, limit: PAGE });
    found.push(...page.queues);
    next = page.next ?? null;
  }
  return found;
}

/** @type {(queue: { name: string }) => boolean} */
export const isFifo = ({ name }) => name.endsWith(".fifo");

/** The address of the view of a queue. @param {string} arn */
export function queueLink(arn) {
  const { region, account, name } = parseArn(arn);
  return href("queue", region, account, name);
}

/** The dead-letter queue and the number of receives before a message moves there. @param {Queue} queue */
export function redrivePolicy({ attributes }) {
  const policy = parseJson(attributes.RedrivePolicy ?? "");
  return policy?.deadLetterTargetArn ? { arn: String(policy.deadLetterTargetArn), receives: String(policy.maxReceiveCount) } : null;
}

/** The ARN of a queue in the same account and region. @type {(arn: string, name: string) => string} */
export const siblingArn = (arn, name) => arn.replace(/[^:]*$/, name);

/** All messages. @param {Queue} queue */
export const total = ({ messages }) => messages.available + messages.in_flight + messages.delayed;

/** How a state of a message reads, and the style of its badge. @type {Record<string, [string, string]>} */
export const STATES = {
  visible: ["available", "good"],
  in_flight: ["in flight", "accent"],
  delayed: ["delayed", "warn"],
  group_locked: ["group locked", "warn"],
  beyond_window: ["beyond window", "warn"],
};
