/* The extremal interval where the shares of the classes are known, not those of the test set.

   Each class is a stratum of its own. With S the sum of their Dirichlet means and Top what all would
   cost at the most, the upper limit is a quantile of S + E·(Top - S), E being one beta share for all
   of them. Follows stakes.infer._probability.strata, for two outcomes in each class. */

globalThis.stakesStrata = (() => {
  "use strict";

  const { distinct, place } = globalThis.stakesOutcomes;

  const WEIGHT = 0.7;
  const CELLS = 2048;
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
    return [0 - upperLimit(mirrored, alpha / 2), upperLimit(strata, alpha / 2)];
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
    const law = summed(parts.map((part) => contribution(part, draws)));
    return exceeded(law, top, extra, tail);
  }

  /** Return where one class's share of the cost begins, how far it goes, and its distribution.

      With almost no draws it is at one of them. */
  function contribution({ weight, counts, n, low, high, mean }, draws) {
    let [cheap, costly] = counts.length > 1 ? counts : [counts[0], 0];
    let total = n;
    if (high === low) return { start: weight * mean, width: 0 };
    if (n < 2) {
      costly += 1; // a single draw says little of its class: it gets an extra of its own
      total = n + 1;
    } else if (draws > 1) {
      total = Math.min(n, Math.max(0, ((n - 1) * (draws + 1)) / (draws - 1) - 1));
    }
    if (!cheap || !costly) return { start: weight * (costly ? high : low), width: 0 };
    const share = costly / (cheap + costly);
    const range = weight * (high - low);
    const centre = weight * low + range * share;
    if (total < 1e-6) {
      return { start: weight * low, width: range, centre, total, below: () => 1 - share };
    }
    const [a, b] = [total * share, total * (1 - share)];
    const [from, to] = [1e-13, 1 - 1e-13].map((p) => betaQuantile(a, b, p));
    return {
      start: weight * low + range * from,
      width: range * (to - from),
      centre,
      total,
      below: (distance) => betaBelow(a, b, from + distance / range),
    };
  }

  /** Return the points and masses of the sum of independent shares, on one lattice. */
  function summed(shares) {
    let start = shares.reduce((total, share) => total + share.start, 0);
    const spread = shares.filter(({ width }) => width > 0).sort((a, b) => a.total - b.total);
    if (!spread.length) return { points: [start], masses: [1], width: 0 };
    const all = spread.reduce((total, { width }) => total + width, 0);
    // The one with most mass near its ends has both of them on the lattice.
    const step = spread[0].width / Math.max(Math.round((CELLS * spread[0].width) / all), 1);
    const [one, other] = spread.map((share) => {
      const mass = massOf(share, step);
      // The lattice may be coarse for the narrower one, but must not move its mean.
      start += share.centre - share.start - step * mass.reduce((sum, each, k) => sum + k * each, 0);
      return mass;
    });
    let masses = one;
    if (other !== undefined) {
      masses = new Float64Array(one.length + other.length - 1);
      one.forEach((left, i) => other.forEach((right, k) => (masses[i + k] += left * right)));
    }
    return { points: masses.map((_, k) => start + k * step), masses, width: step };
  }

  function massOf({ width, below }, step) {
    const last = Math.round(width / step);
    const mass = new Float64Array(last + 1);
    let before = 0;
    for (let k = 0; k <= last; k++) {
      const after = k === last ? 1 : below((k + 0.5) * step);
      mass[k] = after - before;
      before = after;
    }
    return mass;
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
        if (masses[i] <= NOTHING) return total;
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
