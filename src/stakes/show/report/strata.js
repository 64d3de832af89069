/* The extremal interval where the shares of the classes are known, not those of the test set.

   Each class is a stratum of its own. With S the sum of their Dirichlet means and Top what all would
   cost at the most, the upper limit is a quantile of S + E·(Top - S), E being one beta share for all
   of them. Follows stakes.infer._probability.strata, for two outcomes in each class. */

globalThis.stakesStrata = (() => {
  "use strict";

  const { distinct, place } = globalThis.stakesOutcomes;

  const WEIGHT = 0.7;
  const CELLS = 1024;
  const BINS = 2048;
  const NOTHING = 1e-16;
  const NEAR = 4;
  const OFFSETS = Array.from({ length: 16 }, (_, k) => (k + 0.5) / 16 - 0.5);

  /** Return the limits of a cost; `counts` and `costs` are [decided][was], `shares` by class.

      There are two decisions, so each class has two outcomes at most. */
  function stratifiedLimits(counts, costs, shares, alpha) {
    const all = shares.map((weight, j) => stratum(counts, costs, weight, j));
    const strata = all.filter(({ weight }) => weight > 0);
    if (strata.length === 1 && strata[0].costs.length === 1) {
      const only = strata[0].weight * strata[0].costs[0];
      return [only, only];
    }
    const mirrored = strata.map((each) => ({
      ...each,
      costs: each.costs.map((cost) => -cost).reverse(),
      counts: each.counts.slice().reverse(),
    }));
    return [-upperLimit(mirrored, alpha / 2), upperLimit(strata, alpha / 2)];
  }

  function stratum(counts, costs, weight, j) {
    const atoms = distinct(costs.map((row) => row[j]), 0);
    const seen = new Float64Array(atoms.length);
    counts.forEach((row, i) => {
      seen[place(atoms, costs[i][j])] += row[j];
    });
    return { weight, costs: [...atoms], counts: seen };
  }

  /** Return what S + E·(Top - S) exceeds with probability `tail`. */
  function upperLimit(strata, tail) {
    const parts = strata.map(({ weight, costs, counts }) => {
      const n = counts.reduce((a, b) => a + b);
      const [low, high] = [costs[0], costs[costs.length - 1]];
      const mean = costs.reduce((sum, cost, i) => sum + cost * counts[i], 0) / n;
      return { weight, counts, n, low, high, mean };
    });
    const uncertain = parts.filter(({ low, high }) => high > low);
    const several = uncertain.filter(({ n }) => n >= 2);
    const sum = (each) => uncertain.reduce((total, part) => total + each(part), 0);
    const largest = (each) => Math.max(...several.map(each));
    const top = parts.reduce((total, { weight, high }) => total + weight * high, 0);
    let [draws, extra] = [Infinity, null];
    if (several.length) {
      const range = ({ weight, low, high }) => weight * (high - low);
      const gain = ({ weight, mean, high }) => weight * (high - mean);
      draws = sum(range) / largest((part) => range(part) / part.n);
      const step = largest((part) => gain(part) / part.n);
      if (step > 0) extra = Math.min(draws, sum(gain) / step);
    }
    let law = { points: [0], masses: [1], width: 0 };
    for (const part of parts) law = added(law, contribution(part, draws));
    return exceeded(law, top, extra, tail);
  }

  /** Return the points and masses of one class's share of the cost. */
  function contribution({ weight, counts, n, low, high, mean }, draws) {
    let [cheap, costly] = counts.length > 1 ? counts : [counts[0], 0];
    let total = n;
    if (high === low) return { points: [weight * mean], masses: [1], width: 0 };
    if (n < 2) {
      costly += 1; // a single draw says little of its class: it gets an extra of its own
      total = n + 1;
    } else if (draws > 1) {
      total = Math.min(n, Math.max(0, ((n - 1) * (draws + 1)) / (draws - 1) - 1));
    }
    const seen = cheap + costly;
    if (!cheap || !costly) {
      return { points: [weight * (costly ? high : low)], masses: [1], width: 0 };
    }
    const share = costly / seen;
    if (total < 1e-6) {
      return { points: [weight * low, weight * high], masses: [1 - share, share], width: 0 };
    }
    const [a, b] = [total * share, total * (1 - share)];
    const [start, end] = [1e-13, 1 - 1e-13].map((p) => betaQuantile(a, b, p));
    const points = [];
    const masses = [];
    const step = (end - start) / CELLS;
    let before = 0;
    for (let k = 0; k <= CELLS; k++) {
      const after = k === CELLS ? 1 : betaBelow(a, b, start + (k + 0.5) * step);
      if (after - before > NOTHING) {
        points.push(weight * (low + (high - low) * (start + k * step)));
        masses.push(after - before);
      }
      before = after;
    }
    return { points, masses, width: weight * (high - low) * step };
  }

  /** Return the law of the sum of two independent ones, in at most so many bins with their means. */
  function added(one, other) {
    const start = one.points[0] + other.points[0];
    const end = one.points[one.points.length - 1] + other.points[other.points.length - 1];
    const few = one.points.length * other.points.length <= BINS;
    const scale = end > start ? (BINS - 1) / (end - start) : 0;
    const mass = new Float64Array(BINS);
    const moment = new Float64Array(BINS);
    const [points, masses] = [[], []];
    one.points.forEach((left, i) =>
      other.points.forEach((right, k) => {
        const weight = one.masses[i] * other.masses[k];
        if (few) {
          points.push(left + right);
          masses.push(weight);
          return;
        }
        const bin = Math.round((left + right - start) * scale);
        mass[bin] += weight;
        moment[bin] += weight * (left + right);
      })
    );
    if (few) return { points, masses, width: Math.max(one.width, other.width) };
    mass.forEach((weight, bin) => {
      if (weight <= NOTHING) return;
      points.push(moment[bin] / weight);
      masses.push(weight);
    });
    return { points, masses, width: 1 / scale };
  }

  /** Return the value that is exceeded with probability `tail`, by halving and secants. */
  function exceeded({ points, masses, width }, top, extra, tail) {
    const given = (value, point) => {
      if (point > value) return 1;
      if (extra === null || top <= point) return 0;
      return 1 - betaBelow(WEIGHT, extra, (value - point) / (top - point));
    };
    // The probability has a kink where S is the value: there its mass is spread over the cell.
    const around = (value, point) =>
      OFFSETS.reduce((total, offset) => total + given(value, point + offset * width), 0) /
      OFFSETS.length;
    const above = (value) =>
      points.reduce((total, point, i) => {
        const near = Math.abs(point - value) < NEAR * width;
        return total + masses[i] * (near ? around(value, point) : given(value, point));
      }, 0);
    let low = Math.min(...points);
    let high = Math.max(top, ...points);
    if (above(low) <= tail) return low;
    let [atLow, atHigh] = [Math.log(above(low) / tail), Math.log(1e-300)];
    for (let round = 0; round < 100 && high - low > 1e-12 * Math.max(Math.abs(high), 1e-300); round++) {
      const secant = low + ((high - low) * atLow) / (atLow - atHigh);
      const inside = round % 2 && secant > low && secant < high;
      const middle = inside ? secant : (low + high) / 2;
      const now = Math.log(Math.max(above(middle), 1e-300) / tail);
      if (now > 0) [low, atLow] = [middle, now];
      else [high, atHigh] = [middle, now];
      if (Math.abs(now) < 1e-10) return middle;
    }
    return (low + high) / 2;
  }

  // ---- the beta distribution

  /** Return log Γ(x): Stirling's series, from 10 on. */
  function logGamma(x) {
    let shift = 0;
    let y = x;
    for (; y < 10; y += 1) shift += Math.log(y);
    const s = 1 / (y * y);
    const series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / y;
    return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + series - shift;
  }

  /** Return P(B ≤ x), B ~ Beta(a, b), by the continued fraction where it converges fast. */
  function betaBelow(a, b, x) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - betaBelow(b, a, 1 - x);
    const front = Math.exp(
      logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)
    );
    // Evaluated forwards: convergents as ratios of successive numerators and denominators.
    const tiny = 1e-300;
    let ratioDown = 1 - ((a + b) * x) / (a + 1);
    ratioDown = 1 / (Math.abs(ratioDown) < tiny ? tiny : ratioDown);
    let [ratioUp, value] = [1, ratioDown];
    for (let m = 1; m < 1000; m++) {
      const before = value;
      for (const term of [
        (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
        (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
      ]) {
        ratioDown = 1 + term * ratioDown;
        ratioDown = 1 / (Math.abs(ratioDown) < tiny ? tiny : ratioDown);
        ratioUp = 1 + term / ratioUp;
        if (Math.abs(ratioUp) < tiny) ratioUp = tiny;
        value *= ratioDown * ratioUp;
      }
      if (Math.abs(value - before) < 1e-15 * Math.abs(value)) break;
    }
    return (front * value) / a;
  }

  /** Return the x with P(B ≤ x) = p, to within what a lattice needs. */
  function betaQuantile(a, b, p) {
    let [low, high] = [0, 1];
    for (let round = 0; round < 60; round++) {
      const middle = (low + high) / 2;
      if (betaBelow(a, b, middle) < p) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  return { stratifiedLimits };
})();
