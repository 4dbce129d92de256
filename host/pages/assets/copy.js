// Adds a button to each text to copy. Everything works without it.
for (const figure of document.querySelectorAll("figure.copy")) {
  if (!navigator.clipboard) break;
  const label = figure.querySelector("figcaption").textContent;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${label}`);
  const said = document.createElement("span");
  said.className = "hidden";
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(figure.querySelector("code").textContent);
    button.textContent = "Copied";
    said.textContent = `Copied: ${label}`;
    setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2000);
  });
  figure.append(button, said);
}
