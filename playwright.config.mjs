// The page's tests, in the browser that `cargo xtask test` found. By hand, `npx playwright test` starts its
// own server; CHROME names a browser where it is not in one of the usual places.
import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

const usual = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const port = 8123;
const baseURL = process.env.LAB_URL ?? `http://127.0.0.1:${port}/`;

export default defineConfig({
  testDir: "tests/page",
  testMatch: "**/*.spec.mjs",
  // Two cores are common, and a loaded one makes a test slow, not wrong. Each worker has one browser for all its tests.
  workers: 2,
  // Else the file with the longest tests would be one worker's, and the other idle at the end.
  fullyParallel: true,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  forbidOnly: true,
  reporter: "list",
  use: {
    baseURL,
    browserName: "chromium",
    launchOptions: {
      executablePath: process.env.CHROME ?? usual.find(existsSync),
      args: [
        // As root the sandbox cannot be; the rest keeps the browser from calling out.
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
  webServer: process.env.LAB_URL
    ? undefined
    : { command: `cargo xtask serve --no-watch --port ${port}`, url: baseURL, timeout: 600_000 },
});
