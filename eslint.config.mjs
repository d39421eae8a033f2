// Rules that matter here: no markup or code made from text, and what is plainly a mistake.
// The types are tsc's business, the looks are nobody's.

/** Names of task, lock and file come from strangers: text must never become markup or code. */
const markup = ["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe", "createContextualFragment"];
const noMarkup = markup.map((name) => ({
  selector: `MemberExpression[property.name="${name}"], MemberExpression[property.value="${name}"]`,
  message: `${name} turns text into markup; build nodes and set textContent`,
}));

const mistakes = {
  "no-restricted-syntax": [
    "error",
    ...noMarkup,
    {
      selector: 'MemberExpression[object.name="document"][property.name=/^write(ln)?$/]',
      message: "document.write turns text into markup; build nodes",
    },
  ],
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-new-func": "error",
  "no-script-url": "error",
  "no-undef": "error",
  "no-unused-vars": ["error", { argsIgnorePattern: "^_", caughtErrors: "none" }],
  "no-var": "error",
  "prefer-const": "error",
  eqeqeq: ["error", "always", { null: "ignore" }],
  "no-dupe-keys": "error",
  "no-dupe-else-if": "error",
  "no-duplicate-case": "error",
  "no-unreachable": "error",
  "no-unsafe-finally": "error",
  "no-unsafe-negation": "error",
  "no-constant-condition": ["error", { checkLoops: false }],
  "no-fallthrough": "error",
  "no-self-assign": "error",
  "no-self-compare": "error",
  "no-sparse-arrays": "error",
  "no-loss-of-precision": "error",
  "no-const-assign": "error",
  "no-import-assign": "error",
  "no-debugger": "error",
  "use-isnan": "error",
  "valid-typeof": "error",
};

export default [
  { ignores: ["dist/", "target/", "node_modules/", "test-results/", "playwright-report/"] },
  {
    files: ["www/**/*.js"],
    // What is a name of the browser is checked by tsc, which knows them all.
    rules: { ...mistakes, "no-undef": "off", "no-console": "error" },
  },
  {
    files: ["xtask/js/**/*.mjs", "tests/page/**/*.mjs", "tests/packaging/**/*.mjs", "*.config.mjs"],
    rules: { ...mistakes, "no-undef": "off" },
  },
  // Speaks to browsers too old for the rest.
  { files: ["www/hint.js"], rules: { "no-var": "off" } },
  // Driving a browser by script is that file's whole purpose.
  { files: ["xtask/js/driver.mjs"], rules: { "no-new-func": "off" } },
];
