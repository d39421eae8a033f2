import base from "../../playwright.config.mjs";

export default { ...base, testDir: ".", webServer: undefined, timeout: 180_000 };
