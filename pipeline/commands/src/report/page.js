// Shows and hides lines, and says what a point is. Without it the page shows everything, and points keep their titles.
for (const button of document.querySelectorAll(".toggles button")) {
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(shown));
    const series = button.closest("figure").querySelector(`.series[data-series="${button.dataset.series}"]`);
    series.classList.toggle("off", !shown);
  });
}
const tip = document.getElementById("tip");
for (const hit of document.querySelectorAll(".hit")) {
  const words = hit.querySelector("title").textContent;
  hit.addEventListener("pointerenter", () => {
    tip.textContent = words;
    tip.hidden = false;
    const box = hit.getBoundingClientRect();
    const left = Math.min(box.left + 14, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, box.top - tip.offsetHeight - 6)}px`;
  });
  hit.addEventListener("pointerleave", () => { tip.hidden = true; });
}
// Paper has no buttons: everything that is folded is printed.
addEventListener("beforeprint", () => { for (const details of document.querySelectorAll("details")) details.open = true; });
