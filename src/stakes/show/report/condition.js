/* The slider over operating conditions: what each model costs there, with which threshold.

   Follows stakes.curves: `Pieces.index`, `CostCurve.cost` and `threshold`, and the band "mover",
   whose limits of single rates come with the findings. */

(() => {
  "use strict";

  const { findings, percent, threshold, asNumber, show, complain, setRows } = globalThis.stakesPage;
  const { number } = globalThis.stakesWords;
  if (findings.curves === null) return;

  const { condition, models } = findings.curves;
  const slider = document.getElementById("pc");
  const prevalence = document.getElementById("pc-prevalence");
  const ratio = document.getElementById("pc-ratio");
  const statedPc = condition.pc ?? 0.5;

  /** Return the last line whose range begins at or before the condition. */
  function lineAt({ lines }, pc) {
    let found = lines.from.findIndex((start) => start !== null);
    lines.from.forEach((start, i) => {
      if (start !== null && start <= pc) found = i;
    });
    return found;
  }

  const clipped = (x) => Math.min(Math.max(x, 0), 1);

  /** Return the cost of a model at a condition, its band, and the threshold that is best there. */
  function readOff(model, pc) {
    const i = lineAt(model, pc);
    const { lines } = model;
    const [fpr, fnr] = [lines.fpr[i], 1 - lines.tpr[i]];
    const cost = (1 - pc) * fpr + pc * fnr;
    const shared = lines.shared === null ? 0 : lines.shared[i];
    const arm = (ofAlarms, ofMisses) => {
      const [x, y] = [(1 - pc) * ofAlarms, pc * ofMisses];
      return Math.sqrt(x * x + y * y + 2 * shared * x * y);
    };
    return {
      name: model.name,
      pc,
      cost,
      low: clipped(cost - arm(fpr - lines.fpr_low[i], fnr - lines.fnr_low[i])),
      high: clipped(cost + arm(lines.fpr_high[i] - fpr, lines.fnr_high[i] - fnr)),
      threshold: asNumber(lines.threshold[i]),
      fpr,
      tpr: lines.tpr[i],
    };
  }

  function fill(row, read) {
    for (const field of ["cost", "low", "high"]) show(row, field, number(read[field]), read[field]);
    for (const field of ["tpr", "fpr"]) show(row, field, percent(read[field]), read[field]);
    const none = read.threshold === Infinity && read.tpr === 0 && read.fpr === 0;
    show(row, "threshold", none ? "none called" : threshold(read.threshold), read.threshold);
  }

  function update(pc) {
    const reads = models.map((model) => readOff(model, pc));
    reads.forEach((read, i) =>
      fill(document.querySelector(`#pc-table [data-curve="${i}"]`), read)
    );
    const trivial = Math.min(pc, 1 - pc);
    show(document.getElementById("pc-trivial"), "cost", number(trivial), trivial);
    const out = document.getElementById("pc-out");
    out.textContent = number(pc);
    out.dataset.value = String(pc);
    slider.setAttribute("aria-valuetext", `PC(+) = ${number(pc)}`);
    say(pc, reads, trivial);
    for (const chart of ["curves", "roc"]) setRows(chart, "@at", reads);
  }

  function say(pc, reads, trivial) {
    const best = reads.reduce((a, b) => (b.cost < a.cost ? b : a));
    const who =
      best.cost < trivial
        ? `${best.name} has the lowest cost, ${number(best.cost)} of what being always wrong costs`
        : "no model costs less than a constant prediction";
    document.getElementById("pc-status").textContent = `At PC(+) = ${number(pc)} ${who}.`;
  }

  /** Fold a prevalence and a ratio of costs into the condition (operating_condition). */
  function folded(share, times) {
    return (share * times) / (share * times + (1 - share));
  }

  /** Show the ratio of costs that, at this prevalence, makes the condition (cost_ratio). */
  function showRatio(pc) {
    const share = Number(prevalence.value) / 100;
    const times = ((pc / (1 - pc)) * (1 - share)) / share;
    ratio.value = Number.isFinite(times) ? String(Number(times.toPrecision(6))) : "";
  }

  function fromParts() {
    const share = Number(prevalence.value) / 100;
    const times = Number(ratio.value);
    const shareFits = prevalence.value !== "" && share > 0 && share < 1;
    const timesFit = ratio.value !== "" && times >= 0 && Number.isFinite(times);
    prevalence.setAttribute("aria-invalid", String(!shareFits));
    ratio.setAttribute("aria-invalid", String(!timesFit));
    if (!shareFits) return complain("pc-problem", "The share must be between 0 and 100 %.");
    if (!timesFit) return complain("pc-problem", "How bad a miss is must be a number, 0 or more.");
    complain("pc-problem", "");
    const pc = folded(share, times);
    slider.value = String(pc);
    return update(pc);
  }

  function fromSlider() {
    clear();
    const pc = Number(slider.value);
    showRatio(pc);
    update(pc);
  }

  function clear() {
    complain("pc-problem", "");
    for (const input of [prevalence, ratio]) input.removeAttribute("aria-invalid");
  }

  function reset() {
    clear();
    slider.value = String(statedPc);
    prevalence.value = String(Number((100 * condition.prevalence).toPrecision(6)));
    showRatio(statedPc);
    update(statedPc); // not the slider's value, which is rounded to its steps
  }

  function showPair() {
    const { pairs } = findings.curves;
    const picked = document.getElementById("pair");
    if (picked !== null) setRows("difference", "@pair", [pairs[Number(picked.value)].band]);
  }

  document.getElementById("pair")?.addEventListener("input", showPair);
  slider.addEventListener("input", fromSlider);
  prevalence.addEventListener("input", fromParts);
  ratio.addEventListener("input", fromParts);
  document.getElementById("pc-reset").addEventListener("click", reset);
  reset();
  showPair();
})();
