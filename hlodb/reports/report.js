// Makes the pictures and tables of a page explorable. The page says everything without
// it; it loads nothing, stores nothing and evaluates nothing.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const SVG = "http://www.w3.org/2000/svg";
  const SOME_COLOURS = [
    "#3f7fc1", "#e3923f", "#3a9a60", "#c0405f", "#7b5fb8",
    "#96784c", "#23999b", "#f0c68a", "#86b6e3", "#5f6b78",
  ];
  const OTHER_COLOUR = "#c3c8ce";
  const KINDS = { role: "role", line: "source line", type: "element type" };
  const WIDEST = 64;

  const make = (name, attributes = {}, ...content) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made.setAttribute(key, value);
    }
    made.append(...content);
    return made;
  };
  const button = (text, label, onclick) =>
    make("button", { type: "button", "aria-label": label, title: label, onclick }, text);

  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  const size = (bytes) => {
    let power = 0;
    let left = bytes;
    while (left >= 1024 && power < UNITS.length - 1) [left, power] = [left / 1024, power + 1];
    return `${power ? left.toFixed(2) : left} ${UNITS[power]}`;
  };
  // Numbers sort by what they amount to, in any unit; all else as text.
  const amount = (text) => {
    const found = /^([+-]?[\d,]+(?:\.\d+)?)(?: ?(%|ms|B|[KMGTPE]iB))?(?: |$)/.exec(text);
    if (!found) return null;
    return Number(found[1].replaceAll(",", "")) * 1024 ** Math.max(UNITS.indexOf(found[2]), 0);
  };
  const quoted = (text) =>
    /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

  // --- Values of the arena maps -------------------------------------------------------
  const maps = all("svg.map");
  const rects = all("svg.map .value > rect");
  const told = new Map();
  const byName = new Map();
  let pinned = null;

  const figureOf = (element) => element.closest("figure");
  const wordsOf = (rect) => told.get(rect);

  const show = (rect) => {
    const place = figureOf(rect).querySelector(".told");
    const lines = wordsOf(rect).split("; ").map((line) => make("li", {}, line));
    place.replaceChildren(make("ul", {}, ...lines));
    if (rect === pinned) place.append(make("code", {}, commandOf(rect)));
  };
  const commandOf = (rect) => {
    const { run, program } = rect.closest(".map").dataset;
    const name = rect.dataset.name.replace(/\{.*$/, "");
    const asked = Object.entries({ run, program, instruction: name });
    const given = asked.filter(([, value]) => value);
    const parameters = given.map(([key, value]) => ` -p ${key}=${quoted(value)}`);
    return `hlodb query instruction_neighbours${parameters.join("")}`;
  };
  const leave = (rect) => {
    const figure = figureOf(rect);
    if (pinned && figureOf(pinned) === figure) show(pinned);
    else figure.querySelector(".told").replaceChildren();
  };
  const pin = (rect) => {
    const before = pinned;
    pinned = rect === pinned ? null : rect;
    for (const each of [before, pinned]) {
      each?.setAttribute("aria-pressed", String(each === pinned));
      each?.classList.toggle("pinned", each === pinned);
    }
    if (before && figureOf(before) !== (pinned && figureOf(pinned))) leave(before);
    show(rect);
    const hash = pinned ? `#buffer=${encodeURIComponent(pinned.dataset.name)}` : "#";
    history.replaceState(null, "", hash);
  };
  const focus = (rect) => {
    for (const each of all('rect[tabindex="0"]', rect.closest(".map"))) each.tabIndex = -1;
    rect.tabIndex = 0;
    rect.focus();
  };
  const middle = (rect) => {
    const [x, y, width, height] = ["x", "y", "width", "height"].map((n) => rect[n].baseVal.value);
    return [x + width / 2, y + height / 2];
  };
  // The nearest value in a direction: steps aside count more than those ahead.
  const beside = (rect, across, down) => {
    const [x, y] = middle(rect);
    let [best, least] = [rect, Infinity];
    for (const each of all(".value > rect", rect.closest(".map"))) {
      const [otherX, otherY] = middle(each);
      const ahead = (otherX - x) * across + (otherY - y) * down;
      const aside = Math.abs((otherX - x) * down) + Math.abs((otherY - y) * across);
      if (ahead > 0.01 && ahead + 3 * aside < least) [best, least] = [each, ahead + 3 * aside];
    }
    return best;
  };
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const press = (event) => {
    const rect = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in ARROWS) focus(beside(rect, ...ARROWS[event.key]));
    else if (event.key === "Enter" || event.key === " ") pin(rect);
    else if (event.key === "Escape" && pinned) pin(pinned);
    else if (event.key === "+" || event.key === "=") zoom(figureOf(rect), 0.5, middle(rect));
    else if (event.key === "-") zoom(figureOf(rect), 2, middle(rect));
    else if (event.key === "0") zoom(figureOf(rect), 0);
    else return;
    event.preventDefault();
  };
  for (const rect of rects) {
    const title = rect.querySelector("title");
    told.set(rect, title.textContent);
    title.remove();
    rect.setAttribute("role", "button");
    rect.setAttribute("aria-label", told.get(rect));
    rect.setAttribute("aria-pressed", "false");
    rect.tabIndex = -1;
    if (rect.dataset.name && !byName.has(rect.dataset.name)) byName.set(rect.dataset.name, rect);
    rect.addEventListener("pointerenter", () => show(rect));
    rect.addEventListener("pointerleave", () => leave(rect));
    rect.addEventListener("focus", () => show(rect));
    rect.addEventListener("click", () => { focus(rect); pin(rect); });
    rect.addEventListener("keydown", press);
  }
  // Of several values of a name, a link means that of the candidate, drawn last.
  for (const rect of rects) {
    const first = byName.get(rect.dataset.name);
    if (first && figureOf(first) === figureOf(rect)) byName.set(rect.dataset.name, rect);
  }
  for (const map of maps) {
    map.ownerSVGElement.setAttribute("role", "group");
    map.ownerSVGElement.removeAttribute("aria-describedby");
    // It is entered, and scrolled, by its values.
    map.closest(".wide").removeAttribute("tabindex");
    const values = all(".value > rect", map);
    const largest = values.toSorted((a, b) => b.dataset.bytes - a.dataset.bytes)[0];
    if (largest) largest.tabIndex = 0;
  }

  // --- Zoom: base and candidate show the same steps and bytes --------------------------
  const windows = new Map();
  const zoom = (figure, factor, at) => {
    const found = all(".map", figure);
    let [x, y, width, height] = windows.get(figure) ?? [0, 0, 1, 1];
    const smaller = factor ? Math.min(1, Math.max(1 / WIDEST, width * factor)) : 1;
    if (at && factor) {
      const box = found.map(boxOf).find((b) => at[1] >= b[1] && at[1] <= b[1] + b[3]) ?? boxOf(found[0]);
      [x, y] = [(at[0] - box[0]) / box[2], (at[1] - box[1]) / box[3]];
    } else [x, y] = [x + width / 2, y + height / 2];
    [width, height] = [smaller, smaller];
    x = Math.min(Math.max(0, x - width / 2), 1 - width);
    y = Math.min(Math.max(0, y - height / 2), 1 - height);
    look(figure, [x, y, width, height]);
  };
  const boxOf = (map) => ["x", "y", "width", "height"].map((name) => map[name].baseVal.value);
  const look = (figure, [x, y, width, height]) => {
    windows.set(figure, [x, y, width, height]);
    figure.classList.toggle("zoomed", width < 1);
    for (const map of all(".map", figure)) {
      const [left, top, wide, high] = boxOf(map);
      map.setAttribute(
        "viewBox", [left + x * wide, top + y * high, width * wide, height * high].join(" ")
      );
    }
    for (const map of all(".map", figure)) scale(map, width < 1 ? [x, y, width, height] : null);
    const { steps, bytes } = figure.querySelector(".map").dataset;
    const part = [x * steps, (x + width) * steps].map(Math.round).join(" to ");
    const from = size(Math.round((1 - y - height) * bytes));
    const to = size(Math.round((1 - y) * bytes));
    figure.querySelector(".range").textContent = width < 1 ? `Steps ${part}, ${from} to ${to}` : "";
  };

  // A part of a map has ticks of its own, in place of those of the whole.
  const text = (content, x, y, kind) => {
    const made = drawn("text", { x, y, class: kind });
    made.textContent = content;
    return made;
  };
  const drawn = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const roundSteps = (low, high, unit) => {
    const least = Math.max((high - low) / unit / 5, Number.EPSILON);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9)) * power * unit;
    const count = Math.floor(high / step) - Math.ceil(low / step) + 1;
    return [...Array(Math.max(count, 0)).keys()].map((n) => (Math.ceil(low / step) + n) * step);
  };
  const scale = (map, part) => {
    map.parentNode.querySelector(`:scope > .scale[data-of="${maps.indexOf(map)}"]`)?.remove();
    if (!part) return;
    const [x, y, width, height] = part;
    const [left, top, wide, high] = boxOf(map);
    const { steps, bytes } = map.dataset;
    const group = drawn("g", { class: "scale", "data-of": maps.indexOf(map) });
    for (const step of roundSteps(x * steps, (x + width) * steps, 1)) {
      if (step % 1) continue;
      const at = left + ((step / steps - x) / width) * wide;
      group.append(drawn("line", { x1: at, x2: at, y1: top, y2: top + high + 4, class: "rule" }));
      group.append(text(step.toLocaleString("en"), at, top + high + 16, "mark middle"));
    }
    const [low, highest] = [(1 - y - height) * bytes, (1 - y) * bytes];
    const unit = 1024 ** Math.min(Math.floor(Math.log(Math.max(highest, 1)) / Math.log(1024)), UNITS.length - 1);
    for (const level of roundSteps(low, highest, unit)) {
      const at = top + ((1 - level / bytes - y) / height) * high;
      group.append(drawn("line", { x1: left, x2: left + wide, y1: at, y2: at, class: "rule" }));
      group.append(text(String(Number((level / unit).toPrecision(6))), left - 6, at + 4, "mark end"));
    }
    map.before(group);
  };

  // A box drawn with the pointer is what is looked at next; a double click goes back.
  const dragged = (figure, svg) => {
    let [map, from, box, hasMoved] = [null, null, null, false];
    const share = (event, found) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const [left, top, wide, high] = boxOf(found);
      return [(at.x - left) / wide, (at.y - top) / high];
    };
    const mapAt = (event) =>
      all(".map", svg).find((found) => share(event, found).every((part) => part >= 0 && part <= 1));
    const inside = (event) => share(event, map).map((part) => Math.min(Math.max(part, 0), 1));
    svg.addEventListener("pointerdown", (event) => {
      map = event.button === 0 && event.pointerType !== "touch" ? mapAt(event) : null;
      hasMoved = false;
      if (map) from = inside(event);
    });
    addEventListener("pointermove", (event) => {
      if (!map) return;
      const to = inside(event);
      const [wide, high] = [Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])];
      hasMoved ||= wide > 0.01 || high > 0.02;
      if (!hasMoved) return;
      if (!box) map.after((box = drawn("rect", { class: "picked" })));
      const [left, top, width, height] = boxOf(map);
      const places = {
        x: left + Math.min(from[0], to[0]) * width, y: top + Math.min(from[1], to[1]) * height,
        width: wide * width, height: high * height,
      };
      for (const [key, value] of Object.entries(places)) box.setAttribute(key, value);
    });
    addEventListener("pointerup", (event) => {
      if (!map) return;
      const to = inside(event);
      const at = windows.get(figure) ?? [0, 0, 1, 1];
      const part = Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1]), 1 / WIDEST / at[2]);
      if (box) {
        const size = Math.min(part * at[2], 1);
        const middleOf = (n) => at[n] + ((from[n] + to[n]) / 2) * at[n + 2];
        const place = (n) => Math.min(Math.max(middleOf(n) - size / 2, 0), 1 - size);
        look(figure, [place(0), place(1), size, size]);
      }
      box?.remove();
      [map, box] = [null, null];
    });
    svg.addEventListener("click", (event) => {
      if (hasMoved) event.stopPropagation();
      hasMoved = false;
    }, { capture: true });
    svg.addEventListener("dblclick", (event) => {
      if (mapAt(event)) zoom(figure, 0);
    });
  };

  // --- One step cursor on every picture of a finding ------------------------------------
  const scopeOf = (figure) => figure.closest("article, section");
  const moveTo = (scope, step) => {
    const levels = [];
    for (const path of all("path[data-points]", scope)) {
      const { points, width, from, to, steps } = path.dataset;
      const x = Number(from) + ((step + 0.5) / steps) * (to - from);
      cursor(path.ownerSVGElement, x, 70, 270);
      const name = path.classList.contains("base") ? "base" : nameOf(path);
      const level = points.split(" ")[Math.floor(step / width)];
      levels.push(`${name} ${level === undefined ? "ended" : size(Number(level))}`);
    }
    for (const map of all(".map", scope)) {
      const [left, top, wide, high] = boxOf(map);
      cursor(map, left + ((step + 0.5) / map.dataset.steps) * wide, top, top + high);
    }
    for (const input of all(".step input", scope)) input.value = step;
    const text = [`step ${step}`, ...levels].join(", ");
    for (const output of all(".step output", scope)) output.textContent = text;
  };
  const nameOf = (path) =>
    path.closest("section")?.querySelector(".curve.base") ? "candidate" : "live";
  const cursor = (svg, x, top, bottom) => {
    let line = svg.querySelector(":scope > .cursor");
    if (!line) {
      line = document.createElementNS(SVG, "line");
      line.setAttribute("class", "cursor");
      svg.append(line);
    }
    const places = { x1: x, x2: x, y1: top, y2: bottom };
    for (const [key, value] of Object.entries(places)) line.setAttribute(key, value);
  };
  const stepTool = (figure, steps) => {
    const scope = scopeOf(figure);
    const oninput = (event) => moveTo(scope, Number(event.target.value));
    const input = make("input", { type: "range", min: 0, max: steps - 1, value: 0, oninput });
    return make("label", { class: "step" }, "Step ", input, make("output", {}, "move to read a step"));
  };

  // --- Colours ---------------------------------------------------------------------------
  const colour = (figure, kind) => {
    const values = all(".value > rect", figure);
    const counts = new Map();
    for (const rect of values) {
      const name = rect.dataset[kind] ?? "unknown";
      counts.set(name, (counts.get(name) ?? 0) + Number(rect.dataset.bytes));
    }
    const names = [...counts.keys()].filter((name) => name !== "unknown");
    names.sort((a, b) => counts.get(b) - counts.get(a));
    const of = (name) => SOME_COLOURS[names.indexOf(name)] ?? OTHER_COLOUR;
    for (const rect of values) {
      if (kind === "change") rect.removeAttribute("style");
      else {
        rect.style.fill = of(rect.dataset[kind] ?? "unknown");
        rect.style.fillOpacity = 0.85;
      }
    }
    for (const keys of all(".keys", figure)) keys.setAttribute("visibility", kind === "change" ? "visible" : "hidden");
    const shown = kind === "change" ? [] : names.slice(0, SOME_COLOURS.length);
    if (names.length > shown.length && shown.length) shown.push("others");
    const legend = shown.map((name) => {
      const sample = make("span", { class: "sample" });
      sample.style.background = of(name);
      return make("li", {}, sample, name.replaceAll("_", " "));
    });
    figure.querySelector(".legend").replaceChildren(...legend);
  };

  for (const figure of new Set(maps.map(figureOf))) {
    const kinds = Object.entries(KINDS).filter(([kind]) => figure.querySelector(`[data-${kind}]`));
    // One program by itself has no changes.
    const isCompared = figure.querySelector(".keys") !== null;
    const offered = isCompared || !kinds.length ? [["change", "change"], ...kinds] : kinds;
    const options = offered.map(([value, text]) => make("option", { value }, text));
    const onchange = (event) => colour(figure, event.target.value);
    const svg = figure.querySelector("svg");
    const steps = Number(figure.querySelector(".map").dataset.steps);
    svg.parentNode.before(
      make(
        "div", { class: "tools" },
        button("+", "Zoom in", () => zoom(figure, 0.5, pinned && figureOf(pinned) === figure && middle(pinned))),
        button("−", "Zoom out", () => zoom(figure, 2)),
        button("whole", "Show the whole map", () => zoom(figure, 0)),
        make("span", { class: "range" }),
        make("label", {}, "Colour by ", make("select", { onchange }, ...options)),
        stepTool(figure, steps)
      ),
      make("ul", { class: "legend" })
    );
    colour(figure, offered[0][0]);
    svg.parentNode.after(make("div", { class: "told", role: "status" }, "Point at a value, or reach it with Tab and the arrow keys; Enter pins it. Drag a box to zoom, double click to go back."));
    dragged(figure, svg);
    svg.addEventListener("wheel", (event) => {
      const map = event.target.closest(".map");
      if (!map || !event.ctrlKey) return;
      event.preventDefault();
      const box = map.getBoundingClientRect();
      const [left, top, wide, high] = boxOf(map);
      const [x, y, width, height] = windows.get(figure) ?? [0, 0, 1, 1];
      const across = x + ((event.clientX - box.left) / box.width) * width;
      const down = y + ((event.clientY - box.top) / box.height) * height;
      zoom(figure, event.deltaY < 0 ? 0.8 : 1.25, [left + across * wide, top + down * high]);
    }, { passive: false });
  }
  for (const path of all("path[data-points]")) {
    const figure = figureOf(path);
    const svg = path.ownerSVGElement;
    if (!figure.querySelector(".step")) {
      svg.before(make("div", { class: "tools" }, stepTool(figure, Number(path.dataset.steps))));
      svg.addEventListener("pointermove", (event) => {
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
        const { from, to, steps } = path.dataset;
        const step = Math.floor(((at.x - from) / (to - from)) * steps);
        if (step >= 0 && step < steps) moveTo(scopeOf(figure), step);
      });
    }
  }

  // --- Tables: sort, filter, search ------------------------------------------------------
  const sort = (head, column) => {
    const down = head.getAttribute("aria-sort") === "descending";
    const body = head.closest("table").tBodies[0];
    for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "ascending" : "descending");
    const texts = new Map([...body.rows].map((row) => [row, row.cells[column].textContent]));
    const isLast = (row) => /(^|\t)\[[\d,]+( or more)? others?\]/.test([...row.cells].map((c) => c.textContent).join("\t"));
    const compare = (a, b) => {
      const [left, right] = [texts.get(a), texts.get(b)];
      const [first, second] = [amount(left), amount(right)];
      if (isLast(a) !== isLast(b)) return isLast(a) ? 1 : -1;
      if ((first === null) !== (second === null)) return first === null ? 1 : -1;
      const order = first === null ? left.localeCompare(right) : first - second;
      return down ? order : -order;
    };
    body.append(...[...body.rows].sort(compare));
  };
  const matches = (text, words) => words.every((word) => text.toLowerCase().includes(word));
  const wordsIn = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
  let searched = [];
  const filter = (table) => {
    const tools = table.closest(".wide").previousElementSibling;
    const own = wordsIn(tools?.querySelector?.(".filter")?.value ?? "");
    let count = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !matches(row.textContent, [...own, ...searched]);
      count += !row.hidden;
    }
    const isAll = count === table.tBodies[0].rows.length;
    const said = isAll ? "" : count ? `${count} of ${table.tBodies[0].rows.length} rows` : "no row matches";
    if (own.length) tools.querySelector("output").textContent = said;
    else tools?.querySelector?.(".filter ~ output")?.replaceChildren();
    const isEmpty = !count && table.tBodies[0].rows.length > 0;
    table.querySelector("caption")?.remove();
    if (isEmpty) table.createCaption().textContent = "No row matches.";
    return count;
  };
  for (const table of all("table")) {
    for (const head of all("thead th", table)) {
      const name = head.textContent;
      head.replaceChildren(make("button", { type: "button", onclick: () => sort(head, head.cellIndex) }, name));
    }
    if (table.tBodies[0].rows.length > 12) {
      const title = table.closest(".wide").getAttribute("aria-label");
      const input = make("input", {
        class: "filter", type: "search", placeholder: "Filter rows",
        "aria-label": `Filter rows: ${title}`, oninput: () => filter(table),
      });
      table.closest(".wide").before(make("div", { class: "tools" }, input, make("output", { role: "status" })));
    }
    for (const cell of all("tbody td, tbody th", table)) {
      const name = cell.textContent;
      if (byName.has(name) && !cell.querySelector("a")) {
        cell.replaceChildren(make("a", { href: `#buffer=${encodeURIComponent(name)}` }, name));
      }
    }
  }
  const parts = all(".part");
  const unfolded = new Set();
  let hits = [];
  let hit = -1;
  // What is found is unfolded, and folded again when nothing is searched for.
  const unfold = () => {
    for (const details of unfolded) details.open = false;
    unfolded.clear();
    for (const details of searched.length ? all("main details:not(.figures)") : []) {
      if (details.open || !details.querySelector("tbody tr:not([hidden]), .value > rect:not(.aside)")) continue;
      details.open = true;
      unfolded.add(details);
    }
  };
  const search = (text, output) => {
    searched = wordsIn(text);
    let rows = 0;
    for (const table of all("table")) rows += filter(table);
    let found = 0;
    for (const rect of rects) {
      const isFound = matches(wordsOf(rect), searched);
      rect.classList.toggle("aside", !isFound);
      found += isFound;
    }
    for (const part of parts) part.classList.toggle("aside", !matches(part.textContent, searched));
    unfold();
    const isSeen = (row) => !row.hidden && !row.closest(".figures") && row.closest("details")?.open !== false;
    const drawn = [...parts, ...rects].filter((each) => !each.matches(".aside"));
    hits = searched.length ? [...drawn, ...all("tbody tr").filter(isSeen)] : [];
    hit = -1;
    output.textContent = !searched.length ? "" : rows + found ? `${rows} rows, ${found} values` : "nothing found";
  };
  const jump = (by) => {
    if (!hits.length) return;
    hits[hit]?.classList.remove("hit");
    hit = (hit + by + hits.length) % hits.length;
    hits[hit].classList.add("hit");
    hits[hit].scrollIntoView({ block: "center" });
  };
  const output = make("output", { role: "status" });
  const field = make("input", { type: "search", oninput: () => search(field.value, output) });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    jump(event.shiftKey ? -1 : 1);
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, select")) return;
    event.preventDefault();
    field.focus();
  });
  const label = make("label", {}, "Search ", field);
  document.querySelector("header").append(make("div", { class: "tools", role: "search" }, label, output));

  // --- Links -----------------------------------------------------------------------------
  const follow = () => {
    const hash = decodeURIComponent(location.hash.slice(1));
    const rect = hash.startsWith("buffer=") ? byName.get(hash.slice("buffer=".length)) : null;
    const target = rect ?? document.getElementById(hash);
    if (!target) return;
    const card = target.matches("article") ? target.querySelector("details") : null;
    for (let at = card ?? target.closest("details"); at; at = at.parentElement.closest("details")) at.open = true;
    (rect ? figureOf(rect) : target).scrollIntoView();
    if (rect && rect !== pinned) pin(rect);
  };
  addEventListener("hashchange", follow);
  follow();
})();
