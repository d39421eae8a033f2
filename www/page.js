import "./reweight-lab.js";

// The page's title follows what is shown, so that a tab or a bookmark can be told apart.
const lab = /** @type {import("./reweight-lab.js").ReweightLabElement} */ (document.querySelector("reweight-lab"));
const title = document.title;
lab.addEventListener("change", () => {
  const { workload } = lab.state();
  document.title = workload && workload !== "patch-test" ? `${workload} · Reweight Lab` : title;
});
