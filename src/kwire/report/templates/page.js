// The address: a section, then what is chosen in each list and which client is open: #clients?clients.q=java&clients.is=breaks&client=KEY

const lists = {};
let isReading = false;

function readAddress() {
  const text = location.hash.slice(1);
  const [section, query] = /^[\w-]*=/.test(text) ? ["", text] : [text.split("?")[0], text.split("?").slice(1).join("?")];
  return [section, new URLSearchParams(query)];
}

// Write what is chosen into the address, without an entry in the history: the way back leads to where the reader came from.
function keepState() {
  if (isReading) return;
  const [section, before] = readAddress();
  const parts = [];
  for (const list of Object.values(lists)) {
    if (list.name) for (const [key, value] of Object.entries(list.state)) parts.push(`${list.name}.${key}=${encodeURIComponent(value)}`);
  }
  if (before.get("client")) parts.push(`client=${encodeURIComponent(before.get("client"))}`);
  const hash = section + (parts.length ? (section ? "?" : "") + parts.join("&") : "");
  if (hash !== location.hash.slice(1)) history.replaceState(null, "", `#${hash}`);
}

// Do what the address says.
async function followAddress() {
  isReading = true;
  const [section, query] = readAddress();
  const wanted = {};
  for (const [key, value] of query) {
    const [, name, part] = /^([\w-]+)\.([\w-]+)$/.exec(key) ?? [];
    if (name) (wanted[name] ??= {})[part] = value;
  }
  for (const list of Object.values(lists)) {
    if (list.name && (wanted[list.name] || Object.keys(list.state).length)) await list.set(wanted[list.name] ?? {});
  }
  isReading = false;
  const target = section && document.getElementById(section);
  if (target) {
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    const fold = target.querySelector(":scope > .fold");
    if (fold) fold.open = true;
    if (query.size || fold) target.scrollIntoView();
  }
  await openClient(query.get("client"));
}

// All that is known of a client, beside the page: the inside of its row, also of a row that is not shown.
async function openClient(key) {
  const drawer = document.getElementById("drawer");
  if (!drawer) return;
  if (key === null) { if (drawer.open) drawer.close(); return; }
  const list = lists["client-table"];
  await list.load();
  const row = list.rows.find((one) => attributeOf(one, "client") === attributeWritten(key));
  if (!row) return;
  // A document apart, in which nothing loads or runs; what comes out of it was written by the page's maker.
  const apart = new DOMParser().parseFromString(`<table>${row}</table>`, "text/html");
  const line = document.createElement("p");
  line.className = "drawer-line";
  for (const cell of all("td.at", apart)) {
    const part = document.createElement("span");
    part.append(document.createTextNode(`${cell.dataset.v} `), ...cell.childNodes);
    line.append(part);
  }
  document.getElementById("drawer-title").replaceChildren(...apart.querySelector(".who").childNodes);
  document.getElementById("drawer-body").replaceChildren(apart.querySelector("th .what") ?? "", line, ...apart.querySelector(".inside").childNodes);
  if (!drawer.open) drawer.showModal();
  drawer.scrollTop = 0;
  document.getElementById("drawer-title").focus();
}

function closeClient() {
  const [section, query] = readAddress();
  query.delete("client");
  const rest = query.toString();
  history.replaceState(null, "", `#${section}${rest ? (section ? "?" : "") + rest : ""}`);
}

async function copy(text, button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Not allowed here, as on a page that came without encryption: the old way.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr";
    (button.closest("dialog") ?? document.body).append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const said = done ? "Copied" : "The browser does not let this page copy: open the text and select it";
  document.getElementById("said").textContent = said;
  button.dataset.done = done ? "✓ copied" : "not copied";
  setTimeout(() => delete button.dataset.done, 2500);
}

async function ticketsOf(team) {
  const found = [];
  for (const list of Object.values(lists).filter((one) => one.id.startsWith("tickets-"))) {
    await list.load();
    const rows = list.rows.filter((row) => attributeOf(row, "team") === team);
    const apart = new DOMParser().parseFromString(`<table>${rows.join("")}</table>`, "text/html");
    found.push(...all(".ticket", apart).map((one) => one.textContent));
  }
  return found.join("\n\n---\n\n");
}

// Light, dark, or as the system has it. A browser may forbid storage to a file: then the choice lasts as long as the page.
function chooseTheme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  for (const button of all("[data-theme-choice]")) button.setAttribute("aria-pressed", String(button.dataset.themeChoice === name));
}
function storedTheme(name) {
  try {
    if (name) localStorage.setItem("kwire-theme", name);
    return localStorage.getItem("kwire-theme") ?? "auto";
  } catch {
    return name ?? "auto";
  }
}
chooseTheme(storedTheme());

// On a phone, the sections after the clients are closed until the reader opens them.
function foldSections() {
  if (!matchMedia("screen and (max-width: 44rem)").matches) return;
  for (const section of all("main > section:not(#actions, #clients)")) {
    const box = document.createElement("details");
    const head = document.createElement("summary");
    box.className = "fold";
    head.append(section.querySelector("h2"));
    box.append(head, ...section.childNodes);
    section.append(box);
  }
}

function begin() {
  document.documentElement.classList.add("js");
  foldSections();
  for (const list of all("[data-long]")) lists[list.id] = new LongList(list);
  for (const table of all("table.rows:not([data-long])")) labelCells(table);
  all(".theme").forEach((one) => { one.hidden = false; });
  chooseTheme(storedTheme());
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) {
      // The link of a client opens it over whatever is chosen.
      const link = event.target.closest('a[href^="#client="]');
      if (link && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        const [section, query] = readAddress();
        query.set("client", decodeURIComponent(link.getAttribute("href").slice(8)));
        history.pushState(null, "", `#${section}${section ? "?" : ""}${query}`);
        openClient(query.get("client"));
        return;
      }
      // A link to what a list shows when it is searched or filtered.
      const choice = event.target.closest("a[data-go]");
      if (choice && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        document.getElementById("drawer")?.close();
        location.hash = `${choice.getAttribute("href")}?${choice.dataset.go}`;
      } else if (event.target.id === "drawer") event.target.close();
      else if (event.target.closest("dialog a")) document.getElementById("drawer").close();
      return;
    }
    if (button.dataset.copy !== undefined) copy(button.closest("tr").querySelector(".ticket").textContent, button);
    if (button.dataset.copyNear !== undefined) copy(button.parentElement.querySelector("code").textContent, button);
    if (button.dataset.copyLink !== undefined) copy(location.href, button);
    if (button.dataset.copyTeam !== undefined) ticketsOf(button.dataset.copyTeam).then((text) => copy(text, button));
    if (button.dataset.closeDrawer !== undefined) document.getElementById("drawer").close();
    if (button.dataset.themeChoice) chooseTheme(storedTheme(button.dataset.themeChoice));
  });
  document.getElementById("drawer")?.addEventListener("close", closeClient);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select, textarea, dialog[open]")) return;
    const field = document.getElementById("client-search");
    if (field) { event.preventDefault(); field.focus(); }
  });
  window.addEventListener("hashchange", followAddress);
  readPictures();
  if (location.hash) followAddress();
  // The section that is read is marked in the list of sections.
  const links = all("nav a");
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) {
      for (const link of links) { if (link.hash === `#${entry.target.id}`) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current"); };
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const section of all("main > section, #summary")) seen.observe(section);
}

document.addEventListener("DOMContentLoaded", begin);
