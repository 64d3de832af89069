/* What all parts of the page share: the findings, their charts, and how numbers are shown.

   Names of models and classes only ever become text nodes or chart data, never markup. */

globalThis.stakesPage = (() => {
  "use strict";

  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const findings = read("findings");
  const specs = read("charts");
  const views = new Map();
  const pageRows = new Map();
  const { number } = globalThis.stakesLive;

  // ---- numbers for people

  const percent = (share) => `${number(100 * share)}\u00a0%`;
  const threshold = (value) =>
    Number.isFinite(value) ? String(Number(value.toPrecision(6))) : number(value);
  const ESCAPED = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

  /** Write a label as Python's repr does. */
  function quoted(label) {
    if (typeof label === "boolean") return label ? "True" : "False";
    if (typeof label !== "string") return String(label);
    const text = label.replace(/[\\\n\r\t]/g, (each) => ESCAPED[each]);
    if (!text.includes("'")) return `'${text}'`;
    return text.includes('"') ? `'${text.replaceAll("'", "\\'")}'` : `"${text}"`;
  }

  /** Write a p-value: two digits, as Python's %.2g does. */
  function small(value) {
    if (value >= 1e-4 || value === 0) return String(Number(value.toPrecision(2)));
    const [digits, power] = value.toExponential(1).split("e-");
    return `${Number(digits)}e-${power.padStart(2, "0")}`;
  }

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

  function withData(chart) {
    const spec = specs[chart];
    const data = spec.data.map((each) =>
      each.values || each.source || each.url ? each : { ...each, values: rowsAt(chart, each.name) }
    );
    return { ...spec, data };
  }

  async function draw(element) {
    const name = element.dataset.chart;
    const { view } = await globalThis.vegaEmbed(element, withData(name), {
      mode: "vega",
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

  setRows("costs", "@trivial", findings.trivial.slice(0, 1));
  addEventListener("DOMContentLoaded", drawAll); // once all scripts have set their rows

  /** Let the keyboard reach the tables that scroll, and no others. */
  function reachTables() {
    for (const each of document.querySelectorAll(".scroll")) {
      if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
      else each.removeAttribute("tabindex");
    }
  }

  addEventListener("resize", reachTables);
  addEventListener("DOMContentLoaded", reachTables);

  // What is folded away must not be missing on paper.
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((each) => (each.open = true));
  });

  return { findings, percent, threshold, quoted, small, asNumber, show, complain, setRows };
})();
