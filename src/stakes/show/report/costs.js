/* The editable costs: as stated the page shows Python's own numbers; edited, `stakesLive` chooses
   thresholds again and computes the same numbers. */

(() => {
  "use strict";

  const { findings, show, complain, setPolicies } = globalThis.stakesPage;
  const { number, amount, quoted, pValue } = globalThis.stakesWords;
  const live = globalThis.stakesLive;
  const table = document.getElementById("cost-matrix");
  if (table === null) return; // too many classes, or rows that the script does not know

  const { settings, policies, pairs, verdict, other_costs: other } = findings;
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

  /** The names of the policies at the stated costs, in the order of the tables of decisions. */
  const names = other.tables.find(({ factor }) => factor === 1).names;
  const rows = new Map(
    [...document.querySelectorAll("#live-table [data-policy]")].map((row) => [row.dataset.policy, row])
  );

  function asStated() {
    const found = policies.map((each) => ({ ...each, stated: each.name, note: "" }));
    return { policies: found, pairs, text: verdict.text, note: "" };
  }

  function computed(costs) {
    const { confidence } = settings;
    const found = live.policiesAt(other, findings.costs, costs, confidence);
    return {
      policies: found.policies.map((each, i) => ({ ...each, stated: names[i], note: noteOf(each) })),
      pairs: found.pairs.map((pair) => ({ ...pair, warning: live.warning(pair) })),
      text: live.verdict(found, confidence, settings),
      note: noteOfAll(found),
    };
  }

  function noteOf({ kind, rechosen, column }) {
    if (kind === "decisions") return "as decided: cannot be made again at other costs";
    if (kind !== "threshold" || rechosen) return rechosen ? "threshold chosen again" : "";
    return other.policies.some((each) => each.column === column && each.rechosen)
      ? "threshold as for the stated costs"
      : "threshold as stated";
  }

  /** Say for which costs the thresholds were chosen. */
  function noteOfAll({ rechosen, factor, at }) {
    if (other.ratio === null) return "";
    if (!rechosen) {
      return other.tables.length === 1
        ? "Thresholds stay as they are: there are too many models to choose them again here."
        : "Thresholds stay as they are: at these costs both mistakes cost no more than correct " +
            "decisions.";
    }
    const chosen = other.tables[at].factor;
    if (!(factor > 0 && factor < Infinity)) {
      return "Thresholds were chosen again: one decision is never the more expensive one.";
    }
    if (chosen === factor) return "Thresholds were chosen again, for exactly these costs.";
    const miss = (times) => number(1 / (times * other.ratio));
    return (
      `Thresholds were chosen again, for the nearest of ${other.tables.length} ratios of costs: ` +
      `a miss that costs as much as ${miss(chosen)} false alarms; here it is ${miss(factor)}.`
    );
  }

  // ---- showing it

  function fillCosts(row, { name, note, cost, low, high }) {
    show(row, "name", name);
    show(row, "note", note);
    for (const [field, value] of Object.entries({ cost, low, high })) {
      show(row, field, number(value), value);
    }
    if (settings.volume) show(row, "over", amount(cost * settings.volume), cost * settings.volume);
  }

  function fillPair(row, pair) {
    show(row, "pair", `${pair.first} − ${pair.second}`);
    for (const field of ["difference", "low", "high"]) {
      show(row, field, number(pair[field]), pair[field]);
    }
    for (const field of ["p_value", "adjusted"]) show(row, field, pValue(pair[field]), pair[field]);
    show(row, "verdict", pair.shown ? `${pair.first} costs less` : "cannot be told apart");
    show(row, "warning", pair.warning ?? "");
  }

  const pairRow = document.querySelector("#live-pairs tbody tr")?.cloneNode(true);

  /** Fill as many rows as there are pairs: at other costs other policies may compete. */
  function fillPairs(found) {
    const body = document.querySelector("#live-pairs tbody");
    body.replaceChildren(...found.map(() => pairRow.cloneNode(true)));
    found.forEach((pair, i) => fillPair(body.rows[i], pair));
  }

  /** Show the first sentence as a headline, and the others after it. */
  function setHeadline(element, text) {
    const end = text.indexOf(" CI). ") + 5;
    const rest = Object.assign(document.createElement("span"), { className: "rest" });
    rest.textContent = text.slice(end);
    element.replaceChildren(text.slice(0, end), rest);
  }

  function fill(found) {
    setHeadline(document.getElementById("live-verdict"), found.text);
    const note = document.getElementById("live-note");
    note.textContent = found.note;
    note.hidden = found.note === "";
    for (const each of found.policies) fillCosts(rows.get(each.stated), each);
    if (found.pairs.length) fillPairs(found.pairs);
    setPolicies("live", [...found.policies].sort((a, b) => a.cost - b.cost));
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
