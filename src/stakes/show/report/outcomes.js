/* The possible costs of a decision and how often each occurred, of one model or of a pair.

   Follows stakes.infer.outcomes and stakes.infer.deltas. Counts are those of
   `JointConfusion.to_dict()`, a cost matrix is `costs[predicted][actual]`. */

globalThis.stakesOutcomes = (() => {
  "use strict";

  const { roundHalfEven } = globalThis.stakesWords;

  const ROUNDING = 1e-15;
  const MOST_ATOMS = 2048;
  const MOST_CELLS = 1 << 24;
  const MOST_DECIMALS = 12;

  /** Return the distinct values, lowest first; those that differ by rounding only are one. */
  function distinct(values, scale) {
    const sorted = Float64Array.from(values).sort();
    const size = (i) => Math.max(scale, Math.abs(sorted[i]), Math.abs(sorted[i - 1]));
    return sorted.filter((value, i) => i === 0 || value - sorted[i - 1] > ROUNDING * size(i));
  }

  /** Return the index of the last atom that is not above the value. */
  function place(atoms, value) {
    let low = 0;
    let high = atoms.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (atoms[middle] <= value) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Return the outcomes of one model, whose cells are the cells of the cost matrix. */
  function outcomesOf({ decided, actual, counts }, costs, model) {
    const atoms = distinct(costs.flat(), 0);
    return counted(counts, atoms, (row) => costs[decided[row][model]][actual[row]]);
  }

  /** Return the outcomes of a pair: what the first costs more than the second. */
  function outcomesOfPair({ decided, actual, counts }, deltas, first, second) {
    const delta = (row) => deltas.at(decided[row][first], decided[row][second], actual[row]);
    return counted(counts, deltas.atoms, delta);
  }

  function counted(rows, atoms, valueOf) {
    const counts = new Float64Array(atoms.length);
    rows.forEach((count, row) => {
      counts[place(atoms, valueOf(row))] += count;
    });
    return { costs: atoms, counts, n: sum(counts) };
  }

  /** Return Δ(i1, i2, j) = C(i1, j) - C(i2, j) (Margineantu & Dietterich 2000, section 3.2).

      As `stakes.infer.deltas.cost_differences` does: costs with few decimals have differences
      with as few. */
  function costDifferences(costs) {
    const decisions = costs.length;
    const classes = costs[0].length;
    if (decisions * decisions * classes > MOST_CELLS) {
      throw new Error(`decisions: ${decisions} are too many to compare pairs of models.`);
    }
    checkDigits(costs);
    const least = costs[0].map((_, j) => Math.min(...costs.map((row) => row[j])));
    const reduced = costs.map((row) => row.map((cost, j) => cost - least[j]));
    const decimals = decimalsOf(costs.flat());
    const at = (i, k, j) => {
      const delta = reduced[i][j] - reduced[k][j];
      return (decimals === null ? delta : rounded(delta, decimals)) + 0; // no -0
    };
    const cells = costs.flatMap((row, i) => costs.flatMap((_, k) => row.map((_, j) => at(i, k, j))));
    return { at, atoms: distinct(cells, highest(costs.flat().map(Math.abs))) };
  }

  /** Throw where a difference of costs of one class would be lost in the rounding of others. */
  function checkDigits(costs) {
    const rounding = ROUNDING * highest(costs.flat().map(Math.abs));
    costs[0].forEach((_, j) => {
      const sorted = costs.map((row) => row[j]).sort((a, b) => a - b);
      for (let i = 1; i < sorted.length; i++) {
        const gap = sorted[i] - sorted[i - 1];
        const own = ROUNDING * Math.max(Math.abs(sorted[i]), Math.abs(sorted[i - 1]));
        if (gap > own && gap <= rounding) {
          throw new Error("costs: they are too large, or differ by too little, to compute with.");
        }
      }
    });
  }

  function decimalsOf(values) {
    for (let decimals = 0; decimals < MOST_DECIMALS; decimals++) {
      if (values.every((value) => rounded(value, decimals) === value)) return decimals;
    }
    return null;
  }

  function rounded(value, decimals) {
    const power = 10 ** decimals;
    return roundHalfEven(value * power) / power;
  }

  function sum(values) {
    let total = 0;
    for (const value of values) total += value;
    return total;
  }

  function dot(first, second) {
    let total = 0;
    for (let i = 0; i < first.length; i++) total += first[i] * second[i];
    return total;
  }

  const highest = (values) => values.reduce((a, b) => Math.max(a, b));
  const totalOf = (outcomes) => dot(outcomes.counts, outcomes.costs);
  const meanOf = (outcomes) => totalOf(outcomes) / outcomes.n;

  /** Return the outcomes with at most some thousand atoms: others are split between neighbours. */
  function condensed(outcomes) {
    const { costs, counts, n } = outcomes;
    if (costs.length <= MOST_ATOMS) return outcomes;
    const mean = meanOf(outcomes);
    const spread = counts.map((count, i) => count * (costs[i] - mean) ** 2);
    const picked = [0, ...levelIndices(counts), ...levelIndices(spread), costs.length - 1];
    const knots = Float64Array.from(new Set(picked)).sort();
    const kept = knots.map((index) => costs[index]);
    const shares = new Float64Array(kept.length);
    counts.forEach((count, i) => {
      const left = Math.min(place(kept, costs[i]), kept.length - 2);
      const share = (costs[i] - kept[left]) / (kept[left + 1] - kept[left]);
      shares[left] += count * (1 - share);
      shares[left + 1] += count * share;
    });
    return { costs: kept, counts: shares, n };
  }

  /** Return where the running sum of the shares reaches each of many equidistant levels. */
  function levelIndices(shares) {
    const total = sum(shares);
    const indices = [];
    let index = 0;
    let running = shares[0];
    for (let k = 0; k < MOST_ATOMS / 2; k++) {
      const level = k / (MOST_ATOMS / 2 - 1);
      while (running / total < level && index < shares.length - 1) running += shares[++index];
      indices.push(index);
    }
    return indices;
  }

  return { distinct, place, outcomesOf, outcomesOfPair, costDifferences, sum, totalOf, meanOf, condensed };
})();
