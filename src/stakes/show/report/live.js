/* The arithmetic behind the report's editable costs: what the Python package does by default.

   From the decisions at several ratios of costs (`OtherCosts` of the findings) and a cost matrix
   `costs[predicted][actual]` this computes, to 1e-6, what each policy costs with its interval, how
   the cheapest compares with the others. Thresholds are those of the nearest ratio
   that Python chose them for. Rows are independent and of equal weight; groups and weights are not
   treated here: a page with these has no costs to edit. At another prevalence than that of the
   examples costs and intervals are those of known class priors, and differences are not tested.

   Follows stakes.policies: policies and _family. Each script names the Python module it
   follows; the numbers must stay equal, so change both. `tests/browser/test_live.py` holds them
   together. */

globalThis.stakesLive = (() => {
  "use strict";

  const { seen, quoted } = globalThis.stakesWords;
  const { outcomesOf, outcomesOfPair, costDifferences, unravelled, place, sum, totalOf, meanOf } =
    globalThis.stakesOutcomes;
  const { density, normalTail, normalScore, extremalLimits, extremalTails } =
    globalThis.stakesDirichlet;
  const { bootstrapTails, bootstrapLimits } = globalThis.stakesBootstrap;
  const { stratifiedLimits } = globalThis.stakesStrata;

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

  // ---- the decisions at a ratio of costs (stakes.findings.other_costs)

  const asNumber = (value) => (typeof value === "number" ? value : value === "inf" ? Infinity : -Infinity);

  /** Return what a false alarm costs for what a miss costs, both beyond a correct decision. */
  function ratioOf({ decisions: [high, low], classes: [negative, positive] }, costs) {
    const alarm = costs[high][negative] - costs[low][negative];
    const miss = costs[low][positive] - costs[high][positive];
    if (alarm > 0 && miss > 0) return alarm / miss;
    if (alarm <= 0 && miss <= 0) return null; // high scores would mean the other decision
    return alarm <= 0 ? 0 : Infinity;
  }

  /** Return the place of the tables that are nearest to the costs, and whether they fit at all.

      At another prevalence false alarms weigh more by a factor, `shift`. */
  function nearest(other, costs, shift = 1) {
    const factors = other.tables.map(({ factor }) => asNumber(factor));
    const stated = factors.indexOf(1);
    const ratio = other.ratio === null ? null : ratioOf(other, costs);
    if (ratio === null || factors.length === 1) return { at: stated, rechosen: false, factor: null };
    const factor = (ratio / other.ratio) * shift;
    if (!(factor > 0 && factor < Infinity)) {
      return { at: factors.indexOf(factor), rechosen: true, factor };
    }
    const far = (each) => Math.abs(Math.log(each / factor));
    const inside = [...factors.keys()].filter((i) => factors[i] > 0 && factors[i] < Infinity);
    const at = inside.reduce((a, b) => (far(factors[b]) < far(factors[a]) ? b : a));
    return { at, rechosen: true, factor };
  }

  /** Return a table of decisions as it is counted, from its numbers. */
  function decoded(codes, counts, columns, { labels, decisions }) {
    const actual = codes.map((code) => code % labels.length);
    const decided = codes.map((code) => {
      let rest = Math.floor(code / labels.length);
      return Array.from({ length: columns }, () => {
        const digit = rest % decisions.length;
        rest = Math.floor(rest / decisions.length);
        return digit;
      });
    });
    return { names: [], decided, actual, counts, labels, decisions };
  }

  // ---- what each policy costs (Policies.estimate and Policies.interval)

  /** Return what each column of a table costs, with its interval, in the order of the names. */
  function estimates(joint, costs, confidence) {
    const alpha = checkedConfidence(confidence);
    check(joint, costs);
    return joint.names.map((name, model) => {
      const outcomes = outcomesOf(joint, costs, model);
      const [low, high] = extremalLimits(outcomes, alpha);
      const estimate = { name, cost: meanOf(outcomes), total: totalOf(outcomes), low, high };
      checkResults(estimate.cost, estimate.total, low, high);
      return estimate;
    });
  }

  /** Return the policies at some costs: all that the page shows of them.

      `names` are the classes and decisions, as the findings of the costs have them. `shares` are
      the known frequencies of the classes, where they are not those of the examples. */
  function policiesAt(other, names, costs, confidence, shares = null) {
    const alpha = checkedConfidence(confidence);
    const shift = shares === null ? 1 : shiftOf(other, names, shares);
    const { at, rechosen, factor } = nearest(other, costs, shift);
    const table = other.tables[at];
    const heldOut = decoded(table.held_out, table.held_out_counts, other.columns, names);
    const inSample = table.in_sample.length
      ? decoded(table.in_sample, table.in_sample_counts, other.columns, names)
      : heldOut;
    check(heldOut, costs);
    const context = { heldOut, inSample, costs, deltas: null };
    const policies = other.policies.map((each, i) => {
      const cuts = table.cuts[i].map(asNumber);
      const [above, below] = other.decisions.map((place) => names.decisions[place]);
      // The decision where there is only one: of a constant, or by an infinite threshold.
      const infinite = cuts.length === 1 && !Number.isFinite(cuts[0]);
      const same = infinite || each.kind === "constant";
      const always = each.decision ?? (cuts[0] === Infinity ? below : above);
      const again = each.rechosen && rechosen;
      const fitted = each.cross_fitted && !same;
      const about = { name: table.names[i], cuts, always, same, rechosen: again, cross_fitted: fitted };
      const policy = { ...each, ...about };
      const judged = judgedBy(context, policy, alpha, shares);
      checkResults(judged.cost, judged.total, judged.low, judged.high);
      return { ...policy, ...judged };
    });
    const order = competitors(other, policies);
    const pairs = shares === null ? pairsOf(context, policies, order, alpha) : [];
    return { policies, order, pairs, reference: reference(other, policies), factor, at, rechosen };
  }

  /** Return how much more false alarms weigh at other frequencies of the classes. */
  function shiftOf(other, names, shares) {
    if (other.ratio === null) return 1;
    const [negative, positive] = other.classes;
    const here = [0, 0];
    const { held_out: codes, held_out_counts: counts } = other.tables[0];
    codes.forEach((code, i) => (here[code % names.labels.length] += counts[i]));
    return (shares[negative] * here[positive]) / (shares[positive] * here[negative]);
  }

  /** Return the cost of a policy, with limits that hold although its threshold was chosen. */
  function judgedBy(context, policy, alpha, shares) {
    const tables = policy.cross_fitted ? [context.heldOut, context.inSample] : [context.heldOut];
    const found = tables.map((joint) => {
      const counts = confusionOf(joint, policy);
      if (shares !== null) return atShares(counts, context.costs, shares, alpha, policy.same);
      const outcomes = outcomesOfPolicy(context, joint, policy);
      const [low, high] = extremalLimits(outcomes, alpha);
      return { cost: meanOf(outcomes), total: totalOf(outcomes), low, high };
    });
    const counts = confusionOf(context.heldOut, policy);
    return { ...found[0], low: Math.min(...found.map(({ low }) => low)), counts };
  }

  /** Return the cost and its limits at known frequencies of two classes; constants have no doubt. */
  function atShares(counts, costs, shares, alpha, constant = false) {
    const sizes = shares.map((_, j) => sum(counts.map((row) => row[j])));
    const means = shares.map((_, j) => sum(counts.map((row, i) => row[j] * costs[i][j])) / sizes[j]);
    const cost = sum(shares.map((share, j) => (share > 0 ? share * means[j] : 0)));
    const [low, high] = constant ? [cost, cost] : stratifiedLimits(counts, costs, shares, alpha);
    return { cost, total: cost * sum(sizes), low, high };
  }

  /** Return how often a policy took each decision, [decided][was]. */
  function confusionOf(joint, policy) {
    const { decided, actual, counts, decisions, labels } = joint;
    const table = decisions.map(() => labels.map(() => 0));
    const always = decisions.indexOf(policy.always);
    const row = policy.same ? () => always : (i) => decided[i][policy.column];
    counts.forEach((count, i) => (table[row(i)][actual[i]] += count));
    return table;
  }

  function outcomesOfPolicy({ costs }, joint, policy) {
    if (!policy.same) return outcomesOf(joint, costs, policy.column);
    return outcomesOfRow(joint, costs[joint.decisions.indexOf(policy.always)]);
  }

  /** Return the outcomes of what depends on the class only. */
  function outcomesOfRow({ actual, counts }, row) {
    return outcomesOf({ decided: actual.map(() => [0]), actual, counts }, [row], 0);
  }

  // ---- who competes (Policies.competitors and Policies.reference)

  const MOST_CONSTANTS = 5;

  /** Return the place of the baseline: as named, the first as decided, or the best constant. */
  function reference({ baseline }, policies) {
    if (baseline !== null) return baseline;
    const decided = policies.findIndex(({ kind }) => kind === "decisions");
    return decided >= 0 ? decided : constantsOf(policies)[0];
  }

  function constantsOf(policies) {
    const found = [...policies.keys()].filter((i) => policies[i].kind === "constant");
    return found.sort((a, b) => policies[a].cost - policies[b].cost || a - b);
  }

  /** Return the places of each model's cheapest policy, the baseline and the constants. */
  function competitors(other, policies) {
    const best = new Map();
    policies.forEach(({ model, cost }, i) => {
      if (model === null || other.asked.includes(i)) return;
      if (!best.has(model) || cost < policies[best.get(model)].cost) best.set(model, i);
    });
    const constants = constantsOf(policies);
    const baseline = reference(other, policies);
    const chosen = [...best.values(), ...other.asked, baseline, ...constants.slice(0, MOST_CONSTANTS)];
    const rank = (i) => (i === baseline ? 0 : policies[i].kind === "constant" ? 1 : 2);
    const cost = (i) => policies[i].cost;
    return [...new Set(chosen)].sort((a, b) => cost(a) - cost(b) || rank(a) - rank(b));
  }

  // ---- comparisons (stakes.policies.policies, stakes.infer.difference)

  const ENOUGH = 5;
  const SMALLEST = 1e-12;

  /** Compare the cheapest with each of the others; what is shown to cost more no longer competes. */
  function pairsOf(context, policies, order, alpha) {
    const best = order[0];
    // what always decides as a constant prediction does is the same policy under another name
    const first = (i) => order.findIndex((j) => policies[j].same && policies[j].always === policies[i].always);
    const others = order.slice(1).filter((i) => !policies[i].same || order[first(i)] === i);
    const compared = others.map((each) => compare(context, policies[best], policies[each]));
    const byP = [...compared].sort((a, b) => a.p_value - b.p_value);
    let [left, largest, shown] = [1 + others.length, 0, true];
    for (const each of byP) {
      largest = Math.max(largest, adjusted(each.p_value, left));
      judge(each, level(alpha, left), largest, shown && largest <= alpha);
      shown = each.shown;
      if (shown) left -= 1;
    }
    return compared;
  }

  function compare(context, first, second) {
    const both = first.cross_fitted || second.cross_fitted;
    const tables = both ? [context.heldOut, context.inSample] : [context.heldOut];
    const found = tables.map((joint) => difference(context, joint, first, second));
    const signs = new Set(found.map(({ outcomes }) => Math.sign(meanOf(outcomes)) + 0));
    return {
      first: first.name,
      second: second.name,
      difference: meanOf(found[0].outcomes),
      method: found[0].method,
      p_value: signs.size === 1 ? Math.max(...found.map(pOf)) : 1,
      rare: found[0].rare,
      found,
    };
  }

  /** Return the outcomes of a difference, and the method that suits them. */
  function difference(context, joint, first, second) {
    const { costs } = context;
    const row = ({ always }) => costs[joint.decisions.indexOf(always)];
    const constant = [first, second].map(({ same }) => same);
    const careful = { method: "extremal", rare: null };
    if (constant[0] && constant[1]) {
      const [one, two] = [row(first), row(second)];
      return { ...careful, outcomes: outcomesOfRow(joint, one.map((cost, j) => cost - two[j])) };
    }
    if (constant[0] || constant[1]) {
      const [always, policy, sign] = constant[1] ? [row(second), first, 1] : [row(first), second, -1];
      const relative = costs.map((each) => each.map((cost, j) => sign * (cost - always[j]) + 0));
      return { ...careful, outcomes: outcomesOf(joint, relative, policy.column) };
    }
    context.deltas ??= costDifferences(costs);
    const outcomes = outcomesOfPair(joint, context.deltas, first.column, second.column);
    const rare = rareOutcome(joint, context.deltas, outcomes);
    return { method: rare === null ? "exact" : "extremal", rare, outcomes };
  }

  /** Return the p-value of no difference. */
  function pOf({ outcomes, method }) {
    if (outcomes.costs.length === 1) return meanOf(outcomes) === 0 ? 1 : 0;
    const tails = method === "exact" ? bootstrapTails(outcomes) : extremalTails(outcomes);
    const p = Math.min(1, 2 * Math.min(...tails));
    checkResults(p);
    return Math.max(p, SMALLEST);
  }

  /** Give a comparison its limits at an error rate; what is not shown they do not contradict. */
  function judge(pair, alpha, all, shown) {
    const limits = pair.found.map(({ outcomes, method }) =>
      method === "exact" ? bootstrapLimits(outcomes, alpha) : extremalLimits(outcomes, alpha)
    );
    let low = Math.min(...limits.map(([end]) => end));
    let high = Math.max(...limits.map(([, end]) => end));
    checkResults(pair.difference, low, high);
    const outside = !(low <= 0 && 0 <= high);
    if (!(shown && outside)) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
    Object.assign(pair, { low, high, adjusted: all, shown: shown && outside });
    delete pair.found;
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

  /** Say that the most expensive disagreement was observed too rarely; null where it was not. */
  function warning({ first, second, rare }) {
    if (rare === null) return null;
    const [one, other] = rare.predicted.map(quoted);
    return (
      `The most expensive disagreement (${first} predicting ${one} and ${second} ${other} when it ` +
      `was ${quoted(rare.actual)}) was ${seen(rare.count)}, so a more conservative test was used.`
    );
  }

  // ---- Tukey's range (stakes.policies._family)

  const TINY = 1e-7;
  const POINTS = Float64Array.from({ length: 1201 }, (_, i) => -9 + (18 * i) / 1200);
  const NORMAL = POINTS.map((x) => normalTail(-x));
  const DENSITY = POINTS.map(density);

  /** Return the p-value of a comparison with the cheapest of some policies. */
  function adjusted(p, members) {
    const pairs = (members * (members - 1)) / 2;
    if (pairs <= 1) return p;
    if (p < TINY) return Math.min(1, pairs * p);
    return Math.min(1, beyond(Math.SQRT2 * normalScore(p / 2), members));
  }

  /** Return the probability that so many normal variables have a larger range. */
  function beyond(width, members) {
    let total = 0;
    POINTS.forEach((x, i) => {
      const end = i === 0 || i === POINTS.length - 1 ? 0.5 : 1;
      total += end * DENSITY[i] * (normalTail(-x - width) - NORMAL[i]) ** (members - 1);
    });
    return 1 - (members * total * 18) / 1200;
  }

  const levels = new Map();

  /** Return the error rate of a comparison alone whose adjusted one is `alpha`. */
  function level(alpha, members) {
    const key = `${alpha} ${members}`;
    if (!levels.has(key)) levels.set(key, foundLevel(alpha, members));
    return levels.get(key);
  }

  function foundLevel(alpha, members) {
    let [low, high] = [alpha / Math.max(1, (members * (members - 1)) / 2), alpha];
    if (members <= 2 || adjusted(low, members) >= alpha) return low;
    while (high / low - 1 > 1e-13) {
      const middle = Math.sqrt(low * high);
      if (middle <= low || middle >= high) break;
      if (adjusted(middle, members) <= alpha) low = middle;
      else high = middle;
    }
    return low;
  }

  return { estimates, policiesAt, atShares, warning, adjusted, level, nearest };
})();
