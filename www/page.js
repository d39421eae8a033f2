import "./reweight-lab.js";
