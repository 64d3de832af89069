/* The arithmetic behind the report's editable costs: what the Python package does by default.

   From the decisions at several ratios of costs (`OtherCosts` of the findings) and a cost matrix
   `costs[predicted][actual]` this computes what each policy costs with its interval, how the
   cheapest compares with the others, and what choosing it may cost. Thresholds are those of the
   nearest ratio that Python chose them for. Rows are independent and of equal weight; groups and
   weights are not treated here: a page with these has no costs to edit. At another prevalence than
   that of the examples costs and intervals are those of known class priors, and differences are not
   tested.

   Follows stakes.policies.policies, stakes.infer.family and, for policies that decide alike,
   stakes.policies._assemble. Each script names the Python module it follows; the numbers must stay
   equal, so change both. `tests/browser/test_live.py` holds them together. */

globalThis.stakesLive = (() => {
  "use strict";

  const { quoted } = globalThis.stakesWords;
  const { outcomesOf, outcomesOfPair, costDifferences, sum, totalOf, meanOf } = globalThis.stakesOutcomes;
  const { density, normalTail, normalScore, extremalLimits, extremalTails, upperLimit } =
    globalThis.stakesDirichlet;
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

  /** Return the policies at some costs, and the comparisons between them.

      `names` are the classes and decisions, as the findings of the costs have them. `shares` are
      the known frequencies of the classes, where they are not those of the examples. `merge` is
      whether policies that decide every row alike are one. */
  function policiesAt(other, names, costs, confidence, shares = null, merge = true) {
    const alpha = checkedConfidence(confidence);
    const shift = shares === null ? 1 : shiftOf(other, names, shares);
    const { at, rechosen, factor } = nearest(other, costs, shift);
    const table = other.tables[at];
    const heldOut = decoded(table.held_out, table.held_out_counts, other.columns, names);
    const inSample = table.in_sample.length
      ? decoded(table.in_sample, table.in_sample_counts, other.columns, names)
      : heldOut;
    check(heldOut, costs);
    const context = { heldOut, inSample, costs, alpha, ends: other.decisions, deltas: null };
    const [above, below] = other.decisions.map((place) => names.decisions[place]);
    const every = other.policies.map((each, place) => {
      const cuts = table.cuts[place].map(asNumber);
      // The decision where there is only one: of a constant, or by an infinite threshold.
      const infinite = cuts.length === 1 && !Number.isFinite(cuts[0]);
      const same = infinite || each.kind === "constant";
      const always = each.decision ?? (cuts[0] === Infinity ? below : above);
      const again = each.rechosen && rechosen;
      const fitted = each.cross_fitted && !same;
      return { ...each, place, name: table.names[place], cuts, always, same, rechosen: again, cross_fitted: fitted };
    });
    const groups = merge ? merged(inSample, every) : every.map((each) => [each]);
    const policies = groups.map((group) => {
      const judged = judgedBy(context, group[0], shares);
      checkResults(judged.cost, judged.total, judged.low, judged.high);
      const models = group.map(({ model }) => model).filter((model) => model !== null);
      return { ...group[0], group, models: [...new Set(models)], ...judged };
    });
    const base = referenceOf(other, policies);
    const order = competitors(other, policies, base);
    const found = { every, policies, order, base, factor, at, rechosen, family: null };
    if (shares === null && merge) found.family = familyOf(context, policies, order);
    return found;
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

  const PRECEDENCE = ["constant", "decisions", "minimum_cost", "threshold"];

  /** Return groups of policies that decide every row alike; what needs no choice comes first. */
  function merged({ decided, decisions }, every) {
    const groups = new Map();
    for (const each of every) {
      let key = `always ${decisions.indexOf(each.always)}`;
      if (!each.same) {
        const column = decided.map((row) => row[each.column]);
        const constant = column.every((value) => value === column[0]);
        key = constant ? `always ${column[0]}` : column.join();
      }
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(each);
    }
    const rank = ({ kind, pinned }) => 2 * PRECEDENCE.indexOf(kind) + Number(pinned);
    const found = [...groups.values()].map((group) => group.sort((a, b) => rank(a) - rank(b)));
    return found.sort((a, b) => a[0].place - b[0].place);
  }

  /** Return the cost of a policy, with limits that hold although its threshold was chosen.

      The counts are those of the decisions that are deployed, on all rows. */
  function judgedBy(context, policy, shares) {
    const { heldOut, inSample, costs, alpha } = context;
    const tables = policy.cross_fitted ? [heldOut, inSample] : [heldOut];
    const found = tables.map((joint) => {
      if (shares !== null) return atShares(confusionOf(joint, policy), costs, shares, alpha, policy.same);
      const outcomes = policy.same
        ? outcomesOfRow(joint, costs[joint.decisions.indexOf(policy.always)])
        : outcomesOf(joint, costs, policy.column);
      const [low, high] = extremalLimits(outcomes, alpha);
      return { cost: meanOf(outcomes), total: totalOf(outcomes), low, high };
    });
    const counts = confusionOf(inSample, policy);
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
  function confusionOf({ decided, actual, counts, decisions, labels }, policy) {
    const table = decisions.map(() => labels.map(() => 0));
    const always = decisions.indexOf(policy.always);
    const row = policy.same ? () => always : (i) => decided[i][policy.column];
    counts.forEach((count, i) => (table[row(i)][actual[i]] += count));
    return table;
  }

  /** Return the outcomes of what depends on the class only. */
  function outcomesOfRow({ actual, counts }, row) {
    return outcomesOf({ decided: actual.map(() => [0]), actual, counts }, [row], 0);
  }

  // ---- who competes (Policies.competitors and Policies.reference)

  const MOST_CONSTANTS = 5;

  const holding = (policies, place) => policies.findIndex(({ group }) => group.some((each) => each.place === place));

  /** Return the index of the baseline: as named, or the cheapest policy that needs no choice. */
  function referenceOf({ baseline }, policies) {
    if (baseline !== null) return holding(policies, baseline);
    const fixed = [...policies.keys()].filter((i) => policies[i].kind !== "threshold");
    return (fixed.length ? fixed : [0]).reduce((a, b) => (policies[b].cost < policies[a].cost ? b : a));
  }

  /** Return the indices of each model's cheapest policy, the baseline and the constants. */
  function competitors(other, policies, base) {
    const asked = other.asked.map((place) => holding(policies, place));
    const cost = (i) => policies[i].cost;
    const best = new Map();
    policies.forEach(({ models }, i) => {
      if (asked.includes(i)) return;
      for (const model of models) {
        if (!best.has(model) || cost(i) < cost(best.get(model))) best.set(model, i);
      }
    });
    const every = [...policies.keys()].filter((i) => policies[i].kind === "constant");
    const constants = every.sort((a, b) => cost(a) - cost(b) || a - b);
    const chosen = [...best.values(), ...asked, base, ...constants.slice(0, MOST_CONSTANTS)];
    const rank = (i) => (i === base ? 0 : policies[i].kind === "constant" ? 1 : 2);
    return [...new Set(chosen)].sort((a, b) => cost(a) - cost(b) || rank(a) - rank(b));
  }

  // ---- comparisons (stakes.infer.family and Policies.difference)

  const SMALLEST = 1e-12;

  /** Return the comparisons of the cheapest with each other competitor, and what choosing it risks.

      `apart` compares two that were named, alone: pairs are by index of the policies. */
  function familyOf(context, policies, order) {
    const { alpha } = context;
    // what always decides as a cheaper competitor does is left out
    const first = (i) => order.findIndex((j) => policies[j].same && policies[j].always === policies[i].always);
    const members = order.filter((i, at) => !policies[i].same || first(i) === at);
    const [best, ...others] = members;
    const compared = new Map(others.map((i) => [i, compare(context, policies[best], policies[i])]));
    const largest = stepDown([...compared.values()].map(({ p_value }) => p_value), alpha);
    const pairs = others.map((i, at) => pairOf(compared.get(i), [best, i], largest[at], true, alpha));

    function apart(one, two) {
      const known = pairs.find(({ first: a, second: b }) => (a === one && b === two) || (a === two && b === one));
      const found = compare(context, policies[one], policies[two]);
      const several = new Set([...members, one, two]).size;
      return pairOf(found, [one, two], known?.p_adjusted ?? adjusted(found.p_value, Math.max(2, several)), false, alpha);
    }

    return { members, pairs, apart, regret: regretOf([...compared.values()], alpha) };
  }

  /** Return the adjusted p-values: those shown to cost more no longer compete. */
  function stepDown(values, alpha) {
    const found = values.map(() => 1);
    let [left, largest] = [1 + values.length, 0];
    for (const i of [...values.keys()].sort((a, b) => values[a] - values[b])) {
      largest = Math.max(largest, adjusted(values[i], left));
      found[i] = largest;
      if (largest <= alpha) left -= 1;
    }
    return found;
  }

  /** Return the most that choosing the cheapest costs more than the best of all. */
  function regretOf(compared, alpha) {
    const uppers = compared.flatMap(({ tables }) => tables.map((each) => upperLimit(each, alpha / compared.length)));
    checkResults(...uppers);
    return Math.max(0, ...uppers);
  }

  /** Compare two policies in both tables, where a threshold was chosen; both must show a difference. */
  function compare(context, one, two) {
    const both = (one.cross_fitted || two.cross_fitted) && one !== two;
    const joints = both ? [context.heldOut, context.inSample] : [context.heldOut];
    const tables = joints.map((joint) => difference(context, joint, one, two));
    const signs = new Set(tables.map((each) => Math.sign(meanOf(each)) + 0));
    return { tables, p_value: signs.size === 1 ? Math.max(...tables.map(pOf)) : 1 };
  }

  function pairOf({ tables, p_value }, [first, second], p_adjusted, family, alpha) {
    const limits = tables.map((each) => extremalLimits(each, alpha));
    const low = Math.min(...limits.map(([end]) => end));
    const high = Math.max(...limits.map(([, end]) => end));
    const difference = meanOf(tables[0]);
    checkResults(difference, low, high);
    const shown = (family ? p_adjusted : p_value) <= alpha;
    return { first, second, difference, low, high, p_value, p_adjusted, shown, by: family ? "p_adjusted" : "p_value" };
  }

  /** Return the outcomes of what the first costs more than the second. */
  function difference(context, joint, one, two) {
    const { costs } = context;
    if (one === two) return outcomesOfRow(joint, costs[0].map(() => 0));
    const row = ({ always }) => costs[joint.decisions.indexOf(always)];
    if (one.same && two.same) {
      const [first, second] = [row(one), row(two)];
      return outcomesOfRow(joint, first.map((cost, j) => cost - second[j]));
    }
    if (one.same || two.same) {
      const [always, policy, sign] = two.same ? [row(two), one, 1] : [row(one), two, -1];
      const relative = costs.map((each) => each.map((cost, j) => sign * (cost - always[j]) + 0));
      return outcomesOf(joint, relative, policy.column);
    }
    const cut = nested(context, joint, one, two);
    if (cut !== null) return cut;
    context.deltas ??= costDifferences(costs);
    return outcomesOfPair(joint, context.deltas, one.column, two.column);
  }

  /** Return the outcomes of two cuts of one score, which disagree in one way only; else null. */
  function nested({ costs, ends: [high, below] }, { decided, actual, counts }, one, two) {
    const cut = ({ kind, cuts }) => kind === "threshold" && cuts.length === 1;
    const alone = cut(one) && cut(two) && one.model === two.model && one.cuts[0] !== two.cuts[0];
    if (high === undefined || !alone) return null;
    const second = one.cuts[0] > two.cuts[0]; // flags more rows
    const [more, less] = (second ? [two, one] : [one, two]).map(({ column }) => (row) => row[column] === high);
    if (decided.some((row) => less(row) && !more(row))) return null;
    const [from, to] = second ? [below, high] : [high, below];
    const values = costs[from].map((cost, j) => cost - costs[to][j]);
    const differ = decided.map((row) => [Number(more(row) !== less(row))]);
    return outcomesOf({ decided: differ, actual, counts }, [values.map(() => 0), values], 0);
  }

  /** Return the p-value of no difference. */
  function pOf(outcomes) {
    if (outcomes.costs.length === 1) return meanOf(outcomes) === 0 ? 1 : 0;
    const p = Math.min(1, 2 * Math.min(...extremalTails(outcomes)));
    checkResults(p);
    return Math.max(p, SMALLEST);
  }

  // ---- Tukey's range (stakes.infer.family)

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

  return { estimates, policiesAt, holding, atShares, adjusted };
})();
