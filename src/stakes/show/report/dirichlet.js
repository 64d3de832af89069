/* The default interval, extremal: quantiles of a Dirichlet distribution of what was seen, with a
   fraction of one more example on the costliest, or the cheapest, outcome.

   Follows stakes.infer.probability.dirichlet_mean and stakes.infer.methods.extremal. */

globalThis.stakesDirichlet = (() => {
  "use strict";

  const { condensed, meanOf } = globalThis.stakesOutcomes;

  const TWO_PI = 2 * Math.PI;

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

  // ---- the distribution of Σ a·D, D ~ Dirichlet(α) (stakes.infer.probability.dirichlet_mean)

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
    return law.low + law.span * tilted(law, fromLog(x)).u;
  }

  /** Return P(Σ a·D ≥ 0). */
  function dirichletTail(costs, alpha) {
    const law = dirichletMean(costs, alpha);
    if (law.low >= 0) return 1;
    if (law.low + law.span <= 0) return 0;
    const where = -law.low / law.span;
    const x = solve((w) => logitMean(law, w), Math.log(where) - Math.log1p(-where), 0, 0.5);
    return tailAt(law, fromLog(x)).tail;
  }

  /** Return w = 1 - e^-x, below 1 also where a quantile rounds to the costliest outcome. */
  const fromLog = (x) => Math.min(-Math.expm1(-x), 1 - Number.EPSILON / 2);

  /** Find x with f(1 - e^-x) = target, f increasing: regula falsi with Illinois' halving. */
  function solve(f, target, guess, stride) {
    let x = guess;
    let [low, high, below, above] = [-WIDEST, WIDEST, -Infinity, Infinity];
    let side = 0;
    let reach = stride;
    for (let step = 0; step < MOST_STEPS; step++) {
      const value = f(fromLog(x)) - target;
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
  const FULL = 1; // of one side alone

  /** Return the Dirichlet parameters with the extra weight at the lowest or the highest cost. */
  function posterior(outcomes, end, weight = WEIGHT) {
    const alpha = outcomes.counts.slice();
    alpha[end < 0 ? alpha.length - 1 : 0] += weight;
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

  /** Return the one-sided upper limit at the error rate `alpha` (stakes.infer.family.upper_of). */
  function upperLimit(given, alpha) {
    const outcomes = condensed(given);
    if (outcomes.costs.length === 1) return meanOf(given);
    return dirichletQuantile(outcomes.costs, posterior(outcomes, -1, FULL), alpha);
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

  return { density, normalTail, normalScore, extremalLimits, extremalTails, upperLimit };
})();
