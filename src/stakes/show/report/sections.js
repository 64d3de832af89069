/* The sections that follow the assumptions: matrices, thresholds, comparisons and their charts.

   Follows stakes.curves (`CostCurve.cost`) for what models cost at every
   threshold, ratio of costs and prevalence. */

globalThis.stakesSections = (() => {
  "use strict";

  const { findings, constants, signed, said, percent, asNumber, show, setRows, setSignals } = globalThis.stakesPage;
  const { number: plain, pValue } = globalThis.stakesWords;
  const number = (value) => signed(plain(value));
  const { atShares, estimates, holding } = globalThis.stakesLive;
  const { aligned, rounded, tableDecimals, thresholdText, wordsOf } = globalThis.stakesAnswer;
  const { curves, data, settings } = findings;
  const POINTS = 80;

  // ---- rates of two classes

  const positive = data.labels.indexOf(data.pos_label);
  const flagged = data.decisions.indexOf(data.pos_label);

  /** Return the rates of a table of counts [decided][was] at frequencies of the classes. */
  function ratesOf(counts, shares) {
    if (positive < 0 || flagged < 0 || data.labels.length !== 2 || data.decisions.length !== 2) return null;
    const sizes = [0, 1].map((j) => counts[0][j] + counts[1][j]);
    const rates = [0, 1].map((j) => (sizes[j] ? counts[flagged][j] / sizes[j] : 0));
    const all = sizes[0] + sizes[1];
    const weights = shares ?? sizes.map((size) => size / all);
    return {
      recall: rates[positive],
      fpr: rates[1 - positive],
      flagged: rates[0] * weights[0] + rates[1] * weights[1],
    };
  }

  /** Return the cost per decision of rates, at costs [decided][was] and frequencies. */
  function costOf({ fpr, tpr }, costs, shares) {
    const [no, yes] = [1 - flagged, flagged];
    const [negative, other] = [1 - positive, positive];
    return (
      shares[negative] * (costs[no][negative] * (1 - fpr) + costs[yes][negative] * fpr) +
      shares[other] * (costs[no][other] * (1 - tpr) + costs[yes][other] * tpr)
    );
  }

  // ---- thresholds set by hand

  /** Return the counts of a model at a threshold, on all rows, and the threshold that they are of.

      Points of the curve are sorted by falling thresholds; each flags the scores at or above it. */
  function atThreshold(place, value) {
    const { thresholds, roc, positives, negatives } = curves.models[place];
    let found = 0;
    thresholds.forEach((each, i) => {
      if (asNumber(each) >= value) found = i;
    });
    const [alarms, hits] = [Math.round(roc.fpr[found] * negatives), Math.round(roc.tpr[found] * positives)];
    const counts = [[0, 0], [0, 0]];
    counts[flagged][1 - positive] = alarms;
    counts[1 - flagged][1 - positive] = negatives - alarms;
    counts[flagged][positive] = hits;
    counts[1 - flagged][positive] = positives - hits;
    return { counts, threshold: value };
  }

  /** Return the cost of counts with its limits; frequencies are null where they are the examples'. */
  function judged(counts, costs, shares) {
    const { confidence } = settings;
    if (shares !== null) return atShares(counts, costs, shares, 1 - confidence);
    const cells = [0, 1].flatMap((i) => [0, 1].map((j) => [i, j]));
    const joint = {
      names: ["one"],
      decided: cells.map(([i]) => [i]),
      actual: cells.map(([, j]) => j),
      counts: cells.map(([i, j]) => counts[i][j]),
      labels: data.labels,
      decisions: data.decisions,
    };
    return estimates(joint, costs, confidence)[0];
  }

  // ---- matrices

  function fillMatrices({ policies, costs, shares, verdict: { best, base } }, stated) {
    for (const card of document.querySelectorAll("[data-matrix]")) {
      const policy = policies[holding(policies, stated.indexOf(card.dataset.matrix))];
      if (policy?.counts === undefined) continue;
      const { counts } = policy;
      show(card, "title", said(wordsOf(policy)));
      show(card, "role", policy === best ? "Recommended" : policy === base ? "Baseline" : "");
      const sizes = counts[0].map((_, j) => counts.reduce((total, row) => total + row[j], 0));
      const all = sizes.reduce((a, b) => a + b);
      const weight = (j) => (shares === null ? 1 / all : sizes[j] ? shares[j] / sizes[j] : 0);
      const parts = counts.map((row, i) => row.map((count, j) => count * costs[i][j] * weight(j)));
      const most = Math.max(...parts.flat().map(Math.abs)) || 1;
      counts.forEach((row, i) => {
        show(card, `total-${i}`, number(row.reduce((a, b) => a + b)));
        row.forEach((count, j) => fillCell(card, i, j, count, parts[i][j], most));
      });
    }
  }

  function fillCell(card, i, j, count, part, most) {
    const cell = card.querySelector(`[data-cell="${i}-${j}"]`);
    if (cell === null) return;
    const right = cell.classList.contains("ok");
    show(cell, "count", number(count), count);
    show(cell, "cost", part || !right ? rounded(part) : "", part);
    cell.style.setProperty("--h", (Math.abs(part) / most).toFixed(3));
    if (!right) cell.className = part < 0 ? "gain" : "loss";
  }

  // ---- comparisons

  const pairRow = document.querySelector("#pairs-table tbody tr")?.cloneNode(true);

  function fillPairs({ policies, verdict: { pairs, best, tested } }) {
    if (pairRow === undefined) return;
    document.body.toggleAttribute("data-untested", !tested);
    if (!tested) return;
    const body = document.querySelector("#pairs-table tbody");
    document.querySelector("[data-best]").textContent = said(wordsOf(best));
    body.replaceChildren(...pairs.map(() => pairRow.cloneNode(true)));
    const decimals = tableDecimals(policies);
    pairs.forEach((pair, i) => fillPair(body.rows[i], pair, decimals));
    drawPairs(pairs);
  }

  function fillPair(row, pair, decimals) {
    const [low, difference, high] = [pair.low, pair.difference, pair.high].map((each) => aligned(each, decimals));
    show(row, "second", said(wordsOf(pair.other)));
    show(row, "difference", difference, pair.difference);
    show(row, "limits", `${low} to ${high}`);
    for (const field of ["p_value", "p_adjusted"]) show(row, field, pValue(pair[field]), pair[field]);
    show(row, "verdict", pair.shown ? "shown to cost more" : "not shown to differ");
  }

  /** Draw the comparisons, without constants that cost far more than every model. */
  function drawPairs(pairs) {
    const ends = pairs.filter(({ other }) => other.model !== null).map(({ low, high }) => Math.max(-low, high));
    const reach = constants.farthest * Math.max(...ends, 0);
    const near = ({ other, difference }) => other.model !== null || !reach || Math.abs(difference) <= reach;
    const shown = pairs.filter(near).slice(0, constants.rows);
    const rows = shown.map(({ difference, low, high, shown: sure, other }, row) => ({
      difference, low, high, shown: sure, row, words: said(wordsOf(other)),
    }));
    setRows("pairs", "@pairs", rows);
  }

  /** Draw the comparisons of the stated assumptions. */
  function drawStated() {
    document.body.removeAttribute("data-untested");
    const known = new Map(findings.policies.map((each) => [each.name, each]));
    if (findings.pairs.length) drawPairs(findings.pairs.map((pair) => ({ ...pair, other: known.get(pair.second) })));
  }

  // ---- thresholds and curves

  function fillThresholds({ every, policies, verdict: { best }, shares }, stated) {
    const decimals = tableDecimals(policies);
    for (const row of document.querySelectorAll("[data-threshold]")) {
      const place = stated.indexOf(row.dataset.threshold);
      const policy = policies[holding(policies, place)];
      const rates = ratesOf(policy.counts, shares);
      row.classList.toggle("best", policy === best);
      const own = policy.place === place ? policy : every[place];
      show(row, "threshold", thresholdText(own), own.cuts.join(", "));
      show(row, "range", ""); // at the stated costs only
      const [low, cost, high] = [policy.low, policy.cost, policy.high].map((each) => aligned(each, decimals));
      show(row, "cost", cost, policy.cost);
      show(row, "limits", `${low} to ${high}`);
      for (const [field, rate] of Object.entries(rates)) show(row, field, percent(rate), rate);
    }
  }

  /** Draw what models cost at every threshold, ratio of costs and prevalence. */
  function drawCurves({ policies, base, costs, shares }) {
    if (curves === null) return;
    const chosen = policies.filter(({ kind, cuts }) => kind === "threshold" && cuts.length === 1);
    const dots = chosen.map(({ model, cost, cuts, counts }) => {
      const { recall: tpr, fpr } = ratesOf(counts, null);
      return { name: model, threshold: cuts[0], cost, fpr, tpr };
    });
    setRows("roc", "@at", dots);
    const now = shares ?? sharesHere();
    const rows = curves.models.flatMap(({ name, thresholds, roc }) =>
      thresholds
        .map((each, i) => ({
          name,
          threshold: asNumber(each),
          cost: costOf({ fpr: roc.fpr[i], tpr: roc.tpr[i] }, costs, now),
        }))
        .filter(({ threshold }) => Number.isFinite(threshold))
    );
    setRows("threshold", "@rows", rows);
    const most = Math.max(...rows.map(({ cost }) => cost));
    setSignals("threshold", { top: Math.min(most, highestDrawn(base, costs, now, dots)) });
    setRows("threshold", "@at", dots.filter(({ threshold }) => Number.isFinite(threshold)));
    if (curves.condition.pc !== null) drawConditions(base, costs, now);
  }

  /** Return the cost up to which thresholds are drawn: far out, curves rise to the constants' costs. */
  function highestDrawn(base, costs, shares, dots) {
    const constant = [{ fpr: 0, tpr: 0 }, { fpr: 1, tpr: 1 }].map((rates) => costOf(rates, costs, shares));
    const matter = [Math.min(...constant), ...dots.map(({ cost }) => cost), base.cost ?? 0];
    return constants.farthest * Math.max(...matter.map(Math.abs));
  }

  function sharesHere() {
    if (settings.class_priors !== null) return settings.class_priors;
    const all = data.class_counts.reduce((a, b) => a + b);
    return data.class_counts.map((count) => count / all);
  }

  const spread = (from, to) =>
    Array.from({ length: POINTS }, (_, i) => from * (to / from) ** (i / (POINTS - 1)));

  function drawConditions(base, costs, shares) {
    const [no, yes] = [1 - flagged, flagged];
    const alarm = costs[yes][1 - positive] - costs[no][1 - positive];
    const miss = costs[no][positive] - costs[yes][positive];
    const share = shares[positive];
    if (!(alarm > 0 && miss > 0 && share > 0 && share < 1)) {
      for (const chart of ["ratio", "prevalence"]) clear(chart);
      return;
    }
    const ratio = miss / alarm;
    const atRatio = (times) => {
      const edited = costs.map((row) => [...row]);
      edited[no][positive] = costs[yes][positive] + times * alarm;
      return [edited, shares];
    };
    const atShare = (other) => [costs, positive === 1 ? [1 - other, other] : [other, 1 - other]];
    const { span } = constants;
    const worth = spread(ratio / span, ratio * span);
    const common = spread(share / span, Math.min(0.95, share * span));
    setSignals("ratio", { odds: share / (1 - share), top: drawAlong("ratio", worth, ratio, atRatio, base) });
    setSignals("prevalence", { odds: ratio, top: drawAlong("prevalence", common, share, atShare, base) });
  }

  function clear(chart) {
    for (const rows of ["@rows", "@constants", "@decided", "@at"]) setRows(chart, rows, []);
  }

  /** Draw the best of each model, of the constants, and the baseline's decisions along a path.

      Returns the highest cost that matters: decisions as they are may cost much more. */
  function drawAlong(chart, positions, now, place, base) {
    const least = (model, where) => {
      const { fpr, tpr } = model.lines;
      return Math.min(...fpr.map((each, i) => costOf({ fpr: each, tpr: tpr[i] }, ...where)));
    };
    const along = (cost) => positions.map((each) => ({ [chart]: each, cost: cost(place(each)) }));
    const rows = curves.models.flatMap((model) =>
      along((where) => least(model, where)).map((row) => ({ name: model.name, ...row }))
    );
    const [none, all] = [{ fpr: 0, tpr: 0 }, { fpr: 1, tpr: 1 }];
    setRows(chart, "@rows", rows);
    const constant = along((where) => Math.min(costOf(none, ...where), costOf(all, ...where)));
    setRows(chart, "@constants", constant);
    const rates = base.kind === "decisions" ? ratesOf(base.counts, null) : null;
    const decided = (where) => costOf({ fpr: rates.fpr, tpr: rates.recall }, ...where);
    setRows(chart, "@decided", rates === null ? [] : along(decided));
    setRows(chart, "@at", [{ [chart]: now }]);
    return 1.05 * Math.max(...constant.map(({ cost }) => cost), ...rows.map(({ cost }) => cost));
  }

  /** Show a result in all sections that follow the assumptions. */
  function fill(result, stated) {
    fillMatrices(result, stated);
    fillPairs(result);
    fillThresholds(result, stated);
    drawCurves({ ...result, base: result.verdict.base });
  }

  return { fill, drawCurves, drawStated, ratesOf, costOf, atThreshold, judged, sharesHere };
})();
