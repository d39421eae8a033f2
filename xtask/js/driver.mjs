// A WebDriver server for machines that have a browser but no driver for it: as much of the protocol as the
// wasm test runner and tests/page/drive.spec.mjs speak, over Playwright. CHROME names the browser; `--port=N` where to listen.
import { createServer } from "node:http";
import { chromium } from "@playwright/test";

const port = Number(process.argv.find((a) => a.startsWith("--port="))?.slice("--port=".length));

/** @type {import("@playwright/test").Browser | undefined} */
let browser;
/** @type {import("@playwright/test").Page | undefined} */
let page;

/** @param {string} method @param {string} path @param {any} body */
async function answer(method, path, body) {
  if (method === "POST" && path === "/session") {
    const asked = body.capabilities?.alwaysMatch ?? body.desiredCapabilities;
    const { binary, args } = asked?.["goog:chromeOptions"] ?? {};
    browser = await chromium.launch({ executablePath: binary ?? process.env.CHROME, args });
    // A driver's scripts are not the page's: its policy does not count for them.
    page = await browser.newPage({ bypassCSP: true });
    return { sessionId: "1", capabilities: {} };
  }
  if (path === "/status") return { ready: true, message: "" };
  if (!page) throw new Error(`no session for ${method} ${path}`);
  if (method === "GET") return { capabilities: { browserName: "chrome" } };
  if (method === "DELETE") {
    await browser?.close();
    page = undefined;
    return null;
  }
  if (path.endsWith("/url")) return void (await page.goto(body.url));
  if (path.endsWith("/execute/sync")) {
    const run = ({ script, args }) => new Function(script).apply(null, args);
    return page.evaluate(run, body);
  }
  if (path.endsWith("/execute/async")) {
    const run = ({ script, args }) => new Promise((done) => void new Function(script).apply(null, [...args, done]));
    return page.evaluate(run, body);
  }
  throw new Error(`not spoken here: ${method} ${path}`);
}

createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  /** @param {number} status @param {object} value */
  const reply = (status, value) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  };
  try {
    const value = await answer(request.method ?? "", request.url ?? "", text ? JSON.parse(text) : {});
    reply(200, { sessionId: "1", status: 0, value: value ?? null });
  } catch (error) {
    reply(500, { sessionId: null, status: 13, value: { message: String(error) } });
  }
}).listen(port, "127.0.0.1");

// The runner ends its driver; the browser must not outlive it.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, async () => {
    await browser?.close();
    process.exit(0);
  });
}
