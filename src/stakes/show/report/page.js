/* What all parts of the page share: the findings, their charts, and how numbers are shown.

   Names of models and classes only ever become text nodes or chart data, never markup. */

globalThis.stakesPage = (() => {
  "use strict";

  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const findings = read("findings");
  const specs = read("charts");
  const views = new Map();
  const pageRows = new Map();
  const FARTHEST = 3; // times the highest limit of a policy of a model
  const MOST_ROWS = 20; // as many as the chart has room for
  const { number, listed } = globalThis.stakesWords;

  // ---- numbers for people

  const percent = (share) => `${number(100 * share)}\u00a0%`;
  const threshold = (value) =>
    Number.isFinite(value) ? String(Number(value.toPrecision(6))) : number(value);

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
      actions: false,
      defaultStyle: false,
    });
    views.set(name, view);
    element.querySelector("svg").setAttribute("aria-hidden", "true"); // the element has the words
    element.style.minHeight = "";
  }

  /** Put rows into a data set of a chart; before it is drawn, they are kept for it. */
  function setRows(chart, data, rows) {
    const copy = structuredClone(rows);
    pageRows.set(`${chart} ${data}`, copy);
    views.get(chart)?.data(data, copy).run();
  }

  async function drawAll() {
    await Promise.all([...document.querySelectorAll("[data-chart]")].map(draw));
    document.documentElement.dataset.drawn = "true";
  }

  /** Draw policies, but for constants that cost so much more that nothing else could be told. */
  function setPolicies(chart, policies) {
    const look = ({ model }) => findings.models.findIndex(({ name }) => name === model);
    const others = policies.filter(({ model }) => model !== null);
    const reach = Math.max(...others.map(({ high }) => high));
    const near = (each) => each.model !== null || each.cost <= FARTHEST * reach || reach <= 0;
    const shown = policies.filter(near).slice(0, MOST_ROWS);
    const row = ({ name, cost, low, high }) => ({ name, cost, low, high });
    setRows(chart, "@policies", shown.map((each, i) => ({ ...row(each), row: i, look: look(each) })));
    const far = policies.filter((each) => !near(each)).map(({ name }) => name);
    const element = document.getElementById(`far-${chart}`);
    element.hidden = far.length === 0;
    element.textContent = far.length
      ? `Not drawn, because the cost is so much higher: ${listed(far)}.`
      : "";
  }

  setPolicies("costs", findings.policies);
  addEventListener("DOMContentLoaded", drawAll); // once all scripts have set their rows

  /** Let the keyboard reach the tables that scroll, and no others. */
  function reachTables() {
    for (const each of document.querySelectorAll(".scroll")) {
      if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
      else each.removeAttribute("tabindex");
    }
  }

  /** Let each cell say its column, for screens that are too narrow to have columns. */
  function nameCells() {
    for (const table of document.querySelectorAll("table:not(.matrix, .settings)")) {
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

  // What is folded away must not be missing on paper.
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((each) => (each.open = true));
  });

  return { findings, percent, threshold, asNumber, show, complain, setRows, setPolicies };
})();
