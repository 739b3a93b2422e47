/** Calls as lines for boto3, the AWS CLI and curl. */

import { parseArn } from "./api.js";

/** @typedef {import("./copy.js").AwsCall} AwsCall */

const DEFAULT_ACCOUNT = "000000000000";

/** A name of AWS in lower case, with `_` between its words. @type {(name: string) => string} */
export const snake = (name) => name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toLowerCase();
/** @type {(name: string) => string} */
const kebab = (name) => snake(name).replaceAll("_", "-");

/** Account and region of a call. @param {AwsCall} call */
function place(call) {
  const named = Object.values(call.input).find((value) => typeof value === "string" && value.startsWith("arn:aws"));
  const { region, account } = parseArn(call.arn ?? named ?? "");
  return { region: region || "us-east-1", account: /^\d{12}$/.test(account) && account !== DEFAULT_ACCOUNT ? account : "test" };
}

/**
 * A value in Python.
 * @param {any} value
 * @param {string} [name]
 * @returns {string}
 */
function pythonValue(value, name) {
  if (name === "BinaryValue") return `base64.b64decode(${JSON.stringify(value)})`;
  if (Array.isArray(value)) return `[${value.map((item) => pythonValue(item)).join(", ")}]`;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${pythonValue(item, key)}`).join(", ")}}`;
}

/** @type {(call: AwsCall, origin: string) => string} */
export function python(call, origin) {
  const { region, account } = place(call);
  const parameters = Object.entries(call.input).map(([name, value]) => `${name}=${pythonValue(value)}`);
  if (call.file) parameters.push(`Body=open(${JSON.stringify(call.file)}, "rb")`);
  const line = `${call.service}.${snake(call.action)}(${parameters.join(", ")})`;
  const client = `${call.service} = boto3.client("${call.service}", endpoint_url="${origin}", region_name="${region}", aws_access_key_id="${account}", aws_secret_access_key="test")`;
  return `import ${line.includes("base64.") ? "base64, " : ""}boto3\n${client}\n${line}\n`;
}

/** A word in a shell. @type {(text: string) => string} */
const quote = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** @type {(call: AwsCall, origin: string) => string} */
export function cli(call, origin) {
  const { region, account } = place(call);
  const common = `--endpoint-url ${origin} --region ${region}`;
  const credentials = `AWS_ACCESS_KEY_ID=${account} AWS_SECRET_ACCESS_KEY=test`;
  if (call.action === "PutObject") {
    const target = quote(`s3://${call.input.Bucket}/${call.input.Key}`);
    const kind = call.input.ContentType ? ` --content-type ${quote(call.input.ContentType)}` : "";
    if (call.file) return `${credentials} aws s3 cp ${quote(call.file)} ${target} ${common}${kind}\n`;
    return `printf %s ${quote(call.input.Body ?? "")} | ${credentials} aws s3 cp - ${target} ${common}${kind}\n`;
  }
  const words = Object.entries(call.input).map(([name, value]) => {
    const flag = kebab(name);
    if (typeof value === "boolean") return `--${value ? "" : "no-"}${flag}`;
    return `--${flag} ${quote(typeof value === "object" ? JSON.stringify(value) : String(value))}`;
  });
  return `${credentials} aws ${call.service === "s3" ? "s3api" : call.service} ${kebab(call.action)} ${common} ${words.join(" ")}\n`;
}

/** @type {(call: import("./copy.js").MockCall, origin: string, token: boolean) => string} */
export function curl({ method, path, body }, origin, token) {
  const data = body === undefined ? "" : ` -d ${quote(JSON.stringify(body))}`;
  const verb = method === (body === undefined ? "GET" : "POST") ? "" : ` -X ${method}`;
  const header = token ? ' -H "X-Sqs-Mock-Token: $TOKEN"' : "";
  return `curl${verb}${header}${data} ${quote(origin + path)}\n`;
}
