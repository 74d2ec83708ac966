
"use strict";
(() => {
  // The state of the page is what the address says: a filter for each of these keys, an
  // order, and the place that is pointed at. A bare fingerprint is a place alone.
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
    const files = [...el.querySelectorAll(".in")].map((file) => ({
      el: file,
      path: file.querySelector(".file").textContent,
      items: [...file.querySelectorAll("li")].map((item) => ({
        el: item,
        n: Number(item.dataset.count || 1),
        status: item.dataset.status || "",
        text: "", // made when it is first searched
      })),
    }));
    const all = files.reduce((n, f) => f.items.reduce((n, x) => n + x.n, n), 0);
    return { el, order, rule, type, owner, severity, head, files, all, count: head.querySelector(".count"), rest: el.querySelector(".rest"), opened: false, shown: 0 };
  });
  const total = groups.reduce((n, g) => n + g.all, 0);
  const most = 10; // directories
  let every = false; // directory is shown
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

  function bars(ul, key, counts, parent, limit) {
    const rows = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const longest = rows.reduce((n, r) => Math.max(n, r[1]), 1);
    ul.replaceChildren(...rows.slice(0, limit).map(([name, n]) => {
      const current = state[key] === name, a = link("", change(key, current ? parent : name));
      if (current) a.setAttribute("aria-current", "true");
      const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"), rect = document.createElementNS(ns, "rect");
      svg.setAttribute("aria-hidden", "true");
      rect.setAttribute("width", (100 * n) / longest + "%");
      rect.setAttribute("height", "100%");
      svg.append(rect);
      a.append(make("span", name.slice(parent.length), "name"), " ", make("span", numbers.format(n), "num"), svg);
      const li = make("li");
      li.append(a);
      return li;
    }));
    return Math.max(rows.length - limit, 0);
  }

  function others(n) {
    const p = byId("others"), button = make("button", "and " + numbers.format(n) + (n === 1 ? " more directory" : " more directories"));
    button.addEventListener("click", () => {
      every = true;
      apply();
    });
    p.replaceChildren(button);
    p.hidden = n === 0;
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
        for (const f of g.files) for (const x of f.items) x.text = head + "\n" + f.path.toLowerCase() + ":" + x.el.textContent.toLowerCase();
      }
      searchable = true;
    }
    const folder = state.folder || "", parent = base(folder);
    const counts = { rule: new Map(), folder: new Map(), severity: new Map(), type: new Map(), owner: new Map(), status: new Map() };
    const add = (key, name, n) => counts[key].set(name, (counts[key].get(name) || 0) + n);
    const show = (el, is) => { if (el.hidden === is) el.hidden = !is; };
    const filtered = keys.some((key) => state[key] && key !== "sort");
    let shown = 0, rules = 0;
    for (const g of groups) {
      const misses = ["rule", "severity", "type", "owner"].filter((key) => state[key] && state[key] !== g[key]);
      let here = 0;
      let late = false; // a place that is folded is shown
      for (const f of g.files) {
        const inside = !folder || within(f.path, folder);
        let any = false;
        for (const x of f.items) {
          const told = words.every((w) => x.text.includes(w)), labelled = !state.status || state.status === x.status;
          const missed = misses.length + !inside + !told + !labelled;
          // A bar or a choice counts what would be shown if it were chosen: what all other filters let through.
          if (missed === 0) {
            here += x.n;
            any = true;
            for (const key of ["rule", "severity", "type", "owner"]) add(key, g[key], x.n);
            add("status", x.status, x.n);
          } else if (missed === 1 && !labelled) add("status", x.status, x.n);
          else if (missed === 1 && misses.length) add(misses[0], g[misses[0]], x.n);
          if (told && labelled && !misses.length && f.path.startsWith(parent)) add("folder", child(f.path, parent), x.n);
          show(x.el, missed === 0);
        }
        show(f.el, any);
        late = late || (any && f.el.parentNode === g.rest);
      }
      if (g.rest) {
        show(g.rest, late);
        if (filtered && late && !g.rest.open) g.rest.open = g.opened = true;
        else if (!filtered && g.opened) g.rest.open = g.opened = false;
      }
      g.shown = here;
      g.el.hidden = here === 0;
      g.count.textContent = here === g.all ? numbers.format(here) : numbers.format(here) + " of " + numbers.format(g.all);
      shown += here;
      if (here) rules++;
    }
    if (state.rule && !counts.rule.has(state.rule)) counts.rule.set(state.rule, 0);
    bars(byId("rule"), "rule", counts.rule, "", Infinity);
    others(bars(byId("folder"), "folder", counts.folder, parent, every ? Infinity : most));
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
      const li = make("li"), a = link(({ q: "search", folder: "directory" }[key] || key) + ": " + state[key], change(key, ""));
      a.setAttribute("aria-label", "Remove the filter " + a.textContent);
      li.append(a);
      return li;
    });
    byId("chips").replaceChildren(...chips);
    byId("chips").hidden = chips.length === 0;
    byId("nothing").hidden = shown > 0;
    const things = total === 1 ? " place" : " places", of = rules === 1 ? " rule" : " rules";
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
    const folded = pointed.closest("details");
    if (folded) folded.open = true;
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
  // not one to fix, leaves the filters as they are.
  function follow() {
    const hash = location.hash.slice(1), el = byId(hash);
    if (hash.includes("=")) state = read(hash);
    else if (el && el.localName === "li" && list.contains(el)) state = { at: hash };
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

  // A place's link keeps the filters in the address, and copies the short one.
  list.addEventListener("click", (e) => {
    const a = e.target.closest("a.link");
    if (!a || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    const id = a.hash.slice(1), short = location.href.split("#")[0] + "#" + id;
    go({ ...state, at: id });
    if (navigator.clipboard) {
      navigator.clipboard.writeText(short).then(() => {
        byId("status").textContent = "Link copied";
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
