/* The extremal interval where the shares of the classes are known, not those of the test set.

   Each class is a stratum of its own; the sum of their independent Dirichlet means is convolved on
   a lattice. Follows stakes.infer.probability.stratified. */

globalThis.stakesStrata = (() => {
  "use strict";

  const { distinct, place } = globalThis.stakesOutcomes;
  const { normalTail, dirichletQuantile, posterior } = globalThis.stakesDirichlet;

  const LATTICE = 1 << 14;
  const SCORES = Float64Array.from({ length: 97 }, (_, k) => -6 + k / 8);
  const PADDING = 6;
  const known = new Map();

  /** Return the limits of a cost; `counts` and `costs` are [decided][was], `shares` by class.

      There are two decisions, so each class has two outcomes at most. */
  function stratifiedLimits(counts, costs, shares, alpha) {
    const all = shares.map((weight, j) => stratum(counts, costs, weight, j));
    const strata = all.filter(({ weight }) => weight > 0);
    return [quantileOfSum(strata, 0, alpha / 2), quantileOfSum(strata, -1, 1 - alpha / 2)];
  }

  function stratum(counts, costs, weight, j) {
    const atoms = distinct(costs.map((row) => row[j]), 0);
    const seen = new Float64Array(atoms.length);
    counts.forEach((row, i) => {
      seen[place(atoms, costs[i][j])] += row[j];
    });
    return { weight, costs: atoms, counts: seen };
  }

  /** Return the value below which the weighted sum lies with probability `p`. */
  function quantileOfSum(strata, end, p) {
    let fixed = 0;
    const parts = [];
    for (const each of strata) {
      const alpha = posterior(each, end);
      const used = [...alpha.keys()].filter((i) => alpha[i] > 0);
      if (used.length === 1) fixed += each.weight * each.costs[used[0]];
      else parts.push(knotsOf(each, alpha));
    }
    if (!parts.length) return fixed;
    const start = parts.reduce((total, knots) => total + knots[0], 0);
    const width = parts.reduce((total, knots) => total + knots[knots.length - 1] - knots[0], 0);
    const step = width / LATTICE;
    const masses = parts.map((knots) => massOf(knots, step));
    return fixed + start + step * (positionOf(masses, p) + 0.5);
  }

  /** Return quantiles of one stratum's mean at the probabilities of SCORES. */
  function knotsOf({ weight, costs: [low, high] }, alpha) {
    return quantilesOf(alpha).map((each) => weight * (low + (high - low) * each));
  }

  /** Return the quantiles between two outcomes; remembered, as sliders ask for them again. */
  function quantilesOf(alpha) {
    const key = alpha.join();
    if (!known.has(key)) {
      const found = SCORES.map((score) => dirichletQuantile([0, 1], alpha, normalTail(score)));
      known.set(key, found);
    }
    return known.get(key);
  }

  /** Return the probability of each lattice cell, between knots by way of normal scores. */
  function massOf(knots, step) {
    const kept = [...knots.keys()].filter((i) => i === 0 || knots[i] !== knots[i - 1]);
    const at = kept.map((i) => knots[i]);
    const score = monotone(at, kept.map((i) => SCORES[i]));
    const last = at[at.length - 1];
    const below = (edge) => {
      if (edge < at[0]) return 0;
      return edge >= last ? 1 : normalTail(-score(edge));
    };
    const size = LATTICE + PADDING;
    const mass = new Float64Array(size);
    let before = below(knots[0] - 0.5 * step);
    for (let k = 0; k < size; k++) {
      const after = below(knots[0] + step * (k + 0.5));
      mass[k] = after - before;
      before = after;
    }
    return mass;
  }

  /** Return where, in lattice steps, the distribution of the sum of one or two reaches `p`. */
  function positionOf([first, second], p) {
    const running = new Float64Array(first.length);
    let total = 0;
    first.forEach((mass, k) => {
      total += mass;
      running[k] = total;
    });
    const cumulative = (m) => {
      if (second === undefined) return running[Math.min(m, running.length - 1)];
      let sum = 0;
      for (let k = 0; k <= Math.min(m, second.length - 1); k++) {
        sum += second[k] * running[Math.min(m - k, running.length - 1)];
      }
      return sum;
    };
    let [low, high] = [-1, LATTICE + PADDING];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (cumulative(middle) <= p) low = middle;
      else high = middle;
    }
    if (low < 0) return 0;
    const [below, above] = [cumulative(low), cumulative(high)];
    return above > below ? low + (p - below) / (above - below) : low;
  }

  /** Return the monotone cubic through points (Fritsch & Butland 1984), as SciPy's Pchip does. */
  function monotone(x, y) {
    const gaps = x.slice(1).map((each, i) => each - x[i]);
    const slopes = gaps.map((gap, i) => (y[i + 1] - y[i]) / gap);
    const inner = slopes.slice(1).map((slope, i) => {
      const [one, other] = [2 * gaps[i + 1] + gaps[i], gaps[i + 1] + 2 * gaps[i]];
      return (one + other) / (one / slopes[i] + other / slope); // scores rise, so no slope is 0
    });
    const ending = (gap, next, slope, after) => {
      const tangent = ((2 * gap + next) * slope - gap * after) / (gap + next);
      return Math.max(tangent, 0);
    };
    const n = slopes.length;
    const ends =
      n === 1
        ? [slopes[0], slopes[0]]
        : [
            ending(gaps[0], gaps[1], slopes[0], slopes[1]),
            ending(gaps[n - 1], gaps[n - 2], slopes[n - 1], slopes[n - 2]),
          ];
    const tangents = [ends[0], ...inner, ends[1]];
    return (at) => {
      const i = Math.min(place(x, at), n - 1);
      const t = at - x[i];
      const bend = (3 * slopes[i] - 2 * tangents[i] - tangents[i + 1]) / gaps[i];
      const twist = (tangents[i] + tangents[i + 1] - 2 * slopes[i]) / gaps[i] ** 2;
      return y[i] + t * (tangents[i] + t * (bend + t * twist));
    };
  }

  return { stratifiedLimits };
})();
