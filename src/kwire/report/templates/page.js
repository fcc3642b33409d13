"use strict";
// The page is whole without this script: it only filters, opens and closes what is already there.
document.documentElement.classList.add("js");

const rowsOf = (table) => [...table.querySelectorAll(":scope > tbody")].flatMap((body) => table.dataset.row === "tbody" ? [body] : [...body.rows]);
const textOf = new WeakMap();
const searchable = (row) => {
  if (!textOf.has(row)) textOf.set(row, row.textContent.toLowerCase());
  return textOf.get(row);
};

function filter(table) {
  const field = document.querySelector(`[data-filter="${table.id}"]`);
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const boxes = [...document.querySelectorAll(`[data-verdict-filter="${table.id}"]`)];
  const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  const everything = !words.length && wanted.size === boxes.length;
  const rows = rowsOf(table);
  let shown = 0;
  for (const row of rows) {
    const fits = (!boxes.length || !row.dataset.verdict || wanted.has(row.dataset.verdict)) && words.every((word) => searchable(row).includes(word));
    row.classList.toggle("filtered-out", !fits);
    shown += fits;
  }
  if (!everything) showAll(table.id);
  document.querySelector(`[data-count="${table.id}"]`).textContent = everything ? "" : `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
}

function showAll(id) {
  document.getElementById(id).removeAttribute("data-collapsed");
  document.querySelector(`[data-show-all="${id}"]`)?.remove();
}

for (const field of document.querySelectorAll("[data-filter]")) {
  const table = document.getElementById(field.dataset.filter);
  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120, table);
  });
  for (const box of document.querySelectorAll(`[data-verdict-filter="${table.id}"]`)) box.addEventListener("change", () => filter(table));
}

for (const button of document.querySelectorAll("[data-show-all]")) button.addEventListener("click", () => showAll(button.dataset.showAll));

for (const button of document.querySelectorAll("[data-open-all]")) {
  button.addEventListener("click", () => {
    const open = button.textContent.startsWith("Open");
    for (const one of document.querySelectorAll(`#${button.dataset.openAll} details`)) one.open = open;
    button.textContent = open ? "Close all reasons" : "Open all reasons";
  });
}

// On paper nothing can be opened.
window.addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("#upgrade-table tbody:not(.more) details, .rules details")) one.open = true;
});
