/* What all parts of the page share: the findings, their charts, and how numbers are shown.

   Names of models and classes only ever become text nodes or chart data, never markup. */

globalThis.stakesPage = (() => {
  "use strict";

  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const findings = read("findings");
  const specs = read("charts");
  const views = new Map();
  const pageRows = new Map();
  const signals = new Map();
  const constants = read("constants");
  const { number } = globalThis.stakesWords;

  // ---- numbers for people

  /** Put a minus sign, as people write it, in front of a number. */
  const signed = (text) => text.replace(/^-/, "−");
  const percent = (share) => `${number(100 * share)}%`;

  /** Return a threshold of the findings as a number; JSON has none for infinite ones. */
  function asNumber(value) {
    if (typeof value === "number") return value;
    return value === "inf" ? Infinity : -Infinity;
  }

  /** Show text in the part of `root` with that name, and keep the number in full beside it. */
  function show(root, field, text, value = undefined) {
    const element = root.querySelector(`[data-field="${field}"]`);
    if (element === null) return;
    element.textContent = text;
    if (value === undefined) delete element.dataset.value;
    else element.dataset.value = String(value);
  }

  /** Isolate the direction of names from that of a sentence. */
  function said(sentence) {
    return constants.turned.reduce((text, name) => text.replaceAll(name, `\u2068${name}\u2069`), sentence);
  }

  /** Say what is wrong, or nothing. */
  function complain(id, text) {
    const element = document.getElementById(id);
    element.textContent = text;
    element.hidden = text === "";
  }

  // ---- charts

  /** Return the rows of a data set, by its place in the findings; the page sets those of `@`. */
  function rowsAt(chart, name) {
    if (name.startsWith("@")) return pageRows.get(`${chart} ${name}`) ?? [];
    const found = name.split(".").reduce((part, key) => part[key], findings);
    return structuredClone(Array.isArray(found) ? found : [found]); // Vega marks what it is given
  }

  /** Return the names of the data sets that a chart draws. */
  function dataNames(spec) {
    const own = spec.data?.name === undefined ? [] : [spec.data.name];
    return [...own, ...(spec.layer ?? []).flatMap(dataNames)];
  }

  function withData(chart) {
    const { datasets: own = {}, ...spec } = specs[chart];
    const names = dataNames(spec).filter((name) => !(name in own));
    const rows = names.map((name) => [name, rowsAt(chart, name)]);
    return { ...spec, datasets: { ...own, ...Object.fromEntries(rows) } };
  }

  async function draw(element) {
    const name = element.dataset.chart;
    const { view } = await globalThis.vegaEmbed(element, withData(name), {
      mode: "vega-lite",
      ast: true, // expressions are interpreted: the page's policy lets nothing be compiled
      renderer: "svg",
      logLevel: 1, // errors only: a chart without rows is no error
      actions: false,
      defaultStyle: false,
    });
    views.set(name, view);
    for (const [signal, value] of signals.get(name) ?? []) view.signal(signal, value);
    await view.runAsync();
    element.querySelector("svg").setAttribute("aria-hidden", "true"); // the element has the words
    element.style.minHeight = "";
  }

  /** Put rows into a data set of a chart; before it is drawn, they are kept for it. */
  function setRows(chart, data, rows) {
    const copy = structuredClone(rows);
    pageRows.set(`${chart} ${data}`, copy);
    views.get(chart)?.data(data, copy).run();
  }

  /** Give a chart numbers that its axes are written with. */
  function setSignals(chart, values) {
    signals.set(chart, Object.entries(values));
    const view = views.get(chart);
    if (view === undefined) return;
    for (const [signal, value] of Object.entries(values)) view.signal(signal, value);
    view.run();
  }

  // A chart is drawn when its section is opened for the first time: what is folded has no width.
  const drawn = new Map();

  function drawInside(root) {
    const charts = [...root.querySelectorAll("[data-chart]")];
    return Promise.all(
      charts.map((each) => {
        if (!drawn.has(each)) drawn.set(each, draw(each));
        return drawn.get(each);
      })
    );
  }

  /** Draw what is open, and what paper shows although it is folded: that is opened meanwhile. */
  async function drawOpen() {
    const folded = [...document.querySelectorAll("details.printed:not([open])")];
    for (const each of folded) {
      each.classList.add("drawing");
      each.open = true;
    }
    await Promise.all([...document.querySelectorAll("details[open]")].map(drawInside));
    for (const each of folded) {
      each.open = false;
      each.classList.remove("drawing");
    }
    document.documentElement.dataset.drawn = "true";
  }

  for (const each of document.querySelectorAll("details.section")) {
    each.addEventListener("toggle", () => {
      if (!each.open) return;
      drawInside(each);
      reachTables();
    });
  }
  addEventListener("DOMContentLoaded", drawOpen); // once all scripts have set their rows

  // ---- folding

  const sections = () => [...document.querySelectorAll("details.section")];
  const openAll = document.getElementById("open-all");

  openAll.addEventListener("click", () => {
    const open = sections().some((each) => !each.open);
    for (const each of sections()) each.open = open;
    openAll.textContent = open ? "Close all" : "Open all";
  });

  /** Open the section that an address points to. */
  function openAddressed() {
    const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (found?.matches("details")) found.open = true;
  }
  for (const each of document.querySelectorAll(".contents a")) {
    each.addEventListener("click", () => {
      document.getElementById(each.hash.slice(1)).open = true;
    });
  }
  addEventListener("hashchange", openAddressed);
  openAddressed();
  document.getElementById("show-policies")?.addEventListener("click", (event) => {
    document.getElementById("policies").classList.add("all");
    event.target.remove();
  });

  /** Let the keyboard reach the tables that scroll, and no others. */
  function reachTables() {
    for (const each of document.querySelectorAll(".scroll")) {
      if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
      else each.removeAttribute("tabindex");
    }
  }

  /** Let each cell say its column, for screens that are too narrow to have columns. */
  function nameCells() {
    for (const table of document.querySelectorAll("table.data")) {
      const titles = [...table.querySelectorAll("thead th")].map((each) => each.textContent.trim());
      for (const row of table.tBodies[0].rows) {
        [...row.cells].forEach((cell, i) => (cell.dataset.title = titles[i]));
      }
      table.classList.add("stacks");
    }
  }

  nameCells();
  addEventListener("resize", reachTables);
  addEventListener("DOMContentLoaded", reachTables);

  // Paper has the sections that it needs, whether folded or not; charts are drawn before. They get
  // the width that they have there, so that their words are not shrunk with them, and less height.
  const PAPER = 690; // the width of A4 between its margins
  const FLATTER = { rows: 0.8, others: 0.62 };
  const heights = new Map();

  /** Tell whether a chart has a row of words for each of its marks, which need their height. */
  function isOfRows(view) {
    return Boolean(view.scale("y").bandwidth);
  }

  addEventListener("beforeprint", () => {
    const all = document.body.dataset.full === "true";
    for (const each of document.querySelectorAll("details.remarks")) each.open = true;
    for (const each of sections()) {
      if (all || each.classList.contains("printed")) each.open = true;
    }
    const whole = document.querySelector(".sections").clientWidth;
    for (const [name, view] of views) {
      const { clientWidth } = document.getElementById(`chart-${name}`);
      if (!clientWidth || heights.has(view)) continue;
      heights.set(view, view.height());
      const height = view.height() * (isOfRows(view) ? FLATTER.rows : FLATTER.others);
      view.width(Math.floor((PAPER * clientWidth) / whole)).height(height).run();
    }
  });
  addEventListener("afterprint", () => {
    for (const [view, height] of heights) view.height(height).resize();
    heights.clear();
    dispatchEvent(new Event("resize")); // charts take the width of the window again
  });

  return { findings, constants, views, signed, said, percent, asNumber, show, complain, setRows, setSignals, reachTables };
})();
