/* Tables can be copied and downloaded, charts saved: small buttons above each. */

(() => {
  "use strict";

  const { views } = globalThis.stakesPage;

  function button(tool, text, label) {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    made.dataset.tool = tool;
    made.setAttribute("aria-label", label);
    return made;
  }

  function save(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // ---- tables

  /** Return the text of a cell; numbers in full where the page has them. */
  function cellText(cell) {
    const whole = cell.matches("[data-value]") ? cell : cell.querySelector(":scope > [data-value]");
    if (whole !== null && cell.textContent.trim() === whole.textContent.trim()) return whole.dataset.value;
    return cell.innerText.trim().replace(/\s+/g, " ");
  }

  function rowsOf(table) {
    const rows = [...table.querySelectorAll("tr:not(.axis, .group, [hidden])")];
    return rows.map((row) =>
      [...row.cells].filter((cell) => !cell.matches(".plot")).map(cellText)
    );
  }

  const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

  /** Write a cell of a CSV file, which no spreadsheet takes for a formula. */
  function csvCell(text) {
    const safe = !NUMBER.test(text) && /^[\s']*[=+\-@−＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  /** Return a table as CSV, where numbers have a hyphen. */
  const csvOf = (table) =>
    `${rowsOf(table).map((row) => row.map((cell) => csvCell(cell.replaceAll("−", "-"))).join(",")).join("\n")}\n`;

  async function copy(table, pressed) {
    const text = rowsOf(table).map((row) => row.join("\t")).join("\n");
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A page from disk may not have the clipboard: then by a selection.
      const area = Object.assign(document.createElement("textarea"), { value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    pressed.textContent = "Copied";
    setTimeout(() => (pressed.textContent = "Copy"), 1500);
  }

  const tableTools = (label) => [
    button("copy", "Copy", `Copy the table: ${label}`),
    button("csv", "CSV", `Download the table as CSV: ${label}`),
  ];

  // ---- charts

  /** Replace the variables of the style sheet by what they are now. */
  function coloured(svg) {
    const style = getComputedStyle(document.documentElement);
    return svg.replace(/var\((--[a-z0-9-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  }

  async function svgOf(chart) {
    return coloured(await views.get(chart).toSVG());
  }

  async function pngOf(svg) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
    const brush = canvas.getContext("2d");
    brush.fillStyle = getComputedStyle(document.body).backgroundColor;
    brush.fillRect(0, 0, canvas.width, canvas.height);
    brush.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  const pictureTools = (label) => [
    button("svg", "SVG", `Save as SVG: ${label}`),
    button("png", "PNG", `Save as PNG: ${label}`),
  ];

  // ---- the chart of policies, whose rows are drawings of their own

  const [WIDTH, NAMES, HEIGHT] = [820, 230, 26];
  const STYLE =
    "text{font:12px sans-serif;fill:var(--ink)}.g{stroke:var(--grid)}.ref{stroke:var(--ink);" +
    "stroke-dasharray:2 3}.w{stroke:var(--c);stroke-width:2.5}.d{fill:var(--c);stroke:var(--c);" +
    "stroke-width:2}.d.hollow{fill:var(--page)}";

  /** Return the rows of the chart as one drawing. */
  function policiesDrawing(table) {
    const rows = [...table.querySelectorAll("tbody tr")].filter((row) => row.offsetParent !== null);
    const plot = WIDTH - NAMES - 180;
    const parts = rows.map((row, i) => {
      const words = row.querySelector("th")?.innerText.replace(/\s+/g, " ") ?? "";
      const cells = [...row.querySelectorAll("td.num")].slice(1).map((cell) => cell.innerText);
      const inner = row.querySelector(".plot svg").cloneNode(true);
      const place = { x: NAMES, y: i * HEIGHT, width: plot, height: HEIGHT };
      for (const [key, value] of Object.entries(place)) inner.setAttribute(key, value);
      inner.setAttribute("overflow", "visible");
      for (const each of inner.querySelectorAll("[style]")) {
        const colour = each.style.getPropertyValue("--c");
        if (!colour) continue;
        each.removeAttribute("style");
        const hollow = each.classList.contains("hollow");
        each.setAttribute("stroke", colour);
        each.setAttribute("fill", hollow ? "var(--page)" : colour);
        each.setAttribute("stroke-width", "2.5");
        each.removeAttribute("class");
      }
      const y = i * HEIGHT + HEIGHT / 2 + 4;
      const text = (x, said, end) =>
        `<text x="${x}" y="${y}"${end ? ' text-anchor="end"' : ""}>${escaped(said)}</text>`;
      return (
        text(0, words) +
        new XMLSerializer().serializeToString(inner) +
        (cells[0] ? text(WIDTH - 110, cells[0], true) : "") +
        (cells[1] ? text(WIDTH, cells[1], true) : "")
      );
    });
    const height = rows.length * HEIGHT + 8;
    return coloured(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
        `viewBox="0 0 ${WIDTH} ${height}"><style>${STYLE}</style>${parts.join("")}</svg>`
    );
  }

  const escaped = (text) =>
    text.replace(/[&<>"]/g, (each) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[each]);

  // ---- where they stand

  for (const place of document.querySelectorAll("[data-tools]")) {
    const name = place.dataset.tools.replace("chart-", "");
    if (name === "policies") place.append(...tableTools("cost per decision"));
    place.append(...pictureTools(name.replaceAll("_", " ")));
  }
  for (const table of document.querySelectorAll("table.data[id], table.matrix")) {
    const tools = Object.assign(document.createElement("span"), { className: "tools" });
    tools.append(...tableTools(table.caption?.textContent.trim() || table.id.replaceAll("-", " ")));
    table.closest(".scroll").before(tools);
  }

  // One listener for all: what the panel restores keeps its buttons.
  document.addEventListener("click", async ({ target }) => {
    const { tool } = target.dataset ?? {};
    if (tool === undefined) return;
    const place = target.closest(".tools");
    const name = (place.dataset.tools ?? "").replace("chart-", "");
    const table =
      name === "policies" ? document.getElementById("policies") : place.nextElementSibling.querySelector("table");
    const file = name || table?.id || "matrix";
    if (tool === "copy") await copy(table, target);
    else if (tool === "csv") save(`${file}.csv`, new Blob([csvOf(table)], { type: "text/csv" }));
    else {
      const svg = name === "policies" ? policiesDrawing(table) : await svgOf(name);
      save(`${file}.${tool}`, tool === "png" ? await pngOf(svg) : new Blob([svg], { type: "image/svg+xml" }));
    }
  });
})();
