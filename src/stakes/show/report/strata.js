/* The extremal interval where the class priors are known, not those of the test set.

   Each class is a stratum of its own. With S the sum of their Dirichlet means and Top what all would
   cost at the most, the upper limit is a quantile of S + E·(Top - S), E being one beta share for all
   of them. Follows stakes.infer._probability.strata, for two outcomes in each class. */

globalThis.stakesStrata = (() => {
  "use strict";

  const { distinct, place } = globalThis.stakesOutcomes;

  const WEIGHT = 0.7;
  const CELLS = 16384;
  const MERGED = 32;
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
    const limit = strata.length === 1 ? (given, tail) => limitOfOne(given[0], tail) : upperLimit;
    return [0 - limit(mirrored, alpha / 2), limit(strata, alpha / 2)];
  }

  /** Return the upper limit where one class has all the weight: a beta distribution. */
  function limitOfOne({ weight, costs: [low, high], counts: [cheap, costly] }, tail) {
    const share = cheap ? betaQuantile(betaBelow(costly + WEIGHT, cheap), 1 - tail) : 1;
    return weight * (low + (high - low) * share);
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
      return { start: weight * low, width: range, centre, total, area: (x) => (1 - share) * x };
    }
    const [a, b] = [total * share, total * (1 - share)];
    const [below, above] = [betaBelow(a, b), betaBelow(a + 1, b)];
    const [from, to] = [1e-13, 1 - 1e-13].map((p) => betaQuantile(below, p));
    const area = (x) => x * below(x) - share * above(x);
    return {
      start: weight * low + range * from,
      width: range * (to - from),
      centre,
      total,
      area: (distance) => range * (area(from + distance / range) - area(from)),
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
      // What lies beyond the ends is not on the lattice, but must not move the mean.
      start += share.centre - share.start - step * mass.reduce((sum, each, k) => sum + k * each, 0);
      return mass;
    });
    return lawOf(other === undefined ? one : convolved(one, other), start, step);
  }

  /** Return the masses of a sum, by one transform of both: as real and as imaginary parts. */
  function convolved(one, other) {
    const size = one.length + other.length - 1;
    const length = 2 ** Math.ceil(Math.log2(size));
    const [re, im] = [new Float64Array(length), new Float64Array(length)];
    re.set(one);
    im.set(other);
    transform(re, im);
    // With z = x + iy, the product of the transforms of x and y is (z² - z̄²)/4i, z̄ the mirrored one.
    const [up, down] = [new Float64Array(length), new Float64Array(length)];
    for (let k = 0; k < length; k++) {
      const back = (length - k) % length;
      const [a, b, c, d] = [re[k], im[k], re[back], -im[back]];
      up[k] = (2 * a * b - 2 * c * d) / 4;
      down[k] = -(a * a - b * b - c * c + d * d) / 4;
    }
    // Backwards: with the parts exchanged.
    transform(down, up);
    return up.subarray(0, size).map((mass) => Math.max(mass / length, 0));
  }

  /** Replace x by Σ x e^(-iθj); the length is a power of two. */
  function transform(re, im) {
    const length = re.length;
    for (let i = 1, j = 0; i < length; i++) {
      let bit = length >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) [re[i], re[j], im[i], im[j]] = [re[j], re[i], im[j], im[i]];
    }
    const angles = Float64Array.from({ length: length >> 1 }, (_, k) => (2 * Math.PI * k) / length);
    const [cosines, sines] = [angles.map(Math.cos), angles.map((angle) => -Math.sin(angle))];
    for (let half = 1; half < length; half *= 2) {
      for (let turn = 0; turn < half; turn++) {
        const cosine = cosines[(turn * length) / (2 * half)];
        const sine = sines[(turn * length) / (2 * half)];
        for (let a = turn; a < length; a += 2 * half) {
          const b = a + half;
          const x = re[b] * cosine - im[b] * sine;
          const y = re[b] * sine + im[b] * cosine;
          re[b] = re[a] - x;
          im[b] = im[a] - y;
          re[a] += x;
          im[a] += y;
        }
      }
    }
  }

  function lawOf(masses, start, step) {
    const used = [...masses.keys()].filter((k) => masses[k] > NOTHING);
    return {
      points: used.map((k) => start + step * k),
      masses: used.map((k) => masses[k]),
      width: step,
    };
  }

  /** Return fewer points, each the mean of those that it stands for. */
  function merged({ points, masses, width }) {
    const law = { points: [], masses: [], width: MERGED * width };
    for (let from = 0; from < points.length; from += MERGED) {
      let [total, moment] = [0, 0];
      for (let k = from; k < Math.min(from + MERGED, points.length); k++) {
        total += masses[k];
        moment += masses[k] * (points[k] - points[from]);
      }
      law.points.push(points[from] + moment / total);
      law.masses.push(total);
    }
    return law;
  }

  /** Return the mass of each point of a lattice: between two it is split, which keeps its mean.

      `area` is the integral of the distribution function. */
  function massOf({ width, area }, step) {
    const last = Math.ceil(width / step - 1e-9);
    const end = area(width);
    const mass = new Float64Array(last + 1);
    let [before, filled] = [0, 0];
    for (let k = 0; k <= last; k++) {
      const reached = (k + 1) * step;
      const after = reached < width ? area(reached) : end + reached - width;
      const average = (after - before) / step;
      mass[k] = average - filled;
      [before, filled] = [after, average];
    }
    return mass;
  }

  /** Return the value that is exceeded with probability `tail`. */
  function exceeded(law, top, extra, tail) {
    const share = extra === null ? null : betaBelow(WEIGHT, extra);
    const given = (value, point) => {
      if (point > value) return 1;
      if (extra === null || top <= point) return 0;
      return 1 - share((value - point) / (top - point));
    };
    const low = law.points[0];
    const high = Math.max(top, law.points[law.points.length - 1]);
    const missing = (value, { points, masses, width }) => {
      let above = 0;
      for (let i = 0; i < points.length; i++) {
        let each = 0;
        // The probability has a kink where S is the value: there its mass is spread over the cell.
        if (Math.abs(points[i] - value) < NEAR * width) {
          for (const offset of OFFSETS) {
            each += given(value, Math.min(points[i] + offset * width, high));
          }
          each /= OFFSETS.length;
        } else each = given(value, points[i]);
        above += masses[i] * each;
      }
      return Math.log(Math.max(above, 1e-300) / tail);
    };
    if (missing(low, law) <= 0) return low;
    // Most steps with few points, the last ones with all.
    const few = merged(law);
    const rough = rootOf((value) => missing(value, few), low, high, 1e-6);
    const room = 1e-4 * (high - low);
    const [below, above] = [Math.max(rough - room, low), Math.min(rough + room, high)];
    const all = (value) => missing(value, law);
    const near = all(below) > 0 && all(above) < 0;
    return near ? rootOf(all, below, above, 1e-10) : rootOf(all, low, high, 1e-10);
  }

  /** Return where a falling function is zero, to `near`: regula falsi with Illinois' halving. */
  function rootOf(f, from, to, near) {
    let [low, high, side] = [from, to, 0];
    let [atLow, atHigh] = [f(low), f(high)];
    if (atLow <= 0) return low;
    for (let round = 0; round < 100 && high - low > 1e-12 * Math.max(Math.abs(high), 1e-300); round++) {
      const secant = low + ((high - low) * atLow) / (atLow - atHigh);
      // The end is far out on the scale of logarithms: halve until there are two good points.
      const middle = atHigh > -20 && secant > low && secant < high ? secant : (low + high) / 2;
      const now = f(middle);
      if (Math.abs(now) < near) return middle;
      if (now > 0) {
        if (side > 0) atHigh /= 2;
        [low, atLow, side] = [middle, now, 1];
      } else {
        if (side < 0) atLow /= 2;
        [high, atHigh, side] = [middle, now, -1];
      }
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

  /** Return the function P(B ≤ x), B ~ Beta(a, b), by the continued fraction where that is fast. */
  function betaBelow(a, b) {
    const scale = logGamma(a + b) - logGamma(a) - logGamma(b);
    const turn = (a + 1) / (a + b + 2);
    return (x) => {
      if (x <= 0) return 0;
      if (x >= 1) return 1;
      const front = Math.exp(scale + a * Math.log(x) + b * Math.log1p(-x));
      if (x > turn) return 1 - (front * betaFraction(b, a, 1 - x)) / b;
      return (front * betaFraction(a, b, x)) / a;
    };
  }

  /** Return the continued fraction, forwards: by ratios of successive numerators, denominators. */
  function betaFraction(a, b, x) {
    const held = (value) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
    let ratioDown = 1 / held(1 - ((a + b) * x) / (a + 1));
    let [ratioUp, value] = [1, ratioDown];
    for (let m = 1; m < 1000; m++) {
      const before = value;
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      ratioDown = 1 / held(1 + even * ratioDown);
      ratioUp = held(1 + even / ratioUp);
      value *= ratioDown * ratioUp;
      ratioDown = 1 / held(1 + odd * ratioDown);
      ratioUp = held(1 + odd / ratioUp);
      value *= ratioDown * ratioUp;
      if (Math.abs(value - before) < 1e-15 * Math.abs(value)) break;
    }
    return value;
  }

  /** Return the x up to which a distribution has the mass p, to within what a lattice needs. */
  function betaQuantile(below, p) {
    let [low, high] = [0, 1];
    for (let round = 0; round < 60; round++) {
      const middle = (low + high) / 2;
      if (below(middle) < p) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }

  return { stratifiedLimits };
})();
