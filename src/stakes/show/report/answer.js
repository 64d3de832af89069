/* The first screen at other assumptions: the verdict in words, the facts, and the chart of policies.

   Follows stakes.show.report._answer. At the stated assumptions the page shows what Python wrote. */

globalThis.stakesAnswer = (() => {
  "use strict";

  const { findings, constants, signed } = globalThis.stakesPage;
  const { number, general, fixed, pValue, threshold } = globalThis.stakesWords;
  const { settings } = findings;
  const SVG = "http://www.w3.org/2000/svg";
  const SHAPES = { threshold: "dot", minimum_cost: "dot", decisions: "ring", constant: "square" };

  // ---- numbers for people

  const digitsAfter = (value) => constants.digits - 1 - Math.floor(Math.log10(Math.abs(value)));

  /** Write a number with three significant digits, and a minus sign. */
  function rounded(value) {
    if (value === 0 || !Number.isFinite(value)) return number(value);
    const digits = digitsAfter(value);
    if (digits <= 0) return signed(number(Number(general(value, constants.digits))));
    return signed(fixed(value, Math.min(digits, 12)));
  }

  /** Return how many decimals give the smallest number of a column three digits. */
  function decimalsFor(values) {
    const sizes = values.map(Math.abs).filter((size) => size > 0);
    if (!sizes.length) return 0;
    return Math.min(Math.max(0, digitsAfter(Math.min(...sizes))), 6);
  }

  /** Write a number of a column, with a minus sign for people. */
  function aligned(value, decimals) {
    const text = fixed(Math.abs(value), decimals);
    const [whole, rest] = text.split(".");
    const digits = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest ? `.${rest}` : "");
    return value < 0 && Number(text) !== 0 ? `−${digits}` : digits;
  }

  const sure = `${general(100 * settings.confidence, 4)}%`;
  const unit = settings.unit ? ` ${settings.unit}` : "";
  const percent = (share) => `${general(Number(general(100 * share, 3)), 4)}%`;

  // ---- words

  function titleOf({ name, kind, model, cuts }) {
    if (kind === "constant") return name;
    if (kind === "decisions") return `${model} as decided`;
    if (kind === "minimum_cost") return `${model} by minimum expected cost`;
    if (cuts.length === 1 && Number.isFinite(cuts[0])) {
      return `${model} at threshold ${thresholdText({ cuts })}`;
    }
    return name;
  }

  function thresholdText({ cuts }) {
    if (!cuts.length) return "–";
    if (cuts.length > 1) return cuts.map(scoreText).join(", ");
    return scoreText(cuts[0]);
  }

  function scoreText(value) {
    if (!Number.isFinite(value)) return value > 0 ? "none" : "all";
    return threshold(value);
  }

  const times = (volume) => volume ?? 1;

  function periodOf(volume) {
    if (volume === null) return "per decision";
    return settings.per ? `a ${settings.per}` : `over ${number(volume)} decisions`;
  }

  /** Return the verdict as a headline. */
  function headline({ best, base, saving, ties, tested, volume }) {
    if (best === base) {
      const why = ties.length || !tested ? "Nothing is shown to be cheaper." : "It is shown to be the cheapest of those compared.";
      return `Keep ${titleOf(best)}. ${why}`;
    }
    const lead =
      best.kind === "constant"
        ? `Use no model: ${best.name.replace("always", "always predict")}`
        : `Use ${titleOf(best)}`;
    const amount = `${rounded(saving.per * times(volume))}${unit}`;
    return saving.shown
      ? `${lead}. It saves ${amount} ${periodOf(volume)}.`
      : `${lead}. It may save ${amount} ${periodOf(volume)}, but a saving is not shown.`;
  }

  /** Write the limits of a cost; none where it is known. */
  function limitsOf({ low, high }) {
    return low === high ? "known exactly" : `${rounded(low)} to ${rounded(high)}, ${sure} CI`;
  }

  function lead({ best, base, saving, tested, volume }) {
    if (best === base) {
      const untested = tested ? "" : " Differences are not tested at these assumptions.";
      return `It costs ${rounded(best.cost)}${unit} per decision (${limitsOf(best)}).${untested}`;
    }
    let over = "";
    if (volume !== null) {
      const period = settings.per ? ` ${periodOf(volume)}` : "";
      over = `, over ${number(volume)} decisions${period}`;
    }
    const start = `Compared with ${titleOf(base)}${over}.`;
    if (!tested) return `${start} Differences are not tested at these assumptions.`;
    const ends = [saving.low, saving.high].map((each) => rounded(each * times(volume)));
    return `${start} ${sure} confidence interval of the saving: ${ends[0]} to ${ends[1]}${unit}.`;
  }

  function savingFact({ best, base, saving, tested }) {
    const limits = `(${limitsOf(best)})`;
    if (best === base) {
      const ends = `${rounded(best.low)} to ${rounded(best.high)} (${sure} CI).`;
      return {
        title: "Cost",
        big: `${rounded(best.cost)}${unit} per decision`,
        text: best.low === best.high ? "Known exactly." : ends,
      };
    }
    const range = tested ? `${rounded(saving.low)} to ${rounded(saving.high)} (${sure} CI). ` : "";
    const p = saving.shown ? pValue(saving.adjusted) : "";
    return {
      title: "Saving",
      big: `${rounded(saving.per)}${unit} per decision`,
      text: `${range}Estimated cost: ${rounded(best.cost)}${unit} ${limits}, against ${rounded(base.cost)}.`,
      badge: saving.shown ? `Shown, p ${p.startsWith("<") ? p : `= ${p}`}` : tested ? "Likely, not shown" : "Not tested",
      open: !saving.shown,
    };
  }

  function doubtFact({ ties, pairs, tested, policies }) {
    const at = `${sure} confidence`;
    if (!tested) {
      return {
        title: "Doubt",
        text:
          "At another prevalence, or with thresholds set by hand, this page compares estimates and " +
          "tests no difference. Make the report again with these assumptions to test them.",
        badge: "Not tested",
        open: true,
      };
    }
    if (!ties.length) {
      return { title: "Doubt", text: `None at ${at}: it is shown to cost less than all policies it was compared with.` };
    }
    const pair = pairs.find(({ second }) => second === ties[0]);
    const other = policies.find(({ name }) => name === ties[0]);
    const others = ties.length - 1;
    const more = others ? ` Nor from ${others} other${others > 1 ? "s" : ""}.` : "";
    return {
      title: "Doubt",
      text:
        `It cannot be told apart from ${titleOf(other)} at ${at}: difference ` +
        `${rounded(pair.difference)}${unit} per decision (${rounded(pair.low)} to ${rounded(pair.high)}).${more}`,
      badge: "Not settled",
      open: true,
    };
  }

  function doesFact({ best, rates }) {
    if (rates === null || best.kind === "constant") return null;
    const { labels, pos_label: positive } = findings.data;
    const negative = labels.find((label) => label !== positive);
    const flags = best.kind === "threshold" ? `scores of ${thresholdText(best)} and above: ` : "";
    return {
      title: "What it does",
      text:
        `Flags ${flags}${percent(rates.recall)} of ${positive} (sensitivity), ${percent(rates.fpr)} of ` +
        `${negative} (false positive rate), ${percent(rates.flagged)} of all.`,
    };
  }

  /** Return all that the first screen says of some result. */
  function answerOf(result) {
    const facts = { saving: savingFact(result), does: doesFact(result), doubt: doubtFact(result) };
    return { headline: headline(result), lead: lead(result), facts };
  }

  // ---- the axis

  function axisOf(low, high) {
    const rough = (high - low || Math.abs(high) || 1) / constants.ticks;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = constants.steps.map((each) => each * power).find((each) => each >= rough * (1 - 1e-9));
    const start = Math.floor(low / step + 1e-9);
    const stop = Math.max(Math.ceil(high / step - 1e-9), start + 1);
    const ticks = Array.from({ length: stop - start + 1 }, (_, i) => [
      (100 * i) / (stop - start),
      number(Number(((start + i) * step).toPrecision(6))),
    ]);
    const place = (value) => (100 * (value - start * step)) / ((stop - start) * step);
    return { place, ticks };
  }

  // ---- showing it

  function node(name, attributes = {}, text = "") {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  }

  const at = (place) => `${place.toFixed(2)}%`;

  function gridOf(axis, baseline) {
    const lines = axis.ticks.map(([place]) => upright("g", place));
    return [...lines, upright("ref", baseline)];
  }

  const upright = (kind, place) =>
    node("line", { class: kind, x1: at(place), x2: at(place), y1: 0, y2: "100%" });

  function shapeOf(kind, colour, x) {
    const style = `--c:${colour}`;
    if (SHAPES[kind] === "square") {
      return node("rect", { class: "d", style, x, y: "50%", width: 8, height: 8, transform: "translate(-4 -4)" });
    }
    const hollow = SHAPES[kind] === "ring" ? " hollow" : "";
    return node("circle", { class: `d${hollow}`, style, cx: x, cy: "50%", r: 5 });
  }

  function plotOf(policy, colour, { axis, near, ties }) {
    if (!near.includes(policy)) {
      return [node("text", { x: "100%", y: "50%", dy: "0.35em", "text-anchor": "end" }, "off the scale →")];
    }
    const [low, cost, high] = [policy.low, policy.cost, policy.high].map(axis.place);
    const made = [
      node("line", { class: "w", style: `--c:${colour}`, x1: at(low), x2: at(high), y1: "50%", y2: "50%" }),
      shapeOf(policy.kind, colour, at(cost)),
    ];
    if (ties.includes(policy.name)) {
      const left = high > 60 ? { "text-anchor": "end", style: "transform:translate(-20px,0)" } : {};
      const place = { class: "undecided halo", x: at(high), dx: 10, y: "50%", dy: "0.35em", ...left };
      made.push(node("text", place, "not told apart"));
    }
    return made;
  }

  const table = document.getElementById("policies");

  /** Return the policies but constants that cost far more than every model. */
  function nearOf(policies) {
    const reach = Math.max(...policies.filter(({ model }) => model !== null).map(({ high }) => high));
    return policies.filter(
      ({ model, cost }) => model !== null || cost <= constants.farthest * reach || reach <= 0
    );
  }

  /** Return how many decimals costs and their differences have in tables: one more than above. */
  const tableDecimals = (policies) => Math.min(decimalsFor(nearOf(policies).map(({ cost }) => cost)) + 1, 6);

  /** Fill the chart; rows stay where they are, whatever the policies now cost. */
  function fillChart({ policies, best, base, ties, stated }) {
    const near = nearOf(policies);
    const axis = axisOf(Math.min(...near.map(({ low }) => low)), Math.max(...near.map(({ high }) => high)));
    const decimals = decimalsFor(near.map(({ cost }) => cost));
    const baseline = axis.place(base.cost);
    for (const row of table.querySelectorAll("tr.group .plot svg")) row.replaceChildren(...gridOf(axis, baseline));
    policies.forEach((policy, i) => {
      const row = table.querySelector(`tr[data-policy="${CSS.escape(stated[i])}"]`);
      if (row === null) return;
      row.classList.toggle("best", policy === best);
      const colour = row.querySelector(".mark .d").style.getPropertyValue("--c");
      const field = (name) => row.querySelector(`[data-field="${name}"]`);
      field("threshold").textContent = thresholdText(policy);
      field("cost").textContent = aligned(policy.cost, decimals);
      field("cost").dataset.value = String(policy.cost);
      field("limits").textContent = `${aligned(policy.low, decimals)} to ${aligned(policy.high, decimals)}`;
      Object.assign(field("limits").dataset, { low: policy.low, high: policy.high });
      row.querySelector(".tag")?.remove();
      if (policy === base) {
        const tag = Object.assign(document.createElement("span"), { className: "tag", textContent: "baseline" });
        row.querySelector("th").append(tag);
      }
      const plot = plotOf(policy, colour, { axis, near, ties });
      row.querySelector(".plot svg").replaceChildren(...gridOf(axis, baseline), ...plot);
    });
    const texts = axis.ticks.map(([place, text]) =>
      node("text", { x: at(place), y: "1.1em", "text-anchor": "middle" }, text)
    );
    table.querySelector("tr.axis svg").replaceChildren(...texts);
    const label = table.querySelector("thead .plot svg text");
    label.setAttribute("x", at(baseline));
    label.setAttribute("text-anchor", baseline > 85 ? "end" : baseline < 15 ? "start" : "middle");
  }

  const BADGES = { true: "M8 1a7 7 0 0 1 0 14Z", false: "m4.6 8.3 2.4 2.4 4.5-5" };

  function badgeOf(text, open) {
    const badge = Object.assign(document.createElement("span"), { className: open ? "badge open" : "badge" });
    const icon = node("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
    icon.append(
      node("circle", { cx: 8, cy: 8, r: 7, fill: "none", stroke: "currentColor", "stroke-width": 2 }),
      node("path", {
        d: BADGES[open],
        fill: open ? "currentColor" : "none",
        stroke: open ? "none" : "currentColor",
        "stroke-width": 2,
      })
    );
    const words = Object.assign(document.createElement("span"), { textContent: text });
    badge.append(icon, words);
    return badge;
  }

  function fillFact(name, fact) {
    const element = document.querySelector(`[data-fact="${name}"]`);
    if (element === null) return;
    element.hidden = fact === null;
    if (fact === null) return;
    const [title, text] = [element.querySelector("dt"), element.querySelector("dd")];
    title.replaceChildren(fact.title, ...(fact.badge ? [" ", badgeOf(fact.badge, fact.open)] : []));
    const big = Object.assign(document.createElement("span"), { className: "big", textContent: fact.big ?? "" });
    text.replaceChildren(...(fact.big ? [big, document.createElement("br")] : []), fact.text);
  }

  /** Show a result on the first screen. */
  function fill(result) {
    const answer = answerOf(result);
    document.getElementById("verdict").textContent = answer.headline;
    document.getElementById("lead").textContent = answer.lead;
    for (const [name, fact] of Object.entries(answer.facts)) fillFact(name, fact);
    // These are planned by Python, for the stated assumptions only.
    for (const name of ["settle", "change"]) {
      const element = document.querySelector(`[data-fact="${name}"]`);
      if (element !== null) element.hidden = true;
    }
    fillChart(result);
  }

  return { answerOf, fill, rounded, aligned, decimalsFor, tableDecimals, axisOf, percent, thresholdText, titleOf };
})();
