// Serves the console from its sources, and everything else from a server: `node dev.mjs URL [PORT]`.
// It prints its own URL; the console is at /_mock/console/.
import { readFile } from "node:fs/promises";
import http from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const [target, port = "0"] = process.argv.slice(2);
const sources = process.env.CONSOLE_SOURCES ?? fileURLToPath(new URL("../../src/console", import.meta.url));
const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" };
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";
const agent = new http.Agent({ keepAlive: true });

/** Sends a file of the console. */
async function sendFile(path, response) {
  const name = normalize(path.slice("/_mock/console/".length) || "index.html").replace(/^(\.\.[/\\])+/, "");
  try {
    const content = await readFile(join(sources, name));
    const type = types[extname(name)] ?? "text/plain";
    response.writeHead(200, { "content-type": type, "content-security-policy": policy, "cache-control": "no-cache" }).end(content);
  } catch {
    response.writeHead(404).end();
  }
}

/** Passes a request to the server, and the response back while it arrives: the event stream has no end. */
function forward(request, response) {
  const headers = { ...request.headers };
  const own = `http://${headers.host}`;
  headers.host = new URL(target).host;
  // The server compares both; the origin of another page stays as it is.
  if (headers.origin === own) headers.origin = target;
  const upstream = http.request(target + request.url, { method: request.method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  upstream.on("error", (error) => (response.headersSent ? response.destroy() : response.writeHead(502).end(error.message)));
  response.on("close", () => upstream.destroy());
  request.pipe(upstream);
}

const server = http.createServer((request, response) => {
  const { pathname } = new URL(request.url, target);
  return pathname.startsWith("/_mock/console/") ? sendFile(pathname, response) : forward(request, response);
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
