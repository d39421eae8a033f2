// docs/teaching.md: every link opens without a notice and shows the numbers that the text claims.
import { readFileSync } from "node:fs";
import { expect, test } from "./lab.mjs";

const TEXT = readFileSync(new URL("../../docs/teaching.md", import.meta.url), "utf8");

/** Rows of its tables: the link, and the two numbers behind it if there are any. */
const ROWS = TEXT.split("\n").flatMap((line) => {
  const link = /\]\(http:\/\/127\.0\.0\.1:8080(\/[^)]*)\)/.exec(line);
  if (!link) return [];
  const numbers = line.startsWith("|") ? line.split("|").slice(-3, -1).map((cell) => cell.trim()) : [];
  return [{ address: link[1], numbers: numbers.filter((n) => n !== "") }];
});

test("the lessons have links enough, and times that add up", () => {
  expect(ROWS.length).toBeGreaterThan(20);
  for (const minutes of [15, 45]) {
    const section = TEXT.split(/^## /m).find((s) => s.startsWith(`${minutes} minutes`)) ?? "";
    const times = [...section.matchAll(/^\| (\d+) to (\d+) \|/gm)].map((m) => [Number(m[1]), Number(m[2])]);
    expect(times.length).toBeGreaterThan(3);
    // One ends where the next begins, from 0 to the end.
    expect(times.map(([from]) => from)).toEqual([0, ...times.slice(0, -1).map(([, to]) => to)]);
    expect(times.at(-1)?.[1]).toBe(minutes);
  }
});

for (const [i, { address, numbers }] of ROWS.entries()) {
  test(`link ${i + 1}, ${address}, shows ${numbers.join(" and ") || "a sheet"}`, async ({ page }) => {
    await page.goto(address);
    if (address.startsWith("/sheet.html")) {
      await expect(page.locator("html[data-ready]")).toBeAttached();
      await expect(page.locator(".page").first()).toBeVisible();
      await expect(page.locator(".note")).toHaveCount(0);
      return;
    }
    expect(numbers).toHaveLength(2);
    if (address.includes("tour=")) await page.locator("[data-control=tour-show]").click();
    for (const [k, row] of ["a", "b"].entries()) await expect(page.locator(`[data-row=${row}] [data-share]`)).toHaveText(new RegExp(`^${numbers[k].replace(".", "\\.")}\\s%$`));
    await expect(page.locator(".messages .note")).toHaveCount(0);
  });
}
