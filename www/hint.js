// A plain script, so that it also runs where modules cannot: says why only the figure is shown.
(function () {
  var hint = document.getElementById("hint");
  var why = "";
  if (location.protocol === "file:") why = "This page was opened as a file, and browsers do not load modules from files: serve the folder over HTTP, or open the one-file build.";
  else if (!("noModule" in document.createElement("script"))) why = "This browser is too old for the live lab: Chrome or Edge 123, Firefox 120 or Safari 17.5 is needed.";
  if (why && hint) {
    hint.textContent = why;
    hint.hidden = false;
  }
})();
