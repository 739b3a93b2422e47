/** Calls of the server: the `/_mock` API, and actions of AWS through it. */

/** An error that the server answered. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} status
   * @param {string} [code] the error code of AWS
   */
  constructor(message, status, code) {
    super(code ? `${code}: ${message}` : message);
    this.status = status;
    this.code = code ?? "";
  }
}

/** @typedef {Record<string, string | number | boolean | null | undefined>} Query */
/** @typedef {{ query?: Query, headers?: Record<string, string>, body?: BodyInit | null, signal?: AbortSignal, background?: boolean }} Options */

const TOKEN = "sqs-mock-token";

/** @type {(rejected: boolean) => Promise<string | null>} */
let promptToken = async () => null;
/** @type {Promise<string | null> | null} */
let asking = null;
/** The user gave no token: calls in the background do not ask again. */
let declined = false;

/**
 * Sets how the page asks for the admin token.
 * @param {(rejected: boolean) => Promise<string | null>} prompt
 */
export function setTokenPrompt(prompt) {
  promptToken = prompt;
}

/**
 * A path with query parameters; those that are null, undefined or empty are left out.
 * @param {string} path
 * @param {Query} [query]
 */
export function url(path, query = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  return search.size ? `${path}?${search}` : path;
}

/**
 * Sends a request with the admin token. Status 401 asks for the token and sends the request again.
 * @param {string} method
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<Response>}
 */
export async function send(method, path, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem(TOKEN);
    const headers = { ...options.headers, ...(token ? { "X-Sqs-Mock-Token": token } : {}) };
    const response = await fetch(url(path, options.query), { method, headers, body: options.body, signal: options.signal, cache: "no-store" });
    if (response.status !== 401 || (options.background && declined) || !(await renewToken(token))) return response;
  }
}

/** Whether the server wants the token that the user gave. */
export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;

/**
 * Asks for the token, once for all requests that need it. Whether to send the request again.
 * @param {string | null} used
 */
async function renewToken(used) {
  if (sessionStorage.getItem(TOKEN) !== used) return true;
  asking ??= promptToken(used !== null).finally(() => (asking = null));
  const token = await asking;
  declined = !token;
  if (token) sessionStorage.setItem(TOKEN, token);
  return Boolean(token);
}

/**
 * @param {Response} response
 * @returns {Promise<any>} the JSON of the response
 */
async function json(response) {
  const text = await response.text();
  /** @type {any} */
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    if (response.ok) throw new ApiError("the response is not JSON", response.status);
  }
  if (response.ok) return value;
  const code = String(value?.__type ?? "").split("#").pop();
  throw new ApiError(value?.error ?? value?.message ?? `status ${response.status}`, response.status, code);
}

/** @type {(path: string, query?: Query) => Promise<any>} */
export const get = async (path, query) => json(await send("GET", path, { query }));

/** @type {(path: string, query?: Query) => Promise<any>} */
export const remove = async (path, query) => json(await send("DELETE", path, { query }));

/** @type {(path: string, body: unknown) => Promise<any>} */
export const post = async (path, body) =>
  json(await send("POST", path, { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));

/** @typedef {{ region: string, account: string }} Place */

/**
 * The region and the account of the server.
 * @returns {Promise<Place>}
 */
export const defaults = () => get("/_mock");

/**
 * The parts of an ARN.
 * @param {string} arn
 */
export function parseArn(arn) {
  const [, , service = "", region = "", account = "", ...name] = arn.split(":");
  return { service, region, account, name: name.join(":") };
}

/** @type {Record<string, string>} */
const PARTITIONS = {
  "cn-": "aws-cn",
  "us-gov-": "aws-us-gov",
  "us-iso-": "aws-iso",
  "us-isob-": "aws-iso-b",
  "eu-isoe-": "aws-iso-e",
  "us-isof-": "aws-iso-f",
  "eusc-": "aws-eusc",
};

/**
 * The ARN of a queue or a topic.
 * @param {string} service
 * @param {string} region
 * @param {string} account
 * @param {string} name
 */
export function arnOf(service, region, account, name) {
  const start = Object.keys(PARTITIONS).find((prefix) => region.startsWith(prefix));
  return `arn:${start ? PARTITIONS[start] : "aws"}:${service}:${region}:${account}:${name}`;
}

/** @type {(arn: string, service: string) => string} */
function authorization(arn, service) {
  const { region, account } = parseArn(arn);
  return `AWS4-HMAC-SHA256 Credential=${account || "000000000000"}/20260101/${region || "us-east-1"}/${service}/aws4_request, SignedHeaders=host, Signature=0`;
}

/**
 * An action of SQS, in the account and region of `arn`.
 * @param {string} action
 * @param {object} input
 * @param {string} arn
 * @returns {Promise<any>}
 */
export async function sqs(action, input, arn) {
  const headers = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Target": `AmazonSQS.${action}`,
    Authorization: authorization(arn, "sqs"),
  };
  return json(await send("POST", "/_mock/aws", { headers, body: JSON.stringify(input) }));
}

/** Versions of the query APIs. */
const VERSIONS = { sns: "2010-03-31", sts: "2011-06-15" };

/**
 * An action of SNS or STS, in the account and region of `arn`. Parameters are flat, such as `Attributes.entry.1.key`.
 * @param {"sns" | "sts"} service
 * @param {string} action
 * @param {Record<string, string>} parameters
 * @param {string} arn
 * @returns {Promise<Document>}
 */
export async function query(service, action, parameters, arn) {
  const body = new URLSearchParams({ Action: action, Version: VERSIONS[service], ...parameters });
  return xml(await send("POST", "/_mock/aws", { headers: { Authorization: authorization(arn, service) }, body }));
}

/**
 * A request to S3.
 * @param {string} method
 * @param {string} bucket
 * @param {string} key
 * @param {Options} [options]
 * @returns {Promise<Document>}
 */
export async function s3(method, bucket, key, options = {}) {
  const path = `/${[bucket, ...key.split("/")].map(encodeURIComponent).join("/")}`;
  const headers = { ...options.headers, Authorization: authorization("arn:aws:s3:us-east-1:test:", "s3"), "X-Sqs-Mock-Console": "true" };
  return xml(await send(method, path, { ...options, headers }));
}

/** @param {Response} response */
async function xml(response) {
  const text = await response.text();
  const tree = new DOMParser().parseFromString(text || "<Empty/>", "application/xml");
  if (response.ok) return tree;
  const message = tree.querySelector("Message")?.textContent || `status ${response.status}`;
  throw new ApiError(message, response.status, tree.querySelector("Code")?.textContent ?? undefined);
}
