/* The first screen at other assumptions: the verdict in words, the facts, and the chart of policies.

   Follows stakes.policies.verdict and stakes.show.report._answer: the same conclusions in the same
   words. At the stated assumptions the page shows what Python wrote. */

globalThis.stakesAnswer = (() => {
  "use strict";

  const { findings, constants, signed, said } = globalThis.stakesPage;
  const { number, general, fixed, pValue, threshold, quoted } = globalThis.stakesWords;
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

  // ---- policies in words

  const known = new Map(findings.policies.map((each) => [each.name, each]));
  const names = findings.data;

  /** Describe a policy; one of the stated costs in Python's words. */
  function wordsOf({ name, kind, model, decision, cuts, same, always }) {
    const stated = known.get(name);
    if (stated !== undefined) return stated.words;
    if (kind === "constant") return `always ${quoted(decision)}`;
    if (kind === "decisions") return `${model} as decided`;
    if (same) return `${model} (which then always predicts ${quoted(always)})`;
    return `${model} at ${cuts.map(threshold).join(", ")}`;
  }

  /** Write a threshold with the digits that matter: all of them, unless Python knows better. */
  function shortThreshold(policy) {
    const text = known.get(policy.name)?.words.split(" at ").at(-1);
    return text?.startsWith("about ") ? text : thresholdText(policy);
  }

  /** Describe a policy in short: a model at its own threshold by its name. */
  const labelOf = (policy) =>
    policy.kind !== "threshold" ? wordsOf(policy) : policy.pinned ? policy.name : policy.model;

  function thresholdText({ cuts }) {
    if (!cuts.length) return "–";
    if (cuts.length > 1) return cuts.map(scoreText).join(", ");
    return scoreText(cuts[0]);
  }

  function scoreText(value) {
    if (!Number.isFinite(value)) return value > 0 ? "none" : "all";
    return threshold(value);
  }

  // ---- the verdict

  /** Return the verdict on policies: what is best, what it saves, and what it is shown to beat.

      `named` is whether the baseline was named, and so is judged alone. */
  function verdictOf({ policies, order, base: at, family }, named) {
    const [best, base] = [policies[order[0]], policies[at]];
    if (family === null) {
      const lowest = order.map((i) => policies[i]).reduce((a, b) => (b.cost < a.cost ? b : a));
      return { best: lowest, base, tested: false, ties: [], pairs: [], saving: { each: base.cost - lowest.cost } };
    }
    const pairs = family.pairs.map((pair) => ({ ...pair, other: policies[pair.second] }));
    const members = family.members.map((i) => policies[i]);
    let pair = null;
    if (best !== base) pair = named ? family.apart(order[0], at) : pairs.find(({ second }) => second === at) ?? null;
    return {
      best,
      base,
      named,
      pairs,
      members,
      tested: true,
      ties: pairs.filter(({ shown }) => !shown).map(({ other }) => other),
      regret: family.regret,
      saving: savingOf(policies, best, base, pair),
      constant: constantOf(family, policies),
    };
  }

  function savingOf(policies, best, base, pair) {
    if (pair === null) return { each: 0, low: 0, high: 0, shown: false, p: 1, by: "p_value", parts: null };
    const { difference, low, high, by } = pair;
    const each = 0 - difference;
    const shown = pair.shown && each > 0;
    return { each, low: 0 - high, high: 0 - low, shown, p: pair[by], by, parts: partsOf(policies, best, base, each) };
  }

  /** Divide a saving into that of a threshold and that of a model; null where there are no two. */
  function partsOf(policies, best, base, saving) {
    if (best.kind === "constant" || base.kind === "constant") return null;
    if (base.model === best.model) return best.chosen ? [saving, 0] : null;
    const moved = policies.find(({ group }) => group.some(({ chosen, model }) => chosen && model === base.model));
    const decided = policies.find(({ group }) => group.some(({ kind, model }) => kind === "decisions" && model === best.model));
    if (moved === undefined && (decided === undefined || decided === best)) return null;
    const part = moved === undefined ? decided.cost - best.cost : base.cost - moved.cost;
    return [part, saving - part];
  }

  /** Compare the cheapest constant prediction with the cheapest policy of a model. */
  function constantOf({ members, apart }, policies) {
    const [constant] = members.filter((i) => policies[i].same);
    const models = members.filter((i) => !policies[i].same);
    if (constant === undefined || !models.length) return null;
    const found = models.map((i) => apart(i, constant));
    const shown = found.some(({ difference, p_adjusted: p }) => difference < 0 && p <= ALPHA);
    return { policy: policies[constant], p: found[0].p_adjusted, shown };
  }

  const ALPHA = Number((1 - settings.confidence).toFixed(15));

  // ---- its sentences

  const listed = (texts) => (texts.length > 1 ? `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}` : texts.join(""));
  const others = (count) => (count === 1 ? "1 other" : `${number(count)} others`);

  function several(texts, all) {
    if (texts.length <= constants.named) return listed(texts);
    if (texts.length === all) return `all ${all} others`;
    return listed([...texts.slice(0, constants.named), others(texts.length - constants.named)]);
  }

  function pWords(value, by) {
    const text = pValue(value);
    return `${by === "p_value" ? "" : "adjusted "}p ${text.startsWith("<") ? text : `= ${text}`}`;
  }

  function periodOf(volume) {
    if (volume === null) return "per decision";
    return settings.per ? `a ${settings.per}` : `over ${number(volume)} decisions`;
  }

  /** Write the limits of a cost; none where it is known. */
  function limitsOf({ low, high }) {
    return low === high ? "known exactly" : `${rounded(low)} to ${rounded(high)}, ${sure} CI`;
  }

  const costOf = (policy) => `${rounded(policy.cost)}${unit} per decision (${limitsOf(policy)})`;

  /** Return the conclusion and its detail. */
  function concluded({ best, ties, constant }) {
    const words = wordsOf(best);
    const none = "No model is shown to be worth using";
    if (best.same) {
      const start = constant === null ? "Use no model" : none;
      return [`${start}: ${words} costs ${rounded(best.cost)}${unit} per decision.`, `The limits of this cost: ${limitsOf(best)}.`];
    }
    if (constant !== null && !constant.shown) {
      const { policy, p } = constant;
      return [
        `${none}: ${wordsOf(policy)} costs ${rounded(policy.cost)}${unit} per decision.`,
        `The cheapest policy, ${words}, costs ${costOf(best)}; the difference is not shown (adjusted ${pWords(p, "p_value")}).`,
      ];
    }
    const tied = ties.filter(({ same }) => !same);
    if (!tied.length) return [`Use ${words}.`, `It costs ${costOf(best)}.`];
    const labels = [best, ...tied.slice(0, constants.ties)].map(labelOf);
    if (tied.length > constants.ties) labels.push(others(tied.length - constants.ties));
    const rows = `${number(names.n)} ${settings.noun}`;
    return [
      `${labels.slice(0, -1).join(", ")} or ${labels.at(-1)}: equally good as far as ${rows} tell.`,
      `${words} is cheapest: ${costOf(best)}.`,
    ];
  }

  /** Return the headline and the lead. */
  function headline(verdict, volume) {
    const { best, base, saving, tested, named } = verdict;
    if (!tested) {
      return [
        `Lowest estimate: ${wordsOf(best)}, ${rounded(best.cost)}${unit} per decision.`,
        "Differences are not tested at these assumptions.",
      ];
    }
    const [conclusion, detail] = concluded(verdict);
    if (best === base) {
      return [conclusion, `${detail} It is the baseline${named ? "" : ", the cheapest policy that needs no choice"}.`];
    }
    if (!saving.shown) return [conclusion, detail];
    return withSaving({ conclusion, detail }, wordsOf(best), saving, wordsOf(base), volume);
  }

  /** Return the headline and the lead with a saving, or the extra cost over what breaks a limit. */
  function withSaving({ conclusion, detail }, use, { each, low, high, shown }, against, volume) {
    const money = (value) => rounded(value * (volume ?? 1));
    const amount = `${money(Math.abs(each))}${unit}`;
    if (conclusion !== `Use ${use}.`) {
      return [conclusion, shown ? `${detail} It saves ${amount} ${periodOf(volume)} against ${against}.` : detail];
    }
    const period = settings.per ? ` ${periodOf(volume)}` : "";
    const over = volume === null ? "" : `, over ${number(volume)} decisions${period}`;
    const [ends, what] = each < 0 ? [[-high, -low], "extra cost"] : [[low, high], "saving"];
    const does = `${high < 0 ? "costs" : "may cost"} ${amount} more ${periodOf(volume)}, but keeps the limits`;
    return [
      `${conclusion} It ${each < 0 ? does : `saves ${amount} ${periodOf(volume)}`}.`,
      `Compared with ${against}${over}. ${sure} confidence interval of the ${what}: ${ends.map(money).join(" to ")}${unit}.`,
    ];
  }

  // ---- the facts

  function badgeWords({ shown, low, high, p, by }, cost) {
    if (shown) return `Shown, ${pWords(p, by)}`;
    const within = Math.max(Math.abs(low), Math.abs(high));
    if (within <= constants.equal * Math.abs(cost)) return `Equal within ±${rounded(within)}`;
    return `Not shown, ${pWords(p, by)}`;
  }

  function partsWords(parts) {
    if (parts === null) return "";
    if (parts[1] === 0) return "All of it is the threshold's, none the model's. ";
    if (parts[0] === 0) return "All of it is the model's, none the threshold's. ";
    const [moved, model] = parts.map((each) => `${rounded(each)}${unit}`);
    return `Of it, ${moved} is the threshold's and ${model} the model's. `;
  }

  function savingFact({ best, base, saving, tested }) {
    if (best === base) {
      const ends = `${rounded(best.low)} to ${rounded(best.high)} (${sure} CI).`;
      const big = `${rounded(best.cost)}${unit} per decision`;
      return { title: "Cost", big, text: best.low === best.high ? "Known exactly." : ends };
    }
    const [badge, big] = [tested ? badgeWords(saving, base.cost) : "Not tested", `${rounded(saving.each)}${unit} per decision`];
    const costs = `Cost: ${rounded(best.cost)}${unit}, against ${rounded(base.cost)} of ${wordsOf(base)}.`;
    if (!tested) return { title: "Saving", big, text: costs, badge, open: true };
    const equal = badge.startsWith("Equal");
    const rule = equal ? ` Equal: both limits are within ${percent(constants.equal)} of the baseline's cost.` : "";
    const range = `${rounded(saving.low)} to ${rounded(saving.high)} (${sure} CI). `;
    const text = `${range}${saving.shown ? partsWords(saving.parts) : ""}${costs}${rule}`;
    return { title: "Saving", big, text, badge, open: !saving.shown && !equal };
  }

  function doubtFact({ pairs, ties, members, tested }) {
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
    const shown = pairs.filter((pair) => pair.shown).map(({ other }) => wordsOf(other));
    const sentences = [];
    if (shown.length) {
      sentences.push(`It is shown to cost less than ${several(shown, members.length - 1)} at ${sure} confidence.`);
    }
    if (ties.length) sentences.push(`It is not shown to cost less than ${several(ties.map(wordsOf), 0)}.`);
    if (!sentences.length) return null;
    return { title: "Doubt", text: sentences.join(" "), badge: ties.length ? "Not settled" : "", open: ties.length > 0 };
  }

  function regretFact({ best, members, regret, tested }) {
    if (!tested || members.length < 2) return null;
    const most = regret > 0 ? `at most ${rounded(regret)}${unit} more` : "no more";
    const text =
      `Choosing ${wordsOf(best)} costs ${most} per decision than the best of the ` +
      `${members.length} policies (${sure} confidence).`;
    return { title: "If the choice is wrong", text };
  }

  function doesFact({ best }, rates) {
    if (rates === null || best.kind === "constant") return null;
    const { labels, pos_label: positive } = names;
    const negative = labels.find((label) => label !== positive);
    const flags = best.cuts.length && Number.isFinite(best.cuts[0]) ? `scores of ${shortThreshold(best)} and above: ` : "";
    return {
      title: "What it does",
      text:
        `Flags ${flags}${percent(rates.recall)} of ${positive} (sensitivity), ${percent(rates.fpr)} of ` +
        `${negative} (false positive rate), ${percent(rates.flagged)} of all.`,
    };
  }

  /** Return all that the first screen says of a verdict. */
  function answerOf(verdict, rates, volume) {
    const [conclusion, lead] = headline(verdict, volume);
    const facts = {
      saving: savingFact(verdict),
      does: doesFact(verdict, rates),
      doubt: doubtFact(verdict),
      regret: regretFact(verdict),
      change: null, // found by Python, for the stated costs only
    };
    return { headline: conclusion, lead, facts };
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
    return baseline > 100 ? lines : [...lines, upright("ref", baseline)]; // off the scale
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
    if (ties.includes(policy)) {
      const left = high > 72;
      const place = left ? { x: at(low > 32 ? low : 100), dx: -10, "text-anchor": "end" } : { x: at(high), dx: 10 };
      made.push(node("text", { class: "undecided halo", y: "50%", dy: "0.35em", ...place }, "not told apart"));
    }
    return made;
  }

  const table = document.getElementById("policies");

  /** Return the policies but constants that cost far more than every model. */
  function nearOf(policies) {
    const reach = Math.max(0, ...policies.filter(({ model }) => model !== null).map(({ high }) => high));
    return policies.filter(
      ({ model, cost }) => model !== null || cost <= constants.farthest * reach || reach <= 0
    );
  }

  /** Return how many decimals costs and their differences have in tables: one more than above. */
  const tableDecimals = (policies) => Math.min(decimalsFor(nearOf(policies).map(({ cost }) => cost)) + 1, 6);

  /** Fill the chart; rows stay where they are, whatever the policies now cost. */
  function fillChart({ policies, best, base, ties }, stated) {
    const near = nearOf(policies);
    const axis = axisOf(Math.min(...near.map(({ low }) => low)), Math.max(...near.map(({ high }) => high)));
    const decimals = decimalsFor(near.map(({ cost }) => cost));
    const baseline = axis.place(base.cost);
    for (const row of table.querySelectorAll("tr.group .plot svg")) row.replaceChildren(...gridOf(axis, baseline));
    stated.forEach((name, place) => {
      const row = table.querySelector(`tr[data-policy="${CSS.escape(name)}"]`);
      if (row === null) return;
      const policy = policies.find((each) => each.place === place);
      row.hidden = policy === undefined; // it decides every row as another does
      if (row.hidden) return;
      row.classList.toggle("best", policy === best);
      const colour = row.querySelector(".mark .d").style.getPropertyValue("--c");
      const field = (name) => row.querySelector(`[data-field="${name}"]`);
      const alike = policy.group.slice(1).map((each) => each.name);
      field("alike").textContent = alike.length ? said(`same decisions: ${alike.join(", ")}`) : "";
      field("threshold").textContent = shortThreshold(policy);
      if (policy.cuts.length === 1) field("threshold").dataset.value = String(policy.cuts[0]);
      field("cost").textContent = aligned(policy.cost, decimals);
      field("cost").dataset.value = String(policy.cost);
      field("limits").textContent = `${aligned(policy.low, decimals)} to ${aligned(policy.high, decimals)}`;
      Object.assign(field("limits").dataset, { low: policy.low, high: policy.high });
      row.querySelector(".tag")?.remove();
      if (policy === base) {
        const tag = Object.assign(document.createElement("span"), { className: "tag", textContent: "baseline" });
        field("title").after(" ", tag);
      }
      const plot = plotOf(policy, colour, { axis, near, ties });
      row.querySelector(".plot svg").replaceChildren(...gridOf(axis, baseline), ...plot);
    });
    for (const body of table.tBodies) {
      const rows = [...body.querySelectorAll("tr[data-policy]")];
      body.hidden = rows.length > 0 && rows.every(({ hidden }) => hidden);
    }
    const texts = axis.ticks.map(([place, text]) =>
      node("text", { x: at(place), y: "1.1em", "text-anchor": "middle" }, text)
    );
    table.querySelector("tr.axis svg").replaceChildren(...texts);
    const label = table.querySelector("thead .plot svg text");
    label.textContent = baseline > 100 ? "" : "baseline";
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
    text.replaceChildren(...(fact.big ? [big, document.createElement("br")] : []), said(fact.text));
  }

  /** Show the sentences of a verdict. */
  function tell([headline, lead]) {
    const sentences = headline.split(/(?<=\.) (?=It )/);
    const spans = sentences.map((each) => Object.assign(document.createElement("span"), { textContent: said(each) }));
    document.getElementById("verdict").replaceChildren(...spans.flatMap((each, i) => (i ? [" ", each] : [each])));
    document.getElementById("lead").textContent = said(lead);
  }

  /** Show a result on the first screen; `stated` has the names of its policies in the report. */
  function fill({ policies, verdict, rates, volume }, stated) {
    const answer = answerOf(verdict, rates, volume);
    tell([answer.headline, answer.lead]);
    for (const [name, fact] of Object.entries(answer.facts)) fillFact(name, fact);
    fillChart({ policies, ...verdict }, stated);
  }

  return {
    verdictOf, answerOf, withSaving, tell, fill,
    wordsOf, thresholdText, rounded, aligned, decimalsFor, tableDecimals, axisOf, percent,
  };
})();
