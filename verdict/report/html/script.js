
"use strict";
(() => {
  // The state of the page is what the address says: a filter for each of these keys, an
  // order, and the violation that is pointed at. A bare fingerprint is a violation alone.
  const keys = ["q", "rule", "folder", "severity", "status", "type", "owner", "sort"];
  const byId = (id) => document.getElementById(id);
  const selects = ["severity", "status-filter", "type", "owner", "sort"].map(byId).filter(Boolean);
  const keyOf = (select) => select.id.replace("-filter", "");
  const q = byId("q"), panel = byId("panel"), list = byId("groups"), found = list.parentNode;
  const numbers = new Intl.NumberFormat("en");

  // A folder is a prefix that ends in "/"; "x/./" is what stands in x/ itself.
  const base = (folder) => folder.replace(/(^|\/)\.\/$/, "$1");
  const within = (file, folder) =>
    folder === base(folder) ? file.startsWith(folder) : file.startsWith(base(folder)) && !file.includes("/", base(folder).length);
  const child = (file, parent) => {
    const slash = file.indexOf("/", parent.length);
    return slash < 0 ? parent + "./" : file.slice(0, slash + 1);
  };

  const groups = [...list.children].map((el, order) => {
    const { rule, type, owner, severity } = el.dataset;
    const head = el.querySelector("header");
    const items = [...el.querySelector("ol").children].map((item) => ({
      el: item,
      file: item.querySelector(".file").textContent.replace(/:\d+:\d+$/, ""),
      status: item.dataset.status || "",
      text: "", // made when it is first searched
    }));
    return { el, order, rule, type, owner, severity, head, items, count: head.querySelector(".count"), shown: 0 };
  });
  const total = groups.reduce((n, g) => n + g.items.length, 0);
  let state = {}, pointed = null, searchable = false;

  function read(hash) {
    const next = {};
    for (const [key, value] of new URLSearchParams(hash)) {
      if ((keys.includes(key) || key === "at") && value) next[key] = value;
    }
    return next;
  }

  function address(s) {
    const p = new URLSearchParams();
    for (const key of keys) if (s[key]) p.set(key, s[key]);
    if (!p.toString()) return "#" + (s.at || "violations");
    if (s.at) p.set("at", s.at);
    return "#" + p;
  }

  const change = (key, value) => ({ ...state, at: "", [key]: value });

  function make(name, text, className) {
    const el = document.createElement(name);
    if (text) el.textContent = text;
    if (className) el.className = className;
    return el;
  }

  function link(text, next) {
    const a = make("a", text);
    a.href = address(next);
    return a;
  }

  function bars(ul, key, counts, parent) {
    const rows = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const most = rows.reduce((n, r) => Math.max(n, r[1]), 1);
    ul.replaceChildren(...rows.map(([name, n]) => {
      const current = state[key] === name, a = link("", change(key, current ? parent : name));
      if (current) a.setAttribute("aria-current", "true");
      const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"), rect = document.createElementNS(ns, "rect");
      svg.setAttribute("aria-hidden", "true");
      rect.setAttribute("width", (100 * n) / most + "%");
      rect.setAttribute("height", "100%");
      svg.append(rect);
      a.append(make("span", name.slice(parent.length), "name"), " ", make("span", numbers.format(n), "num"), svg);
      const li = make("li");
      li.append(a);
      return li;
    }));
  }

  function crumbs(folder) {
    const p = byId("crumbs"), parts = [];
    for (let i = folder.indexOf("/"); i >= 0; i = folder.indexOf("/", i + 1)) parts.push(folder.slice(0, i + 1));
    p.replaceChildren();
    p.hidden = parts.length === 0;
    if (p.hidden) return;
    p.append(link("all", change("folder", "")));
    parts.forEach((at, i) => {
      const name = at.slice(i ? parts[i - 1].length : 0);
      p.append(" ", i === parts.length - 1 ? make("b", name) : link(name, change("folder", at)));
    });
  }

  function apply() {
    const words = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length && !searchable) {
      for (const g of groups) {
        const head = g.head.textContent.toLowerCase();
        for (const x of g.items) x.text = head + "\n" + x.el.textContent.toLowerCase();
      }
      searchable = true;
    }
    const folder = state.folder || "", parent = base(folder);
    const counts = { rule: new Map(), folder: new Map(), severity: new Map(), type: new Map(), owner: new Map(), status: new Map() };
    const add = (key, name) => counts[key].set(name, (counts[key].get(name) || 0) + 1);
    let shown = 0, rules = 0;
    for (const g of groups) {
      const misses = ["rule", "severity", "type", "owner"].filter((key) => state[key] && state[key] !== g[key]);
      let here = 0;
      for (const x of g.items) {
        const inside = !folder || within(x.file, folder), told = words.every((w) => x.text.includes(w));
        const labelled = !state.status || state.status === x.status;
        const missed = misses.length + !inside + !told + !labelled;
        // A bar or a choice counts what would be shown if it were chosen: what all other filters let through.
        if (missed === 0) {
          here++;
          for (const key of ["rule", "severity", "type", "owner"]) add(key, g[key]);
          add("status", x.status);
        } else if (missed === 1 && !labelled) add("status", x.status);
        else if (missed === 1 && misses.length) add(misses[0], g[misses[0]]);
        if (told && labelled && !misses.length && x.file.startsWith(parent)) add("folder", child(x.file, parent));
        const hide = missed > 0;
        if (x.el.hidden !== hide) x.el.hidden = hide;
      }
      g.shown = here;
      g.el.hidden = here === 0;
      g.count.textContent = here === g.items.length ? numbers.format(here) : numbers.format(here) + " of " + numbers.format(g.items.length);
      shown += here;
      if (here) rules++;
    }
    if (state.rule && !counts.rule.has(state.rule)) counts.rule.set(state.rule, 0);
    bars(byId("rule"), "rule", counts.rule, "");
    bars(byId("folder"), "folder", counts.folder, parent);
    crumbs(folder);
    order();
    for (const s of selects) {
      for (const o of s.options) {
        if (s.id !== "sort" && o.value) o.textContent = o.value + " (" + numbers.format(counts[keyOf(s)].get(o.value) || 0) + ")";
      }
      s.value = state[keyOf(s)] || "";
    }
    if (document.activeElement !== q) q.value = state.q || "";
    const chips = keys.filter((key) => state[key] && key !== "sort").map((key) => {
      const li = make("li"), a = link((key === "q" ? "search" : key) + ": " + state[key], change(key, ""));
      a.setAttribute("aria-label", "Remove the filter " + a.textContent);
      li.append(a);
      return li;
    });
    byId("chips").replaceChildren(...chips);
    byId("chips").hidden = chips.length === 0;
    byId("nothing").hidden = shown > 0;
    const things = total === 1 ? " violation" : " violations", of = rules === 1 ? " rule" : " rules";
    const said = (shown === total ? numbers.format(total) : numbers.format(shown) + " of " + numbers.format(total)) + things + ", " + numbers.format(rules) + of;
    if (byId("status").textContent !== said) byId("status").textContent = said;
  }

  function order() {
    const grave = ["critical", "high", "medium", "low"];
    const rank = (g) => (grave.includes(g.severity) ? grave.indexOf(g.severity) : grave.length);
    const by = { count: (a, b) => b.shown - a.shown, severity: (a, b) => rank(a) - rank(b) }[state.sort];
    const wanted = [...groups].sort((a, b) => (by ? by(a, b) : 0) || a.order - b.order);
    wanted.forEach((g, i) => {
      if (list.children[i] !== g.el) list.insertBefore(g.el, list.children[i]);
    });
  }

  function point(id) {
    if (pointed) pointed.classList.remove("at");
    pointed = id ? byId(id) : null;
    if (!pointed || !list.contains(pointed) || pointed.hidden) return;
    const el = pointed;
    el.classList.add("at");
    el.tabIndex = -1;
    el.focus({ preventScroll: true });
    // What stands above it is not laid out yet and takes its height when it is: again, until it stays.
    let left = 5;
    const scroll = () => {
      el.scrollIntoView({ block: "center" });
      if (--left) requestAnimationFrame(scroll);
    };
    scroll();
  }

  // follow makes the page what the address says. An address that is a place in the page,
  // not a violation, leaves the filters as they are.
  function follow() {
    const hash = location.hash.slice(1), el = byId(hash);
    if (hash.includes("=")) state = read(hash);
    else if (el && el.parentNode.parentNode.parentNode === list) state = { at: hash };
    else if (hash === "" || hash === "violations") state = {};
    else return;
    apply();
    point(state.at);
  }

  // catchUp follows an address that is new: the browser tells of one a moment after it is there.
  function catchUp() {
    if (location.hash !== address(state)) follow();
  }

  function go(next, replace) {
    history[replace ? "replaceState" : "pushState"](null, "", address(next));
    state = next;
    apply();
    point(state.at);
    if (!state.at && found.getBoundingClientRect().top < 0) found.scrollIntoView();
  }

  addEventListener("hashchange", () => {
    follow();
    if (!state.at && location.hash.includes("=") && found.getBoundingClientRect().top < 0) found.scrollIntoView();
  });

  let waiting = 0;
  q.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      catchUp();
      const had = Boolean(state.q);
      go(change("q", q.value.trim()), had && q.value.trim() !== "");
    }, total > 1000 ? 120 : 30);
  });
  for (const s of selects) s.addEventListener("change", () => {
    const value = s.value; // which catchUp may set to what the address says
    catchUp();
    go(change(keyOf(s), value));
  });

  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement;
    if (e.key === "/" && !typing) {
      e.preventDefault();
      panel.open = true;
      q.focus();
      q.select();
    } else if (e.key === "Escape" && Object.keys(state).some((key) => state[key])) {
      clearTimeout(waiting);
      q.value = "";
      go({});
    }
  });

  // A violation's link keeps the filters in the address, and copies the short one.
  list.addEventListener("click", (e) => {
    const a = e.target.closest("a.link");
    if (!a || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    const id = a.hash.slice(1), short = location.href.split("#")[0] + "#" + id;
    go({ ...state, at: id });
    if (navigator.clipboard) {
      navigator.clipboard.writeText(short).then(() => {
        a.textContent = "Link copied";
        byId("status").textContent = "Link copied";
        setTimeout(() => { a.textContent = "Link"; }, 2000);
      }, () => {});
    }
  });

  const narrow = matchMedia("(max-width: 56rem)");
  const fold = () => { panel.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  byId("filters").hidden = false;
  byId("state").hidden = false;
  follow();
  if (byId("status").textContent === "") apply(); // the address is a place in the page
})();
