/* The editable costs: as stated the page shows Python's own numbers, edited `stakesLive` computes
   the same ones anew. */

(() => {
  "use strict";

  const { findings, quoted, small, show, complain, setRows } = globalThis.stakesPage;
  const { number, estimates, pairwise, summary } = globalThis.stakesLive;
  const table = document.getElementById("cost-matrix");
  if (table === null) return; // too many classes

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
    const byName = new Map(estimates(joint, costs, settings.confidence).map((e) => [e.name, e]));
    const found = models.map(({ name }) => byName.get(name));
    const compared = found.length > 1 ? pairwise(joint, costs, settings.confidence) : [];
    const text = found.length > 1
      ? summary(joint, costs, settings.confidence, settings.currency, compared)
      : alone(found[0]);
    return {
      models: found,
      trivial: bestTrivial(costs),
      pairs: compared.map((pair) => ({ ...pair, warning: warning(pair) })),
      text,
    };
  }

  /** Say what the only model costs, as stakes.findings does. */
  function alone({ name, cost, low, high }) {
    return (
      `${name} costs ${number(cost)} a decision, with ${number(100 * settings.confidence)} % ` +
      `confidence between ${number(low)} and ${number(high)}.`
    );
  }

  /** Return the best of always deciding the same: models that look at nothing. */
  function bestTrivial(costs) {
    const { decisions, labels, class_counts: counts } = findings.data;
    const everyone = {
      names: decisions.map((_, i) => i),
      decided: labels.map(() => decisions.map((_, i) => i)),
      actual: labels.map((_, j) => j),
      counts,
      labels,
      decisions,
    };
    const found = estimates(everyone, costs, settings.confidence);
    const best = found.reduce((a, b) => (b.cost < a.cost ? b : a));
    return { ...best, decision: decisions[best.name] };
  }

  function warning({ first, second, rare }) {
    if (!rare) return null;
    const [one, other] = rare.predicted.map(quoted);
    return (
      `What matters most, ${first} predicting ${one} and ${second} ${other} when it was ` +
      `${quoted(rare.actual)}, was seen ${number(rare.count)} times, too rarely for the usual ` +
      "test; a more careful one is used."
    );
  }

  // ---- showing it

  function fillCosts(row, { cost, low, high }) {
    for (const [field, value] of Object.entries({ cost, low, high })) {
      show(row, field, number(value), value);
    }
    if (settings.volume) show(row, "over", number(cost * settings.volume), cost * settings.volume);
  }

  function fillPair(row, pair) {
    show(row, "pair", `${pair.first} − ${pair.second}`);
    show(row, "difference", number(pair.difference), pair.difference);
    for (const field of ["p_value", "adjusted"]) show(row, field, small(pair[field]), pair[field]);
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
    setRows("live", "@trivial", [found.trivial]);
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
