"use strict";
// The page is whole without this script but for the ends of long lists: it searches, sorts, filters, opens, copies, and builds those ends.

const STEP = 500;
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&#34;": '"', "&quot;": '"', "&#39;": "'", "&#10;": "\n", "&nbsp;": "\u00a0", "&amp;": "&" };
const textOf = (html) => html.replace(/<[^>]*>/g, " ").replace(/&(?:lt|gt|#34|quot|#39|#10|nbsp|amp);/g, (found) => ENTITIES[found]);
const UNITS = { ms: .001, s: 1, min: 60, h: 3600, d: 86400, byte: 1, bytes: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };
const NUMBER = /^\d[\d,]*(?:\.\d+)?$/;
const AMOUNTS = /^(?:[\d,.]+ (?:ms|s|min|h|d|bytes?|[kMGT]B)(?: |$))+$/;
const numberOf = (text) => Number(text.replaceAll(",", ""));
// "1,234", "5 min 12 s" and "2.1 MB" as numbers; any other text as it is.
const sortKey = (text) => {
  if (NUMBER.test(text)) return numberOf(text);
  if (!AMOUNTS.test(text)) return text;
  return [...text.matchAll(/([\d,.]+) (\w+)/g)].reduce((sum, [, number, unit]) => sum + numberOf(number) * UNITS[unit], 0);
};
// The longest part of a word without quotes, which are written in two ways, as it stands in markup.
const asWritten = (word) => word.split(/["']/).reduce((a, b) => b.length > a.length ? b : a).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const english = (number) => number.toLocaleString("en");
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const inOrder = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

// A table or list of which the page holds the first rows, and the others as packed text, a line each: ten thousand rows cost nothing until
// they are read. Searching and sorting work on the texts of all rows, which the page's maker has escaped; only those that are shown are built.
const attributeOf = (row, name) => new RegExp(`^<\\w+[^>]* data-${name}="([^"]*)"`).exec(row)?.[1] ?? "";
const attributeWritten = (value) => value.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&#34;").replace(/'/g, "&#39;");
// On a phone a row is a block: each cell says which column it is of.
const headsOf = (table) => all("th", table.tHead).map((head) => head.textContent.trim());
function labelCells(table, heads = headsOf(table)) {
  for (const cell of all(":scope > tbody > tr:not(.reasons) > *", table)) cell.dataset.label ??= heads[cell.cellIndex] ?? "";
}
class LongList {
  constructor(list) {
    this.id = list.id;
    this.name = list.dataset.long; // of its state in the address; a list without one keeps none
    this.list = list;
    this.unit = list.dataset.row ?? (list.tBodies ? "tr" : "li");
    this.home = this.unit === "tr" ? list.tBodies[0] : list;
    this.window = this.shownRows().length;
    this.shown = this.window;
    this.order = null;
    this.field = document.querySelector(`[data-filter="${this.id}"]`);
    this.chips = all(`[data-kind-filter="${this.id}"]`);
    this.place = document.querySelector(`[data-place-filter="${this.id}"]`);
    this.values = all(`[data-value-filter="${this.id}"]`);
    this.clear = document.querySelector(`[data-clear="${this.id}"]`);
    this.button = document.querySelector(`[data-more="${this.id}"]`);
    this.count = document.querySelector(`[data-count="${this.id}"]`);
    this.button?.addEventListener("click", () => this.more());
    let waiting = 0;
    this.field?.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.choose(), 120);
    });
    this.field?.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.field.value) { this.field.value = ""; this.choose(); }
    });
    for (const chip of this.chips) {
      chip.addEventListener("click", () => {
        chip.setAttribute("aria-pressed", String(chip.ariaPressed !== "true"));
        this.choose();
      });
    }
    for (const one of [this.place, ...this.values]) one?.addEventListener("change", () => this.choose());
    this.clear?.addEventListener("click", () => { this.set({}); this.field?.focus(); });
    this.labels = list.tHead ? headsOf(list) : [];
    all("th[data-sort]", list).forEach((head) => this.makeSortable(head));
    this.label();
    this.offer();
  }

  label() {
    if (this.list.classList.contains("rows")) labelCells(this.list, this.labels);
  }

  // What is chosen, as it stands in the address.
  get state() {
    const found = {};
    if (this.field?.value) found.q = this.field.value;
    const kinds = this.chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.value);
    if (kinds.length) found.is = kinds.join("+");
    for (const one of [this.place, ...this.values]) if (one?.value) found[one.dataset.name] = one.value;
    if (this.order) found.sort = `${this.order.column}${this.order.sign > 0 ? "up" : "down"}`;
    return found;
  }

  // Choose what an address says; returns when the rows are there.
  set(state) {
    if (this.field) this.field.value = state.q ?? "";
    const kinds = (state.is ?? "").split("+");
    for (const chip of this.chips) chip.setAttribute("aria-pressed", String(kinds.includes(chip.value)));
    for (const one of [this.place, ...this.values]) if (one) one.value = state[one.dataset.name] ?? "";
    const [, column, way] = /^(\d+)(up|down)$/.exec(state.sort ?? "") ?? [];
    const head = this.heads?.[column];
    for (const other of (this.heads ?? []).filter(Boolean)) other.removeAttribute("aria-sort");
    this.order = head ? { column: Number(column), sign: way === "up" ? 1 : -1 } : null;
    head?.setAttribute("aria-sort", way === "up" ? "ascending" : "descending");
    return this.choose();
  }

  shownRows() {
    return all(`:scope > ${this.unit}`, this.home);
  }

  // All rows as they were written: the first ones back out of the page, the others unpacked. Happens once, when a reader first wants them.
  load() {
    this.loading ??= (async () => {
      const source = document.querySelector(`[data-rows-of="${this.id}"]`);
      const first = this.shownRows().map((row) => row.outerHTML);
      this.rows = source ? [...first, ...(await unpack(source.textContent)).split("\n")] : first;
    })();
    return this.loading;
  }

  // Whether a row's text holds all words. To take ten thousand rows out of their markup takes seconds, so a look at them as they are written
  // comes first: a word cannot be in the text that is not there.
  holds(number, words, written) {
    this.lower ??= this.rows.map((row) => row.toLowerCase());
    this.texts ??= [];
    if (!written.every((part) => this.lower[number].includes(part))) return false;
    const text = this.texts[number] ??= textOf(this.rows[number]).toLowerCase();
    return words.every((word) => text.includes(word));
  }

  get found() {
    return this.chosen ?? this.rows;
  }

  get length() {
    return this.chosen ? this.chosen.length : this.window + Number(this.button?.dataset.rest ?? 0);
  }

  async choose() {
    await this.load();
    const words = (this.field?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const written = words.map(asWritten);
    const wanted = new Set(this.chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.value));
    const place = this.place?.value ?? "";
    const kindOf = (row) => place === "" ? attributeOf(row, "is") : attributeOf(row, "on").split(" ")[place];
    const chosen = this.values.filter((one) => one.value).map((one) => [one.dataset.name, attributeWritten(one.value)]);
    const fits = (row) => (!wanted.size || wanted.has(kindOf(row))) && chosen.every(([name, value]) => attributeOf(row, name) === value);
    const everything = !words.length && !wanted.size && !chosen.length;
    let places = this.rows.map((_, number) => number);
    if (!everything) places = places.filter((number) => fits(this.rows[number]) && this.holds(number, words, written));
    if (this.order) places = this.sorted(places);
    this.chosen = places.map((number) => this.rows[number]);
    if (this.count) this.count.textContent = everything ? "" : `${english(places.length)} of ${english(this.rows.length)}`;
    if (this.clear) this.clear.hidden = everything && !this.order;
    for (const row of this.shownRows()) row.remove();
    this.shown = 0;
    this.add(this.window);
    keepState();
  }

  async more() {
    await this.load();
    const before = this.shown;
    this.add(STEP);
    // The button may be gone: a screen reader continues where the new rows begin.
    if (this.button.hidden) {
      const next = this.shownRows()[before];
      next?.setAttribute("tabindex", "-1");
      next?.focus({ preventScroll: true });
    }
  }

  add(number) {
    this.home.insertAdjacentHTML("beforeend", this.found.slice(this.shown, this.shown + number).join(""));
    this.shown = Math.min(this.shown + number, this.found.length);
    this.label();
    this.offer();
  }

  offer() {
    if (!this.button) return;
    const left = this.length - this.shown;
    this.button.hidden = left === 0;
    const next = english(Math.min(left, STEP));
    this.button.textContent = `Show ${next} more ${left > STEP ? `of ${english(left)} ` : ""}${this.button.dataset.noun}`;
  }

  // A heading becomes a button: down, up, and back to the order of the page.
  makeSortable(head) {
    (this.heads ??= [])[head.cellIndex] = head;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("number");
      const steps = numeric ? ["descending", "ascending", ""] : ["ascending", "descending", ""];
      const next = steps[(steps.indexOf(head.getAttribute("aria-sort") ?? "") + 1) % steps.length];
      for (const other of all("th[aria-sort]", this.list)) other.removeAttribute("aria-sort");
      if (next) head.setAttribute("aria-sort", next);
      this.order = next ? { column: head.cellIndex, sign: next === "ascending" ? 1 : -1 } : null;
      this.choose();
    });
  }

  sorted(places) {
    const { column, sign } = this.order;
    const keyed = places.map((number) => [this.keyOf(this.rows[number], column), number]);
    const rank = ([key]) => key === "" ? 2 : typeof key === "number" ? 0 : 1;
    keyed.sort((a, b) => rank(a) - rank(b) || sign * (typeof a[0] === "number" ? a[0] - b[0] : inOrder.compare(a[0], b[0])) || a[1] - b[1]);
    return keyed.map(([, number]) => number);
  }

  keyOf(row, column) {
    const cell = row.match(/<t[hd][ >][^]*?<\/t[hd]>/g)?.[column] ?? "";
    return sortKey(/^<t[hd][^>]* data-value="([^"]*)"/.exec(cell)?.[1] ?? textOf(cell).trim());
  }
}
