/* BDELTACOST, the paired bootstrap of a difference, without its sampling noise: p-values, limits.

   Follows stakes.infer._probability: distribution and convolution. */

globalThis.stakesBootstrap = (() => {
  "use strict";

  const { roundHalfEven } = globalThis.stakesWords;
  const { dot, highest } = globalThis.stakesOutcomes;

  const TWO_PI = 2 * Math.PI;
  const TAIL = 1e-13;
  const ROUNDING = 1e-11;
  const IMPOSSIBLE = 1e-16;
  const LARGEST_LATTICE = 1 << 22;
  const FINE_LATTICE = 1 << 20;
  const COARSER_LATTICE = 1 << 17;
  const FEW_OUTCOMES = 16;
  const LARGEST_TABLE = 1 << 21;
  const MOST_ROWS = 1 << 17;
  const MOST_AXES = 6;
  const MOST_MAGNITUDES = 200;
  const KERNEL = 2.85;
  const REACH = 21;
  const NEARLY = 1e-9;
  const DIGITS = 64 * Number.EPSILON;
  const CLOSE_BY = 0.01;
  const LARGEST_PART = 1000;
  const NEGLIGIBLE = -28;
  const LEAF = 16;
  const LARGEST_DENOMINATOR = 100000n;
  const LARGEST_POSITION = 2 ** 40;
  const CLOSENESS = 1e-13;

  /** Return the bootstrap probabilities of a mean of at most, and of at least, zero.

      Where they are not exact, these are the largest that they can be. */
  function bootstrapTails(outcomes) {
    const draws = drawsOf(outcomes);
    const [only] = draws.costs;
    if (draws.costs.length === 1) return [Number(only <= 0), Number(only >= 0)];
    const lattice = latticeOf(draws);
    if (lattice !== null) return tailsOnLattice(lattice);
    const plan = tablePlan(draws);
    if (plan === null) return tailsOnLattice(smoothLattice(draws));
    return tailsOfTable(plan.outcomes, plan, -draws.n * plan.anchor);
  }

  /** Return the α/2 and the 1 - α/2 quantile of the mean, moved outwards where not exact. */
  function bootstrapLimits(outcomes, alpha) {
    const draws = drawsOf(outcomes);
    if (draws.costs.length === 1) return [draws.costs[0], draws.costs[0]];
    const levels = [alpha / 2, 1 - alpha / 2];
    const lattice = latticeOf(draws);
    if (lattice !== null) return limitsOnLattice(lattice, levels);
    const plan = tablePlan(draws);
    if (plan === null) return limitsOnLattice(smoothLattice(draws), levels);
    return limitsOfTable(plan, levels);
  }

  function drawsOf({ costs, counts, n }) {
    const seen = [...counts.keys()].filter((i) => counts[i] > 0);
    const draws = {
      n,
      costs: Float64Array.from(seen, (i) => costs[i]),
      probabilities: Float64Array.from(seen, (i) => counts[i] / n),
    };
    const commonest = draws.probabilities.indexOf(highest(draws.probabilities));
    return { ...draws, anchor: draws.costs[commonest] };
  }

  /** Return the lattice that the mean lies on; null where there is none that is short enough. */
  function latticeOf(draws) {
    const { costs, probabilities, n, anchor } = draws;
    const [low, high] = chernoffWindow(draws);
    const common = commonStep(costs);
    if (common === null || (high - low) / (common / n) > LARGEST_LATTICE) return null;
    const step = common / n;
    const placed = new Map();
    costs.forEach((cost, i) => {
      const position = roundHalfEven((cost - anchor) * (1 / n / step));
      placed.set(position, (placed.get(position) ?? 0) + probabilities[i]);
    });
    const first = Math.floor((low - anchor) / step + 1e-6);
    const size = Math.ceil((high - low) / step) + 2;
    return { n, placed, kernel: 0, first, size, step, anchor, room: 0 };
  }

  /** Return a fine lattice to which a narrow Gaussian rounds the mean. */
  function smoothLattice(draws) {
    const { costs, probabilities, n, anchor } = draws;
    const [low, high] = chernoffWindow(draws);
    const size = costs.length <= FEW_OUTCOMES ? FINE_LATTICE : COARSER_LATTICE;
    const step = (high - low) / (size - 2 * REACH - 4);
    const placed = new Map();
    costs.forEach((cost, i) => placed.set((cost - anchor) * (1 / n / step), probabilities[i]));
    const first = Math.floor((low - anchor) / step) - REACH - 1;
    return { n, placed, kernel: KERNEL, first, size, step, anchor, room: REACH + 1 };
  }

  function tailsOnLattice(lattice) {
    const { step, anchor, room } = lattice;
    const zero = -anchor / step;
    const upTo = cumulative(lattice);
    return [
      upTo(Math.floor(zero + room + 1e-6)),
      1 - upTo(Math.ceil(zero - room - 1e-6) - 1),
    ];
  }

  function limitsOnLattice(lattice, levels) {
    const { first, size: length, step, anchor, room } = lattice;
    const upTo = cumulative(lattice);
    return levels.map((level, side) => {
      let [low, high] = [first - 1, first + length - 1];
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (upTo(middle) >= level - ROUNDING) high = middle;
        else low = middle;
      }
      const found = anchor + step * (high + (side ? room : -room));
      if (room) return found;
      const size = Math.max(...[first, first + length].map((end) => Math.abs(anchor + step * end)));
      return size > 0 ? rounded(found, 13 - Math.ceil(Math.log10(size))) : found;
    });
  }

  /** Return a number without the rounding of adding up, which its last digits have. */
  function rounded(value, decimals) {
    const power = 10 ** Math.abs(decimals);
    const found =
      decimals < 0 ? roundHalfEven(value / power) * power : roundHalfEven(value * power) / power;
    return Number.isFinite(found) ? found + 0 : value;
  }

  function tidy(value) {
    return value === 0 ? 0 : rounded(value, 15 - Math.ceil(Math.log10(Math.abs(value))));
  }

  /** Return the largest step of which all differences of `costs` are multiples, or null. */
  function commonStep(costs) {
    const gaps = [...new Set(costs.map((cost) => cost - costs[0]))].slice(1);
    let denominator = 1n;
    for (const gap of gaps) {
      const fraction = nearRatio(gap / gaps[0]);
      if (fraction === null) return null;
      const under = fraction[1];
      denominator *= under / commonDivisor(denominator, under);
      if (denominator > LARGEST_DENOMINATOR) return null;
    }
    const last = gaps[gaps.length - 1];
    // The largest difference has the smallest relative rounding.
    return last / roundHalfEven(last / (gaps[0] / Number(denominator)));
  }

  /** Return the fraction that a ratio of at least 1 is, up to rounding, or null. */
  function nearRatio(ratio) {
    if (ratio > LARGEST_POSITION) return null;
    const [over, under] = nearFraction(ratio);
    const near = Math.abs(Number(over) / Number(under) - ratio) <= CLOSENESS * ratio;
    return near ? [over, under] : null;
  }

  function commonDivisor(a, b) {
    return b === 0n ? a : commonDivisor(b, a % b);
  }

  /** Return the closest fraction of a limited denominator, as Python's limit_denominator does. */
  function nearFraction(ratio, largest = LARGEST_DENOMINATOR) {
    if (Number.isInteger(ratio)) return [BigInt(ratio), 1n];
    const [given, bits] = [BigInt(Math.round(ratio * 2 ** 52)), 2n ** 52n]; // exact for ratios from 1
    let [p0, q0, p1, q1, top, bottom] = [0n, 1n, 1n, 0n, given, bits];
    while (bottom > 0n) {
      const whole = top / bottom;
      const next = q0 + whole * q1;
      if (next > largest) break;
      [p0, q0, p1, q1] = [p1, q1, p0 + whole * p1, next];
      [top, bottom] = [bottom, top - whole * bottom];
    }
    if (bottom === 0n) return [p1, q1];
    const rest = (largest - q0) / q1;
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

  /** Return a function of a position: the probability of it and all before it.

      A bootstrap total is a sum of n draws, so its Fourier coefficients are n-th powers, and their
      sums over positions geometric series. Only the angles at which a power is not negligible are
      visited. Whole numbers of lattice steps are reduced modulo the length before they become
      angles, so nothing is lost however large n is. */
  function cumulative(law) {
    const wave = centredTransform(law);
    const { n, size, kernel, first } = law;
    const length = size | 1; // odd: no coefficient is its own mirror image
    const centre = n * wave.origin + Math.round(n * wave.mean);
    const reference = Math.round(n * wave.mean) % length;
    const unit = TWO_PI / length;
    const waves = [];
    wave.visit(unit, length, (k, excess, re, im) => {
      const logSize = 0.5 * (n * Math.log1p(excess) - (kernel * unit * k) ** 2);
      if (logSize < NEGLIGIBLE) return;
      const phase = n * Math.atan2(im, 1 + re) - unit * wrapped(k * reference, length);
      waves.push([k, phase, (2 * Math.exp(logSize)) / Math.sin((unit * k) / 2)]);
    });
    return (position) => {
      const count = Math.min(Math.max(position - first, -1), size - 1) + 1;
      const twiceMiddle = 2 * (first - centre) + count - 1;
      let total = count;
      for (const [k, phase, scale] of waves) {
        const span = Math.sin((unit / 2) * wrapped(k * count, 2 * length));
        const middle = (unit / 2) * wrapped(k * twiceMiddle, 2 * length);
        total += scale * span * Math.cos(phase - middle);
      }
      return Math.min(Math.max(total / length, 0), 1);
    };
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

  // Costs on several lattices: the joint distribution of the sums on each of them.

  /** Return a table that is exact, or closer than one fine lattice; else null. */
  function tablePlan({ costs, probabilities, n }) {
    const common = costs.filter((_, i) => probabilities[i] >= highest(probabilities) / 10);
    const anchor = common.reduce((a, b) => (Math.abs(b) < Math.abs(a) ? b : a));
    const others = [...costs.keys()].filter((i) => costs[i] !== anchor);
    const outcomes = {
      n,
      moves: Float64Array.from(others, (i) => costs[i] - anchor),
      probabilities: Float64Array.from(others, (i) => probabilities[i]),
    };
    const plan = exactPlan(outcomes) ?? closePlan(outcomes);
    return plan === null ? null : { ...plan, outcomes, anchor };
  }

  function exactPlan(outcomes) {
    const axes = axesOf(outcomes, outcomes.moves.map(() => 1));
    if (axes === null || cellsOf(outcomes, axes) > 4 * LARGEST_TABLE) return null;
    const placed = axes.map((axis) => ({ ...axis, ...wholeWindow(outcomes, axis.positions) }));
    const total = placed.reduce((product, axis) => product * axis.size, 1);
    const longest = placed.reduce((a, b) => (b.size > a.size ? b : a));
    if (total / longest.size > MOST_ROWS || total > LARGEST_TABLE) return null;
    return { rows: placed.filter((axis) => axis !== longest), column: longest, kernel: 0 };
  }

  /** Return a plan by which the largest moves are counted, and all others on a fine lattice. */
  function closePlan(outcomes) {
    const counted = outcomes.moves.map(() => 0);
    const rest = () => outcomes.moves.map((move, i) => (counted[i] ? 0 : move));
    let best = (0.5 * spreadOf(outcomes, outcomes.moves)) / FINE_LATTICE;
    let found = null;
    const groups = magnitudes(outcomes, outcomes.moves.map(() => 1)).reverse();
    for (const group of groups.slice(0, MOST_AXES + 2)) {
      for (const i of group) counted[i] = 1;
      const axes = axesOf(outcomes, counted);
      const cells = axes === null ? Infinity : cellsOf(outcomes, axes);
      if (cells * 16 * REACH > LARGEST_TABLE || counted.every((one) => one)) break;
      const size = 2 ** Math.floor(Math.log2(LARGEST_TABLE / cells));
      const step = spreadOf(outcomes, rest()) / size;
      if (step < best) [best, found] = [step, { axes, moves: rest(), size }];
    }
    if (found === null) return null;
    const { axes, moves, size } = found;
    const [low, high] = sumWindow(outcomes, moves);
    const step = (high - low) / (size - 2 * REACH - 4);
    const first = Math.floor(low / step) - REACH - 1;
    return {
      rows: axes.map((axis) => ({ ...axis, ...wholeWindow(outcomes, axis.positions) })),
      column: { step, positions: moves.map((move) => move / step), first, size },
      kernel: KERNEL,
    };
  }

  /** Return lattices on which the chosen outcomes have places, spanning as little as possible. */
  function axesOf(outcomes, chosen) {
    const groups = magnitudes(outcomes, chosen);
    if (groups.length > MOST_MAGNITUDES) return null;
    let axes = [];
    for (const group of groups) {
      const signs = outcomes.moves.map(() => 0);
      for (const i of group) signs[i] = Math.sign(outcomes.moves[i]);
      let least = Infinity;
      let chosenAxes = axes;
      for (const each of axesWith(axes, Math.abs(outcomes.moves[group[0]]), signs)) {
        const cells = cellsOf(outcomes, each);
        if (cells < least) [least, chosenAxes] = [cells, each];
      }
      axes = chosenAxes;
      if (axes.length > MOST_AXES) return null;
    }
    return axes;
  }

  /** Return the axes with places for moves of one size too: on a new axis, on one, or on two. */
  function axesWith(axes, size, signs) {
    const apart = ({ step }) => Math.abs(size - roundHalfEven(size / step) * step);
    const near = axes.map((axis) => apart(axis) < CLOSE_BY * axis.step);
    const found = near.includes(true) ? [] : [[...axes, { step: size, positions: signs }]];
    axes.forEach((axis, index) => {
      const fraction = nearRatio(size / axis.step);
      if (fraction !== null) found.push(replaced(axes, index, refined(axis, fraction, signs)));
      for (const times of new Set([1, roundHalfEven(size / axis.step)])) {
        const rest = size - times * axis.step;
        const positions = axis.positions.map((x, i) => x + times * signs[i]);
        const others = replaced(axes, index, { ...axis, positions });
        const alone = { step: Math.abs(rest), positions: signs.map((x) => x * Math.sign(rest)) };
        if (near[index] && rest !== 0) found.push([...others, alone]);
        axes.forEach((small, other) => {
          const part = other === index ? null : partOf(rest / small.step, size / small.step);
          if (part !== null) found.push(replaced(others, other, refined(small, part, signs)));
        });
      }
    });
    return found;
  }

  /** Return the fraction of a step that a difference of large numbers is, or null. */
  function partOf(ratio, size) {
    const room = DIGITS * size;
    const largest = Math.floor(Math.min(Math.sqrt(0.01 / room), LARGEST_PART));
    if (largest === 0) return null;
    const [over, under] = nearFraction(Math.abs(ratio), BigInt(largest));
    const signed = ratio < 0 ? -over : over;
    return Math.abs(ratio - Number(signed) / Number(under)) <= room ? [signed, under] : null;
  }

  /** Return the axis with places for moves by a fraction of its step. */
  function refined({ step, positions }, fraction, signs) {
    const [over, under] = fraction.map(Number);
    return { step: step / under, positions: positions.map((x, i) => x * under + signs[i] * over) };
  }

  const replaced = (list, index, value) => list.map((each, i) => (i === index ? value : each));

  /** Return the chosen outcomes, those that move the mean equally far together; least first. */
  function magnitudes({ moves }, chosen) {
    const order = [...moves.keys()].filter((i) => chosen[i]);
    order.sort((a, b) => Math.abs(moves[a]) - Math.abs(moves[b]) || a - b);
    const groups = [];
    let last = -1;
    for (const i of order) {
      const size = Math.abs(moves[i]);
      if (groups.length && size - last <= CLOSENESS * size) groups[groups.length - 1].push(i);
      else groups.push([i]);
      last = size;
    }
    return groups;
  }

  /** Return about how many steps the likely sums of the positions span. */
  function spreadOf({ probabilities, n }, positions) {
    const first = dot(probabilities, positions);
    const second = dot(probabilities, positions.map((x) => x * x));
    const likely =
      15 * Math.sqrt(Math.max(n * (second - first * first), 0)) + 12 * highest(positions.map(Math.abs));
    const range = Math.max(0, highest(positions)) + Math.max(0, highest(positions.map((x) => -x)));
    return Math.min(likely, n * range);
  }

  function cellsOf(outcomes, axes) {
    return axes.reduce((product, axis) => product * (spreadOf(outcomes, axis.positions) + 1), 1);
  }

  /** Return what the sum of the positions leaves with a negligible probability. */
  function sumWindow({ probabilities, n }, positions) {
    const here = [...positions.keys()].filter((i) => positions[i] !== 0);
    const pairs = here.map((i) => [positions[i], probabilities[i]]);
    const staying = 1 - pairs.reduce((sum, [, p]) => sum + p, 0);
    const sorted = [...pairs, [0, staying]].sort((a, b) => a[0] - b[0]);
    const window = chernoffWindow({
      n,
      costs: Float64Array.from(sorted, ([x]) => x),
      probabilities: Float64Array.from(sorted, ([, p]) => p),
    });
    return window.map((end) => n * end);
  }

  function wholeWindow(outcomes, positions) {
    const [low, high] = sumWindow(outcomes, positions);
    const first = Math.floor(low + NEARLY);
    return { first, size: Math.ceil(high - NEARLY) - first + 1 };
  }

  /** Return the probabilities of a total of at most, and of at least, `total`.

      The rows of the table are transformed at each angle of its columns; the sums along a row are
      geometric series. */
  function tailsOfTable(outcomes, { rows, column, kernel }, total) {
    const lengths = rows.map(({ size }) => 2 ** Math.ceil(Math.log2(size)));
    const height = lengths.reduce((product, length) => product * length, 1);
    const starts = new Float64Array(height).fill(NaN); // rows that are there to fill up only
    visitRows(rows, lengths, (row, value) => (starts[row] = value + column.step * column.first));
    const moved = kernel ? REACH + 1 : 0;
    const length = column.size | 1; // odd: no coefficient is its own mirror image
    const fitting = (count) => Math.min(Math.max(count, 0), length);
    const place = (x) => (total - x) / column.step;
    const finest = kernel ? column.step : Math.min(column.step, ...rows.map(({ step }) => step));
    const room = (x) => {
      const lost = DIGITS * (Math.abs(x) + Math.abs(total));
      return moved + Math.min((NEARLY * finest + lost) / column.step, 0.25);
    };
    const sides = [
      starts.map((x) => fitting(Math.floor(place(x) + room(x)) + 1)),
      starts.map((x) => fitting(Math.ceil(place(x) - room(x)))),
    ];
    const sums = [0, 0];
    const unit = TWO_PI / length;
    const powersAt = rowPowers(outcomes, rows, column, lengths, height);
    const there = [...starts.keys()].filter((row) => !Number.isNaN(starts[row]));
    // Sums over none or all of a row have no part at other angles than 0.
    const divided = there.filter((row) => sides.some((side) => side[row] > 0 && side[row] < length));
    for (let k = 0; k <= (divided.length ? (length - 1) / 2 : 0); k++) {
      const powers = powersAt(unit, k, length, -0.5 * (kernel * unit * k) ** 2);
      if (powers === null) continue;
      const [re, im] = powers;
      for (const row of k === 0 ? there : divided) {
        for (let side = 0; side < 2; side++) {
          const count = sides[side][row];
          if (k === 0) {
            sums[side] += re[row] * count;
            continue;
          }
          const span = Math.sin((unit / 2) * wrapped(k * count, 2 * length));
          const twice = 2 * column.first + count - 1;
          const middle = (unit / 2) * wrapped(k * twice, 2 * length);
          const wave = re[row] * Math.cos(middle) + im[row] * Math.sin(middle);
          sums[side] += (2 * wave * span) / Math.sin((unit * k) / 2);
        }
      }
    }
    const [atMost, below] = sums.map((sum) => Math.min(Math.max(sum / length, 0), 1));
    return [atMost, 1 - below];
  }

  /** Return quantiles of the mean from the table of all probabilities. */
  function limitsOfTable({ outcomes, anchor, rows, column, kernel }, levels) {
    const lengths = rows.map(({ size }) => 2 ** Math.ceil(Math.log2(size)));
    const height = lengths.reduce((product, length) => product * length, 1);
    const length = 2 ** Math.ceil(Math.log2(column.size));
    const [re, im] = [new Float64Array(height * length), new Float64Array(height * length)];
    const unit = TWO_PI / length;
    const powersAt = rowPowers(outcomes, rows, column, lengths, height);
    for (let k = 0; k <= length / 2; k++) {
      const powers = powersAt(unit, k, length, -0.5 * (kernel * unit * k) ** 2);
      if (powers === null) continue;
      const times = (k === 0 || 2 * k === length ? 1 : 2) / length; // with its mirror image
      for (let row = 0; row < height; row++) {
        re[row * length + k] = times * powers[0][row];
        im[row * length + k] = times * powers[1][row];
      }
    }
    transformAlong(re, im, length, 1);
    const [starts, sums] = [[], []];
    visitRows(rows, lengths, (row, value) => {
      starts.push(value + column.step * column.first);
      sums.push(runningSums(re, row * length, length, column));
    });
    const finest = kernel ? column.step : Math.min(column.step, ...rows.map(({ step }) => step));
    const countAt = (row, x) => {
      const lost = DIGITS * (Math.abs(starts[row]) + Math.abs(x));
      const room = Math.min((NEARLY * finest + lost) / column.step, 0.25);
      const place = Math.floor((x - starts[row]) / column.step + room) + 1;
      return Math.min(Math.max(place, 0), column.size);
    };
    const reached = (x) => {
      let total = 0;
      for (let row = 0; row < starts.length; row++) total += sums[row][countAt(row, x)];
      return total;
    };
    /** Return the largest possible value that is not above x. */
    const valueAt = (x) => {
      let found = -Infinity;
      for (let row = 0; row < starts.length; row++) {
        const count = countAt(row, x);
        if (count > 0 && sums[row][count] - sums[row][count - 1] > IMPOSSIBLE) {
          found = Math.max(found, starts[row] + column.step * (count - 1));
        }
      }
      return Number.isFinite(found) ? found : x;
    };
    const ends = [lowest(starts) - column.step, highest(starts) + column.step * column.size];
    const error = kernel ? (REACH + 1) * column.step : 0;
    return levels.map((level, side) => {
      const total = valueAt(leastReaching(reached, level - ROUNDING, ends));
      return tidy(anchor + total / outcomes.n) + ((side ? error : -error) / outcomes.n);
    });
  }

  const lowest = (values) => values.reduce((a, b) => Math.min(a, b));

  /** Return the sums of a row's probabilities up to each position, from none on. */
  function runningSums(table, begin, length, { first, size }) {
    const sums = new Float64Array(size + 1);
    for (let i = 0; i < size; i++) {
      const at = (((first + i) % length) + length) % length;
      sums[i + 1] = sums[i] + table[begin + at];
    }
    return sums;
  }

  function leastReaching(reached, level, [from, to]) {
    let [low, high] = [from, to];
    for (let middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2) {
      if (reached(middle) >= level) high = middle;
      else low = middle;
    }
    return high;
  }

  /** Call `use(row, value)` for each row of the table, in the order of a transform. */
  function visitRows(rows, lengths, use) {
    const visit = (axis, row, value) => {
      if (axis === rows.length) {
        use(row, value);
        return;
      }
      const { first, size, step } = rows[axis];
      for (let i = first; i < first + size; i++) {
        const at = ((i % lengths[axis]) + lengths[axis]) % lengths[axis];
        visit(axis + 1, row * lengths[axis] + at, value + step * i);
      }
    };
    visit(0, 0, 0);
  }

  /** Return a function of a column's angle: the powers' transforms, row by row, or null if zero. */
  function rowPowers({ probabilities, n }, rows, column, lengths, height) {
    const waves = [...probabilities.keys()].map((i) => {
      const along = rows.map((axis) => axis.positions[i]);
      return along.some((x) => x !== 0) ? waveOf(along, lengths, height) : null;
    });
    const [re, im] = [new Float64Array(height), new Float64Array(height)];
    return (unit, k, length, damped) => {
      re.fill(0);
      im.fill(0);
      waves.forEach((wave, i) => {
        const half = (unit / 2) * wrapped(k * column.positions[i], length);
        const a = -2 * Math.sin(half) ** 2;
        const b = 2 * Math.sin(half) * Math.cos(half);
        const p = probabilities[i];
        for (let row = 0; row < height; row++) {
          const c = wave === null ? 0 : wave[0][row];
          const d = wave === null ? 0 : wave[1][row];
          re[row] += p * (a + c + a * c - b * d);
          im[row] += p * (b + d + a * d + b * c);
        }
      });
      let any = false;
      for (let row = 0; row < height; row++) {
        const excess = Math.max(2 * re[row] + re[row] ** 2 + im[row] ** 2, -1);
        const logSize = 0.5 * n * Math.log1p(excess) + damped;
        if (logSize < NEGLIGIBLE) {
          re[row] = im[row] = 0;
          continue;
        }
        const size = Math.exp(logSize) / height;
        const angle = n * Math.atan2(im[row], 1 + re[row]);
        any = true;
        re[row] = size * Math.cos(angle);
        im[row] = size * Math.sin(angle);
      }
      if (!any) return null;
      let inner = 1;
      for (let axis = rows.length - 1; axis >= 0; axis--) {
        transformAlong(re, im, lengths[axis], inner);
        inner *= lengths[axis];
      }
      return [re, im];
    };
  }

  /** Return e^(iθ·x) - 1 at all angles of the rows. */
  function waveOf(along, lengths, height) {
    const wave = [new Float64Array(height), new Float64Array(height)];
    for (let row = 0; row < height; row++) {
      let [rest, turns] = [row, 0];
      for (let axis = lengths.length - 1; axis >= 0; axis--) {
        const at = rest % lengths[axis];
        rest = (rest - at) / lengths[axis];
        turns += wrapped(at * along[axis], lengths[axis]) / lengths[axis];
      }
      const half = Math.PI * (turns - Math.round(turns));
      wave[0][row] = -2 * Math.sin(half) ** 2;
      wave[1][row] = 2 * Math.sin(half) * Math.cos(half);
    }
    return wave;
  }

  /** Replace x by Σ x e^(-iθj) along one axis of a table, whose length is a power of two. */
  function transformAlong(re, im, length, inner) {
    const turns = turnsOf(length);
    for (let begin = 0; begin < re.length; begin += length * inner) {
      for (let offset = begin; offset < begin + inner; offset++) {
        transformOne(re, im, length, offset, inner, turns);
      }
    }
  }

  const known = new Map();

  /** Return the cosines and sines that a transform of this length turns by. */
  function turnsOf(length) {
    if (!known.has(length)) {
      const angles = Float64Array.from({ length: length >> 1 }, (_, k) => (TWO_PI * k) / length);
      known.set(length, [angles.map(Math.cos), angles.map((angle) => -Math.sin(angle))]);
    }
    return known.get(length);
  }

  function transformOne(re, im, length, offset, stride, [cosines, sines]) {
    for (let i = 1, j = 0; i < length; i++) {
      let bit = length >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) {
        const [a, b] = [offset + i * stride, offset + j * stride];
        [re[a], re[b], im[a], im[b]] = [re[b], re[a], im[b], im[a]];
      }
    }
    for (let half = 1; half < length; half *= 2) {
      for (let turn = 0; turn < half; turn++) {
        const cosine = cosines[(turn * length) / (2 * half)];
        const sine = sines[(turn * length) / (2 * half)];
        for (let i = turn; i < length; i += 2 * half) {
          const a = offset + i * stride;
          const b = offset + (i + half) * stride;
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

  return { bootstrapTails, bootstrapLimits, transformAlong };
})();
