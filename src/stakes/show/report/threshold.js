/* The chooser of thresholds: costs of the two mistakes and a prevalence give the cheapest one.

   Follows stakes.curves.choose_threshold. The thresholds that are best at some costs come with the
   findings. At another prevalence than that of the test set, and on pages with class priors, the
   shares of the classes are taken for known, as Python does with class_priors. */

(() => {
  "use strict";

  const { findings, percent, threshold, asNumber, show, complain } = globalThis.stakesPage;
  const { number, quoted } = globalThis.stakesWords;
  const { estimates } = globalThis.stakesLive;
  const { stratifiedLimits } = globalThis.stakesStrata;
  if (findings.curves === null || findings.curves.condition.pc === null) return;
  if (findings.data.sampling !== null) return; // intervals here are for independent examples

  const ROUNDING = 1e-13;
  const { models, condition } = findings.curves;
  const byId = (id) => document.getElementById(id);
  const labels = models[0].choice.confusion.labels; // the negative class, then the positive one
  const stated = statedCosts();

  /** Return the stated costs [decided][was] of the two classes, the negative one first. */
  function statedCosts() {
    const { values, decisions, labels: classes } = findings.costs;
    return labels.map((decided) =>
      labels.map((was) => values[decisions.indexOf(decided)][classes.indexOf(was)])
    );
  }

  /** Return the cheapest threshold: of equals the highest, which raises the fewest alarms. */
  function choose({ lines }, costs, share) {
    const cost = lines.fpr.map((fpr, i) => {
      const tpr = lines.tpr[i];
      const negative = costs[0][0] * (1 - fpr) + costs[1][0] * fpr;
      const positive = costs[0][1] * (1 - tpr) + costs[1][1] * tpr;
      return (1 - share) * negative + share * positive;
    });
    const rounding = ROUNDING * Math.max(...cost.map(Math.abs));
    const least = Math.min(...cost);
    const best = cost.findIndex((each) => each <= least + rounding);
    const [fpr, recall] = [lines.fpr[best], lines.tpr[best]];
    return {
      threshold: asNumber(lines.threshold[best]),
      cost: cost[best],
      fpr,
      recall,
      alarms: (1 - share) * fpr + share * recall,
    };
  }

  /** Return how often each decision came on the test set, [decided][was]. */
  function confusion(model, { fpr, recall }) {
    const alarms = Math.round(fpr * model.negatives);
    const found = Math.round(recall * model.positives);
    return [
      [model.negatives - alarms, model.positives - found],
      [alarms, found],
    ];
  }

  function interval(counts, costs, share) {
    const { confidence, class_priors: priors } = findings.settings;
    if (priors !== null || share !== condition.prevalence) {
      const [low, high] = stratifiedLimits(counts, costs, [1 - share, share], 1 - confidence);
      return { low, high };
    }
    const cells = [0, 1].flatMap((i) => [0, 1].map((j) => [i, j]));
    const joint = {
      names: ["one"],
      decided: cells.map(([i]) => [i]),
      actual: cells.map(([, j]) => j),
      counts: cells.map(([i, j]) => counts[i][j]),
      labels,
      decisions: labels,
    };
    return estimates(joint, costs, confidence)[0];
  }

  // ---- showing it

  function fillRow(row, choice, limits) {
    show(row, "threshold", words(choice), choice.threshold);
    show(row, "cost", number(choice.cost), choice.cost);
    for (const field of ["recall", "fpr", "alarms"]) {
      show(row, field, percent(choice[field]), choice[field]);
    }
    for (const field of ["low", "high"]) show(row, field, number(limits[field]), limits[field]);
  }

  function words({ threshold: value, recall, fpr }) {
    if (value === Infinity && recall === 0 && fpr === 0) return "none";
    return value === -Infinity ? "all" : threshold(value);
  }

  function fillCard(card, model, choice, counts, costs, share) {
    show(card, "threshold", words(choice));
    const sizes = [model.negatives, model.positives];
    const weights = [1 - share, share];
    const parts = counts.map((row, i) =>
      row.map((count, j) => (weights[j] * costs[i][j] * count) / sizes[j])
    );
    const most = Math.max(...parts.flat().map(Math.abs)) || 1;
    parts.forEach((row, i) =>
      row.forEach((part, j) => {
        const cell = card.querySelector(`[data-cell="${i}${j}"]`);
        show(cell, "cost", number(part), part);
        show(cell, "count", number(counts[i][j]), counts[i][j]);
        cell.style.setProperty("--shade", (Math.abs(part) / most).toFixed(3));
        cell.className = part < 0 ? "gain" : "loss";
      })
    );
  }

  function update() {
    const problem = invalid();
    complain("threshold-problem", problem);
    if (problem) return;
    const costs = structuredClone(stated);
    [costs[0][1], costs[1][0]] = [state.miss, state.alarm];
    const choices = models.map((model, i) => {
      const choice = choose(model, costs, state.share);
      const counts = confusion(model, choice);
      fillRow(
        document.querySelector(`#threshold-table [data-curve="${i}"]`),
        choice,
        interval(counts, costs, state.share)
      );
      const card = document.querySelector(`[data-choice="${i}"]`);
      fillCard(card, model, choice, counts, costs, state.share);
      return { ...choice, name: model.name };
    });
    say(choices);
  }

  function say(choices) {
    const best = choices.reduce((a, b) => (b.cost < a.cost ? b : a));
    const { unit: money } = findings.settings;
    const cost = `${number(best.cost)}${money ? ` ${money}` : ""} a decision`;
    const called = { none: "nothing", all: "everything" }[words(best)];
    byId("threshold-status").textContent = called
      ? `Calling ${called} ${quoted(labels[1])} costs least, ${cost}.`
      : `With its best threshold, ${words(best)}, ${best.name} has the lowest cost: ${cost}.`;
  }

  // ---- the controls: each number has a box and a slider

  const state = {};
  const fields = {
    miss: { now: stated[0][1], least: stated[1][1] },
    alarm: { now: stated[1][0], least: stated[0][0] },
    share: { now: condition.prevalence, least: 0 },
  };

  /** Say which number cannot be used; a mistake costs at least what the correct decision does. */
  function invalid() {
    let problem = "";
    const names = { miss: "A miss", alarm: "A false alarm", share: "The share" };
    for (const [name, { least }] of Object.entries(fields)) {
      const value = state[name];
      const fits =
        Number.isFinite(value) && value >= least && (name !== "share" || value <= 1);
      byId(name).setAttribute("aria-invalid", String(!fits));
      if (fits || problem) continue;
      problem =
        name === "share"
          ? `${names[name]} must be between 0 and 100 %.`
          : `${names[name]} must cost at least ${number(least)}, as the correct decision does.`;
    }
    return problem;
  }

  /** Return what a slider at 0 stands for: the stated cost, or where that is nothing, another. */
  const unit = (name) => fields[name].now || Math.max(fields.miss.now, fields.alarm.now) || 1;
  const rounded = (value) => Number(value.toPrecision(3));

  /** Return what the box shows: shares are in percent. */
  function boxed(name, value) {
    return String(Number((name === "share" ? 100 * value : value).toPrecision(6)));
  }

  function toSlider(name, value) {
    if (name === "share") return value;
    return value > 0 ? Math.log10(value / unit(name)) : -2;
  }

  function fromSlider(name, position) {
    if (name === "share") return position;
    return position === 0 ? unit(name) : rounded(unit(name) * 10 ** position);
  }

  function set(name, value) {
    state[name] = value;
    byId(name).value = boxed(name, value);
    byId(`${name}-slider`).value = String(toSlider(name, value));
    byId(`${name}-slider`).setAttribute("aria-valuetext", byId(name).value);
  }

  function reset() {
    for (const [name, { now }] of Object.entries(fields)) set(name, now);
    update();
  }

  for (const name of Object.keys(fields)) {
    byId(name).addEventListener("input", () => {
      const text = byId(name).value;
      const value = text === "" ? NaN : Number(text) / (name === "share" ? 100 : 1);
      state[name] = value;
      if (Number.isFinite(value)) byId(`${name}-slider`).value = String(toSlider(name, value));
      update();
    });
    byId(`${name}-slider`).addEventListener("input", () => {
      set(name, fromSlider(name, Number(byId(`${name}-slider`).value)));
      update();
    });
  }
  byId("threshold-reset").addEventListener("click", reset);
  reset();
})();
