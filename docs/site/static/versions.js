// Versions that stand beside this one: ../versions.js of the site names them, `make docs` writes it.
(function () {
  const root = document.documentElement.dataset.content_root || "./";
  const script = document.createElement("script");
  script.src = root + "../versions.js";
  script.onload = function () {
    const all = window.sdcdslVersions || [];
    const place = document.querySelector(".sidebar-brand");
    if (!place || all.length < 2) return;
    const label = document.createElement("label");
    label.className = "site-versions";
    label.textContent = "Version ";
    const choice = document.createElement("select");
    const here = new URL(root, location.href).pathname.split("/").filter(Boolean).pop();
    for (const version of all) {
      const option = document.createElement("option");
      option.value = option.textContent = version;
      option.selected = version === here;
      choice.append(option);
    }
    choice.addEventListener("change", function () {
      location.href = new URL(root + "../" + choice.value + "/index.html", location.href);
    });
    label.append(choice);
    place.after(label);
  };
  document.head.append(script);
})();
