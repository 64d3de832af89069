/* The arithmetic behind the report's editable costs: what the Python package does by default.

   From the joint counts (`JointConfusion.to_dict()`) and a cost matrix `costs[predicted][actual]`
   this computes, to 1e-6, what each model costs with its extremal interval, each pair's p-value
   adjusted by Holm's method, the best set and the verdict. Examples are drawn at random (the design
   "simple"); weights, groups and class priors are not treated here. A page with class priors has no
   costs to edit; its thresholds have intervals by `stakesStrata`.

   Each script names the Python module it follows; the numbers must stay equal, so change both.
   `tests/browser/test_live.py` holds them together. */

globalThis.stakesLive = (() => {
  "use strict";

  const { number, general, seen, listed, quoted } = globalThis.stakesWords;
  const { outcomesOf, outcomesOfPair, costDifferences, unravelled, place, sum, totalOf, meanOf } =
    globalThis.stakesOutcomes;
  const { extremalLimits, extremalTails } = globalThis.stakesDirichlet;
  const { bootstrapTails } = globalThis.stakesBootstrap;

  // ---- what is asked

  function checkedConfidence(confidence) {
    if (!(typeof confidence === "number" && confidence > 0 && confidence < 1)) {
      throw new Error(
        `confidence: expected a number between 0 and 1, such as 0.95; got ${quoted(confidence)}.`
      );
    }
    return Number((1 - confidence).toFixed(15)); // 1 - 0.9 is 0.1, not 0.09999999999999998
  }

  function check({ decisions, labels, counts }, costs) {
    if (!counts.every((count) => Number.isInteger(count) && count >= 0) || !sum(counts)) {
      throw new Error("counts: expected whole numbers of examples, not all of them zero.");
    }
    const fits = (rows, length) => Array.isArray(rows) && rows.length === length;
    if (!fits(costs, decisions.length) || !costs.every((row) => fits(row, labels.length))) {
      throw new Error(
        `costs: expected ${decisions.length} rows, one for each decision, of ${labels.length} ` +
          "numbers, one for each class."
      );
    }
    costs.forEach((row, i) =>
      row.forEach((cost, j) => {
        if (Number.isFinite(cost)) return;
        throw new Error(
          `costs: expected a finite number for predicting ${quoted(decisions[i])} when it was ` +
            `${quoted(labels[j])}, got ${quoted(cost)}.`
        );
      })
    );
  }

  function checkResults(...values) {
    if (values.every(Number.isFinite)) return;
    throw new Error("costs: they are too large, or differ by too little, to compute with.");
  }

  // ---- comparisons (stakes.infer: difference, significance, multiplicity and ranking)

  const ENOUGH = 5;
  const SMALLEST = 1e-12;

  /** Return what each model costs, with its interval, in the order of `joint.names`. */
  function estimates(joint, costs, confidence) {
    const alpha = checkedConfidence(confidence);
    return costsOf(joint, costs).map(({ outcomes, ...estimate }) => {
      const [low, high] = extremalLimits(outcomes, alpha);
      checkResults(estimate.cost, estimate.total, low, high);
      return { ...estimate, low, high };
    });
  }

  function costsOf(joint, costs) {
    check(joint, costs);
    return joint.names.map((name, model) => {
      const outcomes = outcomesOf(joint, costs, model);
      return { name, cost: meanOf(outcomes), total: totalOf(outcomes), outcomes };
    });
  }

  /** Return the positions of the models, the cheapest first. */
  function cheapestFirst(joint, costs) {
    const found = costsOf(joint, costs).map(({ cost }) => cost);
    return [...found.keys()].sort((a, b) => found[a] - found[b]);
  }

  /** Compare every pair, the cheaper first, by the test that suits it; adjusted by Holm. */
  function pairwise(joint, costs, confidence) {
    const alpha = checkedConfidence(confidence);
    const order = cheapestFirst(joint, costs);
    const deltas = costDifferences(costs);
    const pairs = order.flatMap((first, i) =>
      order.slice(i + 1).map((second) => compared(joint, deltas, first, second))
    );
    const adjusted = holm(pairs.map((pair) => pair.p_value));
    return pairs.map((pair, i) => ({
      ...pair,
      adjusted: adjusted[i],
      rejected: adjusted[i] <= alpha,
    }));
  }

  function compared(joint, deltas, first, second) {
    const outcomes = outcomesOfPair(joint, deltas, first, second);
    const rare = rareOutcome(joint, deltas, outcomes);
    const tails = rare === null ? bootstrapTails(outcomes) : extremalTails(outcomes);
    const p = Math.min(1, 2 * Math.min(...tails));
    const difference = meanOf(outcomes);
    checkResults(difference, p);
    return {
      first: joint.names[first],
      second: joint.names[second],
      difference,
      method: rare === null ? "exact" : "extremal",
      p_value: Math.max(p, SMALLEST),
      rare,
    };
  }

  /** Return the extreme outcome that was seen too rarely: its count, its difference, its cell. */
  function rareOutcome(joint, deltas, { costs, counts }) {
    const ends = costs.length > 1 ? [0, costs.length - 1] : [];
    const rare = ends.filter((end) => counts[end] < ENOUGH);
    if (!rare.length) return null;
    const size = (end) => Math.abs(costs[end]);
    const [end] = rare.sort((a, b) => size(b) - size(a) || counts[a] - counts[b] || a - b);
    const cell = deltas.cells.findIndex((value) => place(costs, value) === end);
    const [i, k, j] = unravelled(cell, deltas.decisions, deltas.classes);
    return {
      count: counts[end],
      value: costs[end],
      enough: ENOUGH,
      predicted: [joint.decisions[i], joint.decisions[k]],
      actual: joint.labels[j],
    };
  }

  /** Return Holm's adjusted p-values. */
  function holm(pValues) {
    const order = [...pValues.keys()].sort((a, b) => pValues[a] - pValues[b]);
    const adjusted = [];
    let most = 0;
    order.forEach((index, rank) => {
      most = Math.max(most, pValues[index] * (pValues.length - rank));
      adjusted[index] = Math.min(most, 1);
    });
    return adjusted;
  }

  /** Return the models that no other was shown to beat, the cheapest first.

      Who has the pairs already can hand them in. */
  function bestSet(joint, costs, confidence, pairs = pairwise(joint, costs, confidence)) {
    const beaten = new Set(pairs.filter((pair) => pair.rejected).map((pair) => pair.second));
    const ordered = cheapestFirst(joint, costs).map((model) => joint.names[model]);
    return ordered.filter((name) => !beaten.has(name));
  }

  /** Say that the outcome that matters most was seen too rarely; null where it was not. */
  function warning({ first, second, rare }) {
    if (rare === null) return null;
    const [one, other] = rare.predicted.map(quoted);
    return (
      `What matters most, ${first} predicting ${one} and ${second} ${other} when it was ` +
      `${quoted(rare.actual)}, was ${seen(rare.count)}: too rarely for the usual test, so a more ` +
      "careful one is used."
    );
  }

  // ---- the verdict (stakes.findings)

  /** Return the best of always deciding the same: models that look at nothing. */
  function bestTrivial({ decisions, labels, actual, counts }, costs, confidence) {
    const everyone = {
      names: decisions.map((_, i) => i),
      decided: actual.map(() => decisions.map((_, i) => i)),
      actual,
      counts,
      labels,
      decisions,
    };
    const found = estimates(everyone, costs, confidence);
    const best = found.reduce((a, b) => (b.cost < a.cost ? b : a));
    return { ...best, decision: decisions[best.name] };
  }

  /** Say which model to use, or which are tied. */
  function verdict(joint, costs, confidence, unit = "", pairs = undefined) {
    const best = bestSet(joint, costs, confidence, pairs);
    const found = new Map(costsOf(joint, costs).map(({ name, cost }) => [name, cost]));
    const least = found.get(best[0]);
    const trivial = bestTrivial(joint, costs, confidence);
    const money = (cost) => `${number(cost)}${unit ? ` ${unit}` : ""}`;
    const sure = `${general(100 * confidence, 4)} % confidence`;
    const instead = `Deciding ${quoted(trivial.decision)} every time costs less, ` +
      `${money(trivial.cost)} a decision.`;
    const all = joint.names.length;
    const worthwhile = least <= trivial.cost;
    const say = (text) => (worthwhile ? text : `${text} ${instead}`);
    if (all === 1) {
      const [{ low, high }] = estimates(joint, costs, confidence);
      const limits = `between ${number(low)} and ${number(high)}`;
      return say(`${best[0]} costs ${money(least)} a decision, with ${sure} ${limits}.`);
    }
    if (best.length === 1) {
      const use = worthwhile ? `Use ${best[0]}: it` : best[0];
      return say(`${use} is the cheapest of ${all}, with ${sure}.`);
    }
    const same = best.every((name) => found.get(name) === least);
    return say(
      `A tie between ${listed(best)}: ${number(sum(joint.counts))} examples do not tell which is ` +
        `cheaper with ${sure}. ` +
        (same ? "They cost the same so far." : `${best[0]} was the cheapest so far.`)
    );
  }

  return { estimates, pairwise, bestSet, bestTrivial, verdict, warning };
})();
