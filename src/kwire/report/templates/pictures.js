// Values of a picture for a pointer, a finger and the arrow keys, and zoom of what stands on the time axis.

const titleOf = (mark) => mark.querySelector("title")?.textContent ?? "";

function readPictures() {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true"); // a screen reader hears the same in #said
  document.body.append(tip);
  let lit = null;
  const hide = () => { tip.hidden = true; lit?.classList.remove("lit"); lit = null; };
  const show = (mark, aloud) => {
    if (!titleOf(mark)) return hide();
    if (mark !== lit) { lit?.classList.remove("lit"); lit = mark; mark.classList.add("lit"); }
    tip.textContent = titleOf(mark);
    tip.hidden = false;
    const place = mark.getBoundingClientRect();
    const left = Math.min(Math.max(8, place.x + place.width / 2 - tip.offsetWidth / 2), document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(place.y > tip.offsetHeight + 12 ? place.y - tip.offsetHeight - 6 : place.bottom + 6) + scrollY}px`;
    if (aloud) document.getElementById("said").textContent = titleOf(mark);
  };
  const near = (event) => event.target.closest?.(".mark") ?? null;
  for (const kind of ["pointerover", "pointerdown"]) {
    document.addEventListener(kind, (event) => { const mark = near(event); if (mark) show(mark); else if (lit && !event.target.closest?.(".chart:focus")) hide(); });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const chart = event.target.closest?.("svg.chart");
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!chart || !step) return;
    const marks = all(".mark", chart).filter(titleOf);
    if (!marks.length) return;
    event.preventDefault();
    const now = marks.indexOf(lit);
    show(marks[now < 0 ? (step > 0 ? 0 : marks.length - 1) : (now + step + marks.length) % marks.length], true);
  });
  document.addEventListener("focusout", (event) => { if (event.target.closest?.("svg.chart")) hide(); });
  for (const figure of all("[data-zoom]")) makeZoom(figure);
  reachCharts(document);
}

// A chart with values is a stop of the Tab key; the arrow keys walk through its marks.
function reachCharts(inside) {
  for (const chart of all("svg.chart", inside)) {
    if (!chart.querySelector(".mark")) continue;
    chart.setAttribute("tabindex", "0");
    chart.setAttribute("aria-roledescription", "chart; arrow keys read its values");
    for (const other of all(".axis, .text-overlay", chart)) other.setAttribute("aria-hidden", "true");
  }
}

// All strips of a figure show the same time: from one step to another, chosen with two handles or by dragging over a strip.
function makeZoom(figure) {
  const steps = Number(figure.dataset.steps);
  const [from, to, axis] = [figure.querySelector("[data-zoom-from]"), figure.querySelector("[data-zoom-to]"), all("[data-axis]", figure)];
  const strips = all("svg.strip", figure);
  const boxes = strips.map((strip) => strip.getAttribute("viewBox").split(" ").map(Number));
  const when = (place) => new Date((Number(figure.dataset.start) + place * Number(figure.dataset.step)) * 1000).toISOString().slice(0, 19).replace("T", " ");
  const draw = () => {
    const [left, right] = [Number(from.value), Number(to.value)];
    strips.forEach((strip, place) => {
      const [, , width, height] = boxes[place];
      strip.setAttribute("viewBox", `${width * left / steps} 0 ${width * (right - left) / steps} ${height}`);
    });
    axis[0].textContent = when(left);
    axis[1].textContent = `${when(right)} UTC`;
    from.setAttribute("aria-valuetext", when(left));
    to.setAttribute("aria-valuetext", when(right));
    figure.querySelector("[data-zoom-all]").disabled = left === 0 && right === steps;
  };
  const zoom = (left, right) => { from.value = left; to.value = right; draw(); };
  from.addEventListener("input", () => zoom(Math.min(Number(from.value), Number(to.value) - 1), to.value));
  to.addEventListener("input", () => zoom(from.value, Math.max(Number(to.value), Number(from.value) + 1)));
  figure.querySelector("[data-zoom-all]").addEventListener("click", () => zoom(0, steps));
  let begun = null;
  const stepAt = (strip, event) => {
    const box = strip.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - box.x) / box.width));
    return Number(from.value) + part * (Number(to.value) - Number(from.value));
  };
  for (const strip of strips) {
    strip.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse") begun = [strip, stepAt(strip, event)]; });
  }
  document.addEventListener("pointerup", (event) => {
    if (!begun) return;
    const [strip, start] = begun;
    const [left, right] = [start, stepAt(strip, event)].sort((a, b) => a - b);
    begun = null;
    if (right - left >= 1) zoom(Math.floor(left), Math.ceil(right));
  });
  figure.querySelector(".zoom-tools").hidden = steps < 3;
  draw();
}
