/* The arithmetic behind the report's editable costs.

   From the joint counts (`JointConfusion.to_dict()`) and a cost matrix `costs[predicted][actual]`
   this computes what the Python package does by default, to 1e-6: what each model costs with its
   extremal interval, each pair's p-value, the best set and the summary. Examples are drawn at
   random (the design "simple"); weights, groups and class priors are not treated here.

   Each part names the Python module it follows; the numbers must stay equal, so change both.
   `tests/browser/test_live.py` holds them together. */

globalThis.stakesLive = (() => {
  "use strict";

  const TWO_PI = 2 * Math.PI;

  // ---- numbers for people (stakes._table)

  /** Write a number: four significant digits, thousands separated. */
  function number(value) {
    if (Number.isNaN(value)) return "nan";
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    if (Number.isInteger(value) || Math.abs(value) >= 1000) return withThousands(value);
    return general(value, 4);
  }

  function withThousands(value) {
    const digits = BigInt(Math.abs(roundHalfEven(value))).toString();
    const sign = value < 0 || Object.is(value, -0) ? "-" : "";
    return sign + digits.replace(/\B(?=(\d{3})+$)/g, ",");
  }

  /** Write a number as C's %g does: ties to even, exponents of two digits. */
  function general(value, precision) {
    if (value === 0) return Object.is(value, -0) ? "-0" : "0";
    const sign = value < 0 ? "-" : "";
    const [digits, exponent] = significant(Math.abs(value), precision);
    const kept = digits.replace(/0+$/, "");
    if (exponent < -4 || exponent >= precision) {
      const point = kept.length > 1 ? `.${kept.slice(1)}` : "";
      const power = String(Math.abs(exponent)).padStart(2, "0");
      return `${sign}${kept[0]}${point}e${exponent < 0 ? "-" : "+"}${power}`;
    }
    if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${kept}`;
    const whole = digits.slice(0, exponent + 1);
    const rest = kept.slice(exponent + 1);
    return sign + whole + (rest ? `.${rest}` : "");
  }

  /** Return the leading digits of a positive number, ties to even, and its exponent of ten. */
  function significant(value, precision) {
    const split = (text) => {
      const [mantissa, exponent] = text.split("e");
      return [mantissa.replace(".", ""), Number(exponent)];
    };
    const [full, exponent] = split(value.toExponential(60));
    const tie = /^50*$/.test(full.slice(precision));
    // JavaScript rounds ties up, Python to even.
    if (tie && Number(full[precision - 1]) % 2 === 0) return [full.slice(0, precision), exponent];
    return split(value.toExponential(precision - 1));
  }

  function roundHalfEven(value) {
    const below = Math.floor(value);
    const rest = value - below;
    if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
    return below % 2 === 0 ? below : below + 1;
  }

  // ---- what is asked

  function checkedConfidence(confidence) {
    if (!(typeof confidence === "number" && confidence > 0 && confidence < 1)) {
      throw new Error(
        `confidence: expected a number between 0 and 1, such as 0.95; got ${shown(confidence)}.`
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
          `costs: expected a finite number for predicting ${shown(decisions[i])} when it was ` +
            `${shown(labels[j])}, got ${shown(cost)}.`
        );
      })
    );
  }

  function checkResults(...values) {
    if (values.every(Number.isFinite)) return;
    throw new Error("costs: they are too large, or differ by too little, to compute with.");
  }

  function shown(value) {
    return typeof value === "string" ? `'${value}'` : String(value);
  }

  // ---- outcomes: the possible costs and how often each came (stakes.infer.outcomes)

  const ROUNDING = 1e-15;
  const MOST_ATOMS = 2048;
  const MOST_CELLS = 1 << 24;
  const MOST_DECIMALS = 12;

  /** Return the distinct values, lowest first; those that differ by rounding only are one. */
  function distinct(values, scale) {
    const sorted = Float64Array.from(values).sort();
    const size = Math.max(scale, Math.abs(sorted[0]), Math.abs(sorted[sorted.length - 1]));
    return sorted.filter((value, i) => i === 0 || value - sorted[i - 1] > ROUNDING * size);
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

      As `stakes.infer.difference.cost_differences` does: costs with few decimals have differences
      with as few. */
  function costDifferences(costs) {
    const decisions = costs.length;
    const classes = costs[0].length;
    if (decisions * decisions * classes > MOST_CELLS) {
      throw new Error(`decisions: ${decisions} are too many to compare pairs of models.`);
    }
    const least = costs[0].map((_, j) => Math.min(...costs.map((row) => row[j])));
    const reduced = costs.map((row) => row.map((cost, j) => cost - least[j]));
    const decimals = decimalsOf(costs.flat());
    const at = (i, k, j) => {
      const delta = reduced[i][j] - reduced[k][j];
      return (decimals === null ? delta : rounded(delta, decimals)) + 0; // no -0
    };
    const cells = new Float64Array(decisions * decisions * classes);
    for (let cell = 0; cell < cells.length; cell++) {
      cells[cell] = at(...unravelled(cell, decisions, classes));
    }
    const scale = highest(costs.flat().map(Math.abs));
    return { at, cells, decisions, classes, atoms: distinct(cells, scale) };
  }

  function unravelled(cell, decisions, classes) {
    const both = Math.floor(cell / classes);
    return [Math.floor(both / decisions), both % decisions, cell % classes];
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

  // ---- the normal distribution

  const density = (x) => Math.exp((-x * x) / 2) / Math.sqrt(TWO_PI);

  /** Return P(Z > x): a series of positive terms, or Laplace's continued fraction. */
  function normalTail(x) {
    if (x < 0) return 1 - normalTail(-x);
    if (x >= 3) {
      let fraction = x;
      for (let k = 150; k > 0; k--) fraction = x + k / fraction;
      return density(x) / fraction;
    }
    let term = x;
    let total = x;
    for (let k = 3; term > total * 1e-17; k += 2) {
      term *= (x * x) / k;
      total += term;
    }
    return 0.5 - density(x) * total;
  }

  /** Return the z with P(Z > z) = tail, by Newton's steps on the tail's (concave) logarithm. */
  function normalScore(tail) {
    if (tail > 0.5) return -normalScore(1 - tail);
    let z = Math.sqrt(-2 * Math.log(tail));
    for (let step = 0; step < 60; step++) {
      const reached = normalTail(z);
      const move = (Math.log(reached / tail) * reached) / density(z);
      z += move;
      if (Math.abs(move) < 1e-14 * Math.max(z, 1)) break;
    }
    return z;
  }

  // ---- the distribution of Σ a·D, D ~ Dirichlet(α) (stakes.infer.dirichlet_mean)

  const STEP = 0.4;
  const REACH = 7.6;
  const FINENESS = 5;
  const MOST_HALVINGS = 7;
  const NEWTON_STEPS = 2;
  const CLOSE_TO_MEAN = 2e-8;
  const ROOT_TOLERANCE = 1e-11;
  const MOST_STEPS = 100;
  const WIDEST = 60;
  const SERIES_BELOW = 0.05;
  const SERIES_TERMS = 12;

  /** Return costs scaled to 0 … 1, without those that have no weight. */
  function dirichletMean(costs, alpha) {
    const used = [...alpha.keys()].filter((i) => alpha[i] > 0);
    const low = costs[used[0]];
    const span = costs[used[used.length - 1]] - low;
    return {
      low,
      span,
      costs: Float64Array.from(used, (i) => (span > 0 ? (costs[i] - low) / span : 0)),
      alpha: Float64Array.from(used, (i) => alpha[i]),
    };
  }

  /** Return the u that Σ a·D exceeds with probability `upper`, by its exact tail. */
  function dirichletQuantile(costs, alpha, upper) {
    const law = dirichletMean(costs, alpha);
    if (law.costs.length === 1) return law.low;
    const wanted = normalScore(upper);
    const score = (w) => normalScore(Math.min(Math.max(tailAt(law, w).tail, 1e-300), 1 - 1e-16));
    const guess = wanted / Math.sqrt(saddlepoint(law, 0).k2);
    const x = solve(score, wanted, Math.min(Math.max(guess, -1), 1), Math.abs(guess) / 8);
    return law.low + law.span * tilted(law, -Math.expm1(-x)).u;
  }

  /** Return P(Σ a·D ≥ 0). */
  function dirichletTail(costs, alpha) {
    const law = dirichletMean(costs, alpha);
    if (law.low >= 0) return 1;
    if (law.low + law.span <= 0) return 0;
    const where = -law.low / law.span;
    const x = solve((w) => logitMean(law, w), Math.log(where) - Math.log1p(-where), 0, 0.5);
    return tailAt(law, -Math.expm1(-x)).tail;
  }

  /** Find x with f(1 - e^-x) = target, f increasing: regula falsi with Illinois' halving. */
  function solve(f, target, guess, stride) {
    let x = guess;
    let [low, high, below, above] = [-WIDEST, WIDEST, -Infinity, Infinity];
    let side = 0;
    let reach = stride;
    for (let step = 0; step < MOST_STEPS; step++) {
      const value = f(-Math.expm1(-x)) - target;
      if (value < 0) {
        if (side < 0) above /= 2;
        [low, below, side] = [x, value, -1];
      } else {
        if (side > 0) below /= 2;
        [high, above, side] = [x, value, 1];
      }
      if (Math.abs(value) < ROOT_TOLERANCE || high - low < ROOT_TOLERANCE * 1e-3) break;
      const bracketed = Number.isFinite(below) && Number.isFinite(above);
      const secant = (low * above - high * below) / (above - below);
      const next = bracketed ? secant : x - side * reach;
      reach *= 2;
      x = next > low && next < high ? next : (low + high) / 2;
    }
    return x;
  }

  /** Return the mean u of the weights α/(1 - a·w), and 1 - u: the saddlepoint equation. */
  function tilted({ costs, alpha }, w) {
    let [total, first, rest] = [0, 0, 0];
    for (let i = 0; i < costs.length; i++) {
      const weight = alpha[i] / (1 - costs[i] * w);
      total += weight;
      first += weight * costs[i];
      rest += weight * (1 - costs[i]);
    }
    return { u: first / total, rest: rest / total };
  }

  function logitMean(law, w) {
    const { u, rest } = tilted(law, w);
    return Math.log(u) - Math.log(rest);
  }

  /** Return u(w), c, K''(c), K'''(c) and r, the signed root of -2 K(c). */
  function saddlepoint(law, w) {
    const { costs, alpha } = law;
    const { u } = tilted(law, w);
    const margin = 1 - u * w;
    const slope = (i) => (costs[i] - u) * (margin / (1 - costs[i] * w));
    let [k2, k3] = [0, 0];
    for (let i = 0; i < costs.length; i++) {
      const s = slope(i);
      k2 += alpha[i] * s * s;
      k3 += 2 * alpha[i] * s * s * s;
    }
    const least = CLOSE_TO_MEAN / Math.sqrt(k2); // 0/0 lies between
    const c = Math.abs(w / margin) < least ? least : w / margin;
    // -K(c) = Σ α (x - log(1 + x)) with x = slope·c, since the slopes sum to zero.
    let excess = 0;
    for (let i = 0; i < costs.length; i++) {
      const x = slope(i) * c;
      const log = () => Math.log(margin) - Math.log(1 - costs[i] * w); // exact also near x = -1
      excess += alpha[i] * (Math.abs(x) < SERIES_BELOW ? series(x) : x - log());
    }
    return { u, c, k2, k3, r: Math.sign(c) * Math.sqrt(2 * excess) };
  }

  /** Return x - log(1 + x) for small x. */
  function series(x) {
    let total = 0;
    for (let power = SERIES_TERMS; power > 1; power--) {
      total = x * (total + (power % 2 ? -1 : 1) / power);
    }
    return x * total;
  }

  /** Return u(w) and P(Σ a·D > u(w)), integrated along the path of steepest descent.

      On it K(z) = K(c) - τ²/2, and P = 1 - Φ(r) + e^(-r²/2)/π ∫ e^(-τ²/2) Im[z'/z - 1/(τ - ir)] dτ
      by the trapezoidal rule; Newton's steps keep z on the path, where z' = -τ/K'(z). */
  function tailAt(law, w) {
    const least = law.alpha.reduce((a, b) => Math.min(a, b));
    const wide = Math.max((STEP * FINENESS) / Math.sqrt(TWO_PI * least), 1);
    const step = STEP / 2 ** Math.min(Math.ceil(Math.log2(wide)), MOST_HALVINGS);
    const { u, c, k2, k3, r } = saddlepoint(law, w);
    const unit = 1 / Math.sqrt(k2);
    let integral = 0.5 * (unit / c - 1 / r);
    let [zRe, zIm] = [c + (k3 / (6 * k2 * k2)) * step * step, unit * step];
    let [oldRe, oldIm] = [0, unit];
    let [newRe, newIm] = [0, unit];
    for (let k = 1; k <= Math.round(REACH / step); k++) {
      const tau = k * step;
      if (k > 1) {
        zRe += step * (1.5 * newRe - 0.5 * oldRe);
        zIm += step * (1.5 * newIm - 0.5 * oldIm);
      }
      [oldRe, oldIm] = [newRe, newIm];
      for (let round = 0; round < NEWTON_STEPS; round++) {
        const { value, first, second } = cumulant(law, u, zRe, zIm);
        const [re, im] = quotient(value[0] + (r * r + tau * tau) / 2, value[1], ...first);
        [zRe, zIm] = [zRe - re, zIm - im];
        const slope = [
          first[0] - (second[0] * re - second[1] * im),
          first[1] - (second[0] * im + second[1] * re),
        ];
        [newRe, newIm] = quotient(-tau, 0, ...slope);
      }
      const turn = quotient(newRe, newIm, zRe, zIm)[1];
      integral += Math.exp((-tau * tau) / 2) * (turn - r / (tau * tau + r * r));
    }
    const tail = normalTail(r) + (Math.exp((-r * r) / 2) / Math.PI) * step * integral;
    return { u, tail: Math.min(Math.max(tail, 0), 1) };
  }

  /** Return (a + bi)/(c + di). */
  function quotient(a, b, c, d) {
    const size = c * c + d * d;
    return [(a * c + b * d) / size, (b * c - a * d) / size];
  }

  /** Return K(z) = -Σ α log(1 - (a - u) z), K' and K'' at complex z. */
  function cumulant({ costs, alpha }, u, zRe, zIm) {
    let [valueRe, valueIm, firstRe, firstIm, secondRe, secondIm] = [0, 0, 0, 0, 0, 0];
    for (let i = 0; i < costs.length; i++) {
      const b = costs[i] - u;
      const x = b * zRe;
      const y = b * zIm;
      valueRe -= 0.5 * alpha[i] * Math.log1p(x * x - 2 * x + y * y);
      valueIm += alpha[i] * Math.atan2(y, 1 - x);
      const scale = b / ((1 - x) * (1 - x) + y * y);
      const re = scale * (1 - x);
      const im = scale * y;
      firstRe += alpha[i] * re;
      firstIm += alpha[i] * im;
      secondRe += alpha[i] * (re * re - im * im);
      secondIm += alpha[i] * 2 * re * im;
    }
    return { value: [valueRe, valueIm], first: [firstRe, firstIm], second: [secondRe, secondIm] };
  }

  // ---- the extremal interval (stakes.infer.methods.extremal)

  const WEIGHT = 0.7;

  /** Return the Dirichlet parameters with the extra weight at the lowest or the highest cost. */
  function posterior(outcomes, end) {
    const alpha = outcomes.counts.slice();
    alpha[end < 0 ? alpha.length - 1 : 0] += WEIGHT;
    return alpha;
  }

  /** Return the α/2 and the 1 - α/2 quantile, each with the extra weight at its own end. */
  function extremalLimits(given, alpha) {
    const outcomes = condensed(given);
    if (outcomes.costs.length === 1) return [meanOf(given), meanOf(given)];
    return [
      dirichletQuantile(outcomes.costs, posterior(outcomes, 0), 1 - alpha / 2),
      dirichletQuantile(outcomes.costs, posterior(outcomes, -1), alpha / 2),
    ];
  }

  /** Return the α/2 at which the lower, and the upper, limit would be zero. */
  function extremalTails(given) {
    const outcomes = condensed(given);
    const mirrored = outcomes.costs.map((cost) => -cost).reverse();
    return [
      dirichletTail(mirrored, posterior(outcomes, 0).reverse()),
      dirichletTail(outcomes.costs, posterior(outcomes, -1)),
    ];
  }

  // ---- BDELTACOST without sampling noise (stakes.infer.distribution, .lattice, .laws)

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

  // ---- comparisons (stakes.infer.difference, .significance, .many)

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

  /** Say which model is the cheapest, or which are tied. */
  function summary(joint, costs, confidence, unit = "", pairs = undefined) {
    const best = bestSet(joint, costs, confidence, pairs);
    const found = new Map(costsOf(joint, costs).map(({ name, cost }) => [name, cost]));
    const each = (name) => `${number(found.get(name))}${unit ? ` ${unit}` : ""} each`;
    const sure = `${general(100 * confidence, 4)} % confidence`;
    const all = joint.names.length;
    const [first] = best;
    if (best.length === 1) return `${first} is the cheapest of ${all}: ${each(first)}, with ${sure}.`;
    const tied = best.map((name) => `${name} (${each(name)})`).join(", ");
    return `A tie with ${sure} between ${best.length} of ${all}: ${tied}.`;
  }

  return { estimates, pairwise, bestSet, summary, number, general };
})();

if (typeof module !== "undefined") module.exports = globalThis.stakesLive;
