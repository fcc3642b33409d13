"use strict";
// The page is whole without this script but for the ends of long lists: it filters, opens, closes, and builds those ends when asked.

const STEP = 500;
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" };
const asWritten = (text) => text.replace(/[&<>"']/g, (character) => ESCAPES[character]);

// A table or list of which the page holds the first rows, and the others as text, a line each: ten thousand rows cost nothing until they are read.
class LongList {
  constructor(list) {
    const source = document.querySelector(`[data-rows-of="${list.id}"]`);
    this.id = list.id;
    this.home = list.dataset.row === "tbody" ? list : list.tBodies?.[0] ?? list;
    this.first = list.dataset.row === "tbody" ? [...list.tBodies] : [...this.home.children];
    this.texts = this.first.map((row) => row.textContent.toLowerCase());
    this.stored = source ? source.textContent.trim().split("\n") : [];
    this.found = this.stored;
    this.added = 0;
    this.field = document.querySelector(`[data-filter="${list.id}"]`);
    this.boxes = [...document.querySelectorAll(`[data-verdict-filter="${list.id}"]`)];
    this.button = document.querySelector(`[data-more="${list.id}"]`);
    this.count = document.querySelector(`[data-count="${list.id}"]`);
    this.button?.addEventListener("click", () => this.add());
    let waiting = 0;
    this.field?.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.filter(), 120);
    });
    for (const box of this.boxes) box.addEventListener("change", () => this.filter());
    this.offer();
  }

  filter() {
    const words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const written = words.map(asWritten);
    const wanted = new Set(this.boxes.filter((box) => box.checked).map((box) => box.value));
    const hasVerdict = (verdict) => !verdict || wanted.size === this.boxes.length || wanted.has(verdict);
    let shown = 0;
    this.first.forEach((row, place) => {
      row.hidden = !(hasVerdict(row.dataset.verdict) && words.every((word) => this.texts[place].includes(word)));
      shown += !row.hidden;
    });
    while (this.added) this.added -= 1, this.home.lastElementChild.remove();
    this.plain ??= this.stored.map((row) => row.replace(/<[^>]*>/g, " ").toLowerCase());
    this.found = this.stored.filter((row, place) =>
      hasVerdict(/data-verdict="(\w*)"/.exec(row)?.[1]) && written.every((word) => this.plain[place].includes(word)));
    const everything = !words.length && wanted.size === this.boxes.length;
    const all = this.first.length + this.stored.length;
    this.count.textContent = everything ? "" : `${(shown + this.found.length).toLocaleString("en")} of ${all.toLocaleString("en")} found`;
    if (everything) this.offer();
    else this.add();
  }

  add() {
    const next = this.found.slice(this.added, this.added + STEP);
    // The rows were escaped when the page was made, as those that are there from the beginning.
    this.home.insertAdjacentHTML("beforeend", next.join(""));
    this.added += next.length;
    this.offer();
  }

  offer() {
    if (!this.button) return;
    const left = this.found.length - this.added;
    this.button.hidden = left === 0;
    const number = Math.min(left, STEP).toLocaleString("en");
    this.button.textContent = left > STEP ? `Show ${number} more of ${left.toLocaleString("en")} ${this.button.dataset.noun}` : `Show ${number} more ${this.button.dataset.noun}`;
  }
}

function begin() {
  document.documentElement.classList.add("js");
  for (const list of document.querySelectorAll("[data-long]")) new LongList(list);
  for (const button of document.querySelectorAll("[data-open-all]")) {
    button.addEventListener("click", () => {
      const open = button.textContent.startsWith("Open");
      for (const one of document.querySelectorAll(`#${button.dataset.openAll} details`)) one.open = open;
      button.textContent = open ? "Close all reasons" : "Open all reasons";
    });
  }
  // On paper nothing can be opened.
  window.addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("#upgrade-table details, .rules details")) one.open = true;
  });
}

document.addEventListener("DOMContentLoaded", begin);
