/* BDELTACOST, the paired bootstrap of a difference, without its sampling noise.

   Follows stakes.infer.probability: distribution, convolution, lattice and laws. */

globalThis.stakesBootstrap = (() => {
  "use strict";

  const { roundHalfEven } = globalThis.stakesWords;
  const { dot, highest } = globalThis.stakesOutcomes;

  const TWO_PI = 2 * Math.PI;
  const TAIL = 1e-13;
  const LARGEST_LATTICE = 1 << 22;
  const FINE_LATTICE = 1 << 17;
  const NEGLIGIBLE = -28;
  const LEAF = 16;
  const LARGEST_DENOMINATOR = 100000n;
  const LARGEST_POSITION = 2 ** 40;
  const CLOSENESS = 1e-13;

  /** Return the bootstrap probabilities of a mean of at most, and of at least, zero. */
  function bootstrapTails({ costs, counts, n }) {
    const seen = [...counts.keys()].filter((i) => counts[i] > 0);
    const draws = {
      n,
      costs: Float64Array.from(seen, (i) => costs[i]),
      probabilities: Float64Array.from(seen, (i) => counts[i] / n),
    };
    if (seen.length === 1) return [Number(draws.costs[0] <= 0), Number(draws.costs[0] >= 0)];
    const [low, high] = chernoffWindow(draws);
    const step = latticeStep(draws, low, high);
    const anchor = draws.costs[draws.probabilities.indexOf(highest(draws.probabilities))];
    const zero = -anchor / step;
    const law = {
      n,
      placed: onLattice(draws, anchor, step),
      first: Math.floor((low - anchor) / step + 1e-6),
      size: Math.ceil((high - low) / step) + 2,
    };
    const [atMost, below] = cumulative(law, [Math.floor(zero + 1e-6), Math.ceil(zero - 1e-6) - 1]);
    return [atMost, 1 - below];
  }

  /** Return the step of the mean's lattice: that of the costs, or a fine one if they have none. */
  function latticeStep({ costs, n }, low, high) {
    const common = commonStep(costs);
    const step = common === null ? null : common / n;
    if (step !== null && (high - low) / step <= LARGEST_LATTICE) return step;
    // Splitting costs between lattice points adds n·step²/4 to the variance at most.
    const finer = Math.ceil(Math.log2(Math.max(n / 1e5, 1)) / 2);
    const size = Math.min(FINE_LATTICE * 2 ** finer, LARGEST_LATTICE);
    return (high - low) / size;
  }

  /** Return the largest step of which all differences of `costs` are multiples, or null. */
  function commonStep(costs) {
    const gaps = [...new Set(costs.map((cost) => cost - costs[0]))].slice(1);
    let denominator = 1n;
    for (const gap of gaps) {
      const ratio = gap / gaps[0];
      if (ratio > LARGEST_POSITION) return null;
      const [over, under] = nearFraction(ratio);
      if (Math.abs(Number(over) / Number(under) - ratio) > CLOSENESS * ratio) return null;
      denominator *= under / commonDivisor(denominator, under);
      if (denominator > LARGEST_DENOMINATOR) return null;
    }
    const last = gaps[gaps.length - 1];
    // The largest difference has the smallest relative rounding.
    return last / roundHalfEven(last / (gaps[0] / Number(denominator)));
  }

  function commonDivisor(a, b) {
    return b === 0n ? a : commonDivisor(b, a % b);
  }

  /** Return the closest fraction of a limited denominator, as Python's limit_denominator does. */
  function nearFraction(ratio) {
    if (Number.isInteger(ratio)) return [BigInt(ratio), 1n];
    const [given, bits] = [BigInt(ratio * 2 ** 52), 2n ** 52n]; // exact: ratios are at least 1
    let [p0, q0, p1, q1, top, bottom] = [0n, 1n, 1n, 0n, given, bits];
    while (bottom > 0n) {
      const whole = top / bottom;
      const next = q0 + whole * q1;
      if (next > LARGEST_DENOMINATOR) break;
      [p0, q0, p1, q1] = [p1, q1, p0 + whole * p1, next];
      [top, bottom] = [bottom, top - whole * bottom];
    }
    if (bottom === 0n) return [p1, q1];
    const rest = (LARGEST_DENOMINATOR - q0) / q1;
    const other = [p0 + rest * p1, q0 + rest * q1];
    const distance = (p, q) => Math.abs(Number(p * bits - given * q) / Number(q));
    return distance(p1, q1) <= distance(...other) ? [p1, q1] : other;
  }

  /** Return limits that the mean leaves with a probability of at most TAIL each (Chernoff). */
  function chernoffWindow({ costs, probabilities, n }) {
    const goal = -Math.log(TAIL);
    const least = costs[0];
    const most = costs[costs.length - 1];
    const mean = dot(probabilities, costs);
    const variance = dot(probabilities, costs.map((cost) => (cost - mean) ** 2));
    const sd = Math.sqrt(variance / n);
    const tilt = (t) => {
      const rate = t * (1 / n);
      const top = Math.max(rate * least, rate * most);
      let [total, weighted] = [0, 0];
      for (let i = 0; i < costs.length; i++) {
        const weight = probabilities[i] * Math.exp(rate * costs[i] - top);
        total += weight;
        weighted += weight * costs[i];
      }
      const average = weighted / total;
      return { mean: average, exponent: t * average - n * (Math.log(total) + top) };
    };
    const limit = (sign) => {
      let [below, above] = [0, 1 / sd];
      for (let doubling = 0; tilt(sign * above).exponent < goal; doubling++) {
        if (doubling === 39) return sign > 0 ? most : least; // the end of the support
        [below, above] = [above, 2 * above];
      }
      for (let step = 0; step < 40; step++) {
        const middle = (below + above) / 2;
        if (tilt(sign * middle).exponent < goal) below = middle;
        else above = middle;
      }
      return tilt(sign * above).mean;
    };
    return [Math.max(limit(-1), least), Math.min(limit(1), most)];
  }

  /** Place costs on the lattice; one between two points is split so that its mean stays.

      Positions are counted from the commonest cost, so that sums of n stay small. */
  function onLattice({ costs, probabilities, n }, anchor, step) {
    const placed = new Map();
    const add = (position, p) => placed.set(position, (placed.get(position) ?? 0) + p);
    costs.forEach((cost, i) => {
      const exact = (cost - anchor) * (1 / n / step);
      const below = Math.floor(exact + 1e-7);
      const share = exact - below < 1e-6 ? 0 : exact - below;
      add(below, probabilities[i] * (1 - share));
      if (share > 0) add(below + 1, probabilities[i] * share);
    });
    return placed;
  }

  /** Return the probability of each of the totals `ends` and all before it.

      A bootstrap total is a sum of n draws, so its Fourier coefficients are n-th powers, and their
      sums over positions geometric series. Only the angles at which a power is not negligible are
      visited. Whole numbers of lattice steps are reduced modulo the length before they become
      angles, so nothing is lost however large n is. */
  function cumulative(law, ends) {
    const wave = centredTransform(law);
    const { n, size } = law;
    const length = size | 1; // odd: no coefficient is its own mirror image
    const centre = n * wave.origin + Math.round(n * wave.mean);
    const reference = Math.round(n * wave.mean) % length;
    const sums = ends.map((end) => {
      const count = Math.min(Math.max(end - law.first, -1), size - 1) + 1;
      return { count, twiceMiddle: 2 * (law.first - centre) + count - 1, total: count };
    });
    const unit = TWO_PI / length;
    wave.visit(unit, length, (k, excess, re, im) => {
      const logSize = 0.5 * n * Math.log1p(excess);
      if (logSize < NEGLIGIBLE) return;
      const phase = n * Math.atan2(im, 1 + re) - unit * wrapped(k * reference, length);
      const scale = (2 * Math.exp(logSize)) / Math.sin((unit * k) / 2);
      for (const each of sums) {
        const span = Math.sin((unit / 2) * wrapped(k * each.count, 2 * length));
        const middle = (unit / 2) * wrapped(k * each.twiceMiddle, 2 * length);
        each.total += scale * span * Math.cos(phase - middle);
      }
    });
    return sums.map(({ total }) => Math.min(Math.max(total / length, 0), 1));
  }

  const wrapped = (steps, period) => steps - period * Math.round(steps / period);

  /** Return one draw's characteristic function φ, its positions counted from the commonest.

      From 1 - φ, and with a cost's two signs together, so that small angles keep their digits. */
  function centredTransform({ n, placed }) {
    const [origin] = [...placed].reduce((a, b) => (b[1] > a[1] ? b : a));
    const share = (x) => placed.get(x) ?? 0;
    const shifts = Float64Array.from(
      new Set([...placed.keys()].filter((x) => x !== origin).map((x) => Math.abs(x - origin)))
    );
    const both = shifts.map((shift) => share(origin + shift) + share(origin - shift));
    const skew = shifts.map((shift) => share(origin + shift) - share(origin - shift));
    const mean = dot(skew, shifts);
    const variance = dot(both, shifts.map((shift) => shift * shift)) - mean * mean;
    const least = Math.expm1((2 * NEGLIGIBLE) / n);

    /** Call `use(k, |φ|² - 1, Re φ - 1, Im φ)` at each angle where |φ|ⁿ may matter.

        With g = |φ|², |g''| ≤ 2·variance, so g, g' at the middle of a range of angles bound g on
        all of it. */
    function visit(unit, length, use) {
      const ranges = [[1, (length - 1) / 2]];
      while (ranges.length) {
        const [from, to] = ranges.pop();
        const middle = (from + to) >> 1;
        const reach = unit * (to - middle);
        const { excess, slope } = at(middle, unit, length);
        if (excess + Math.abs(slope) * reach + variance * reach * reach < least) continue;
        if (to - from < LEAF) {
          for (let k = from; k <= to; k++) {
            const value = at(k, unit, length);
            use(k, value.excess, value.re, value.im);
          }
        } else ranges.push([middle + 1, to], [from, middle]);
      }
    }

    function at(k, unit, length) {
      let [re, im, reSlope, imSlope] = [0, 0, 0, 0];
      for (let i = 0; i < shifts.length; i++) {
        const half = (unit / 2) * wrapped(k * shifts[i], length);
        const sine = Math.sin(half);
        const cosine = Math.cos(half);
        re -= 2 * both[i] * sine * sine;
        im += 2 * skew[i] * sine * cosine;
        reSlope -= shifts[i] * both[i] * 2 * sine * cosine;
        imSlope += shifts[i] * skew[i] * (1 - 2 * sine * sine);
      }
      const excess = 2 * re + re * re + im * im;
      return { re, im, excess, slope: 2 * ((1 + re) * reSlope + im * imSlope) };
    }

    return { origin, mean, visit };
  }

  return { bootstrapTails };
})();
