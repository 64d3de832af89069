/* The editable costs: as stated the page shows Python's own numbers, edited `stakesLive` computes
   the same ones anew. */

(() => {
  "use strict";

  const { findings, show, complain, setRows, setTrivial } = globalThis.stakesPage;
  const { number, amount, quoted, pValue } = globalThis.stakesWords;
  const live = globalThis.stakesLive;
  const table = document.getElementById("cost-matrix");
  if (table === null) return; // too many classes, or their shares are stated

  const { joint, settings, models, trivial, pairs, verdict } = findings;
  const stated = findings.costs.values;
  const inputs = [...table.querySelectorAll("input")];
  const resetButton = document.getElementById("costs-reset");
  const PLAIN = /^[-+]?(\d+(,\d{3})*(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i;
  const PAUSE = 120; // milliseconds, so that typing stays smooth

  // ---- reading the table

  function parsed(text) {
    const trimmed = text.trim();
    return PLAIN.test(trimmed) ? Number(trimmed.replaceAll(",", "")) : NaN;
  }

  const place = (input) => [Number(input.dataset.row), Number(input.dataset.column)];

  function cellName(i, j) {
    const { decisions, labels } = findings.costs;
    return `predicting ${quoted(decisions[i])} when it was ${quoted(labels[j])}`;
  }

  /** Return the costs in the table; null, and say so, where one is no number. */
  function readCosts() {
    const costs = stated.map((row) => [...row]);
    let problem = "";
    for (const input of inputs) {
      const [i, j] = place(input);
      const cost = parsed(input.value);
      const fits = Number.isFinite(cost) && Math.abs(cost) <= 1e300;
      if (fits) input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
      if (!fits && !problem) {
        problem = `The cost of ${cellName(i, j)} must be a number; “${input.value}” is none.`;
      }
      costs[i][j] = cost;
    }
    complain("costs-problem", problem);
    return problem ? null : costs;
  }

  // ---- what is known at the stated costs, and what is found at others

  function asStated() {
    return { models, trivial: trivial[0], pairs, text: verdict.text };
  }

  function computed(costs) {
    const { confidence, unit } = settings;
    const found = new Map(live.estimates(joint, costs, confidence).map((e) => [e.name, e]));
    const compared = live.pairwise(joint, costs, confidence);
    return {
      models: models.map(({ name }) => found.get(name)),
      trivial: live.bestTrivial(joint, costs, confidence),
      pairs: compared.map((pair) => ({ ...pair, warning: live.warning(pair) })),
      text: live.verdict(joint, costs, confidence, unit, compared),
    };
  }

  // ---- showing it

  function fillCosts(row, { cost, low, high }) {
    for (const [field, value] of Object.entries({ cost, low, high })) {
      show(row, field, number(value), value);
    }
    if (settings.volume) show(row, "over", amount(cost * settings.volume), cost * settings.volume);
  }

  function fillPair(row, pair) {
    show(row, "pair", `${pair.first} − ${pair.second}`);
    show(row, "difference", number(pair.difference), pair.difference);
    for (const field of ["p_value", "adjusted"]) show(row, field, pValue(pair[field]), pair[field]);
    show(row, "verdict", pair.rejected ? `${pair.first} is cheaper` : "a tie");
    show(row, "warning", pair.warning ?? "");
  }

  function fill(found) {
    document.getElementById("live-verdict").textContent = found.text;
    const rows = document.querySelectorAll("#live-table [data-model]");
    found.models.forEach((model, i) => fillCosts(rows[i], model));
    const always = document.getElementById("live-trivial");
    fillCosts(always, found.trivial);
    show(always, "decision", quoted(found.trivial.decision));
    const pairRows = document.querySelectorAll("#live-pairs tbody tr");
    found.pairs.forEach((pair, i) => fillPair(pairRows[i], pair));
    setRows("live", "@live", found.models);
    setTrivial("live", found.trivial, found.models);
  }

  function update() {
    const costs = readCosts();
    if (costs === null) {
      table.dataset.state = "invalid";
      resetButton.disabled = false;
      return;
    }
    const same = costs.every((row, i) => row.every((cost, j) => cost === stated[i][j]));
    resetButton.disabled = same;
    fill(same ? asStated() : computed(costs));
    table.dataset.state = same ? "stated" : "edited";
  }

  function reset() {
    for (const input of inputs) input.value = input.defaultValue;
    update();
  }

  let waiting = 0;
  table.addEventListener("input", () => {
    table.dataset.state = "waiting";
    clearTimeout(waiting);
    waiting = setTimeout(update, PAUSE);
  });
  resetButton.addEventListener("click", () => {
    clearTimeout(waiting);
    reset();
  });
  reset();
})();
