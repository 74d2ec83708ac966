
"use strict";
(() => {
  // The state of the page is what the address says, with a filter for each of these keys.
  const keys = ["q", "state", "rule"];
  const byId = (id) => document.getElementById(id);
  const inputs = keys.map(byId).filter(Boolean);
  const q = byId("q"), status = byId("status"), found = byId("repositories");
  const numbers = new Intl.NumberFormat("en");
  const rows = [...document.querySelectorAll("li[data-state]")].map((el) => ({
    el,
    name: el.querySelector(".name").textContent,
    state: el.dataset.state,
  }));
  for (const row of rows) row.lower = row.name.toLowerCase();
  const lists = [...new Set(rows.map((row) => row.el.parentNode))];
  const total = new Set(rows.map((row) => row.name)).size;
  const violating = new Map(); // names by rule, of those that were chosen
  let state = {};

  // namesOf returns the names of the repositories that violate a rule, as the list below has them: a count and a name
  // in each line. To ask ten thousand rows for their rules would take a second.
  function namesOf(rule) {
    if (!violating.has(rule)) {
      const of = [...document.querySelectorAll("li[data-rule]")].find((el) => el.dataset.rule === rule);
      const lines = of ? of.querySelector(".names").textContent.split("\n") : [];
      violating.set(rule, new Set(lines.map((line) => line.replace(/^ *[0-9,]+ {2}/, ""))));
    }
    return violating.get(rule);
  }

  function read(hash) {
    const next = {};
    for (const [key, value] of new URLSearchParams(hash)) if (keys.includes(key) && value) next[key] = value;
    return next;
  }

  function address(s) {
    const p = new URLSearchParams();
    for (const key of keys) if (s[key]) p.set(key, s[key]);
    return "#" + (p.toString() || "repositories");
  }

  function matches(row, words) {
    return (!state.state || state.state === row.state) && words.every((w) => row.lower.includes(w)) &&
      (!state.rule || namesOf(state.rule).has(row.name));
  }

  function apply() {
    const words = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean), shown = new Set(), full = new Set();
    for (const row of rows) {
      const hide = !matches(row, words);
      if (row.el.hidden !== hide) row.el.hidden = hide;
      if (hide) continue;
      shown.add(row.name);
      full.add(row.el.parentNode);
    }
    for (const list of lists) list.hidden = !full.has(list);
    for (const el of inputs) if (document.activeElement !== q || el !== q) el.value = state[el.id] || "";
    byId("nothing").hidden = shown.size > 0;
    const of = shown.size === total ? "" : " of " + numbers.format(total);
    const said = numbers.format(shown.size) + of + (total === 1 ? " repository" : " repositories");
    if (status.textContent !== said) status.textContent = said;
  }

  // follow makes the page what the address says. An address that is a place in the page leaves the filters as they are.
  function follow() {
    const hash = location.hash.slice(1);
    if (hash.includes("=")) state = read(hash);
    else if (hash === "" || hash === "repositories") state = {};
    else if (status.textContent !== "") return;
    apply();
  }

  function go(next) {
    history.replaceState(null, "", address(next));
    state = next;
    apply();
  }

  let waiting = 0;
  q.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => go({ ...state, q: q.value.trim() }), total > 1000 ? 120 : 30);
  });
  for (const el of inputs) if (el !== q) el.addEventListener("change", () => go({ ...state, [el.id]: el.value }));
  addEventListener("hashchange", () => {
    follow();
    if (location.hash.includes("=")) found.scrollIntoView();
  });
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "/" && !(e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement)) {
      e.preventDefault();
      q.focus();
      q.select();
    } else if (e.key === "Escape" && keys.some((key) => state[key])) {
      clearTimeout(waiting);
      q.value = "";
      go({});
    }
  });

  // A rule links to its repositories, in the list above.
  for (const el of document.querySelectorAll("li[data-rule]")) {
    const p = document.createElement("p"), a = document.createElement("a");
    a.href = address({ rule: el.dataset.rule });
    a.textContent = "Show only these repositories";
    p.append(a);
    el.querySelector(".more").insertBefore(p, el.querySelector(".names"));
  }
  byId("filters").hidden = false;
  status.hidden = false;
  follow();
})();
