/* The one panel of assumptions, which the whole page follows.

   As stated the page shows Python's own numbers. Edited, `stakesLive` chooses thresholds again and
   computes the same numbers; what cannot be computed again here is marked as being for the stated
   assumptions. */

(() => {
  "use strict";

  const { findings, complain, asNumber, reachTables } = globalThis.stakesPage;
  const { number, quoted } = globalThis.stakesWords;
  const live = globalThis.stakesLive;
  const answer = globalThis.stakesAnswer;
  const sections = globalThis.stakesSections;
  const { settings, data, curves, verdict, other_costs: other } = findings;
  const byId = (id) => document.getElementById(id);
  const form = document.querySelector("#panel form");
  const volume = byId("volume");
  const matrix = [...document.querySelectorAll("#cost-matrix input")];
  const byHand = [...document.querySelectorAll("#threshold-drawer input")];
  const PLAIN = /^[-+]?(\d+(,\d{3})*(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i;
  const PAUSE = 120; // milliseconds, so that typing stays smooth
  const editable = byId("baseline") !== null;

  // ---- what is stated

  /** The names of the policies at the stated costs, in the order of the tables of decisions. */
  const stated = editable ? other.tables.find(({ factor }) => factor === 1).names : [];
  const costs = findings.costs.values;
  const positive = data.labels.indexOf(data.pos_label);
  const flagged = data.decisions.indexOf(data.pos_label);

  // ---- reading the panel

  function parsed(text) {
    const trimmed = text.trim();
    return PLAIN.test(trimmed) ? Number(trimmed.replaceAll(",", "")) : NaN;
  }

  /** Read a field; a value that does not fit is marked, and said. */
  function read(input, name, fits, problems) {
    const value = parsed(input.value);
    const good = Number.isFinite(value) && Math.abs(value) <= 1e300 && fits(value);
    if (good) input.removeAttribute("aria-invalid");
    else input.setAttribute("aria-invalid", "true");
    if (!good) problems.push(`${name}: “${input.value}” is not allowed here.`);
    return value;
  }

  function readCosts(problems) {
    const found = costs.map((row) => [...row]);
    if (byId("alarm") !== null) {
      const cell = { alarm: [flagged, 1 - positive], miss: [1 - flagged, positive] };
      for (const [id, [i, j]] of Object.entries(cell)) {
        found[i][j] = read(byId(id), id === "alarm" ? "False alarm" : "Miss", () => true, problems);
      }
    }
    for (const input of matrix) {
      const [i, j] = [Number(input.dataset.row), Number(input.dataset.column)];
      const { decisions, labels } = findings.costs;
      const name = `Cost of predicting ${quoted(decisions[i])} when it was ${quoted(labels[j])}`;
      found[i][j] = read(input, name, () => true, problems);
    }
    return found;
  }

  /** Return the frequencies of the classes, or null where they are those of the examples. */
  function readShares(problems) {
    const input = byId("prevalence");
    if (input === null || input.value === input.defaultValue) {
      input?.removeAttribute("aria-invalid");
      return null;
    }
    const share = read(input, "Prevalence", (value) => value > 0 && value < 100, problems) / 100;
    return positive === 1 ? [1 - share, share] : [share, 1 - share];
  }

  /** Return the number of decisions, null where none is given. */
  function readVolume(problems) {
    if (volume.value.trim() === "") {
      volume.removeAttribute("aria-invalid");
      return null;
    }
    return read(volume, "Decisions", (value) => value > 0, problems);
  }

  function readThresholds(problems) {
    if (byId("thresholds")?.value !== "hand") return [];
    return byHand
      .filter((input) => input.value.trim() !== "")
      .map((input) => ({
        place: Number(input.dataset.curve),
        value: read(input, "Threshold", () => true, problems),
      }));
  }

  function readState() {
    const problems = [];
    const state = {
      costs: readCosts(problems),
      shares: readShares(problems),
      volume: readVolume(problems),
      hand: readThresholds(problems),
      thresholds: byId("thresholds")?.value ?? "best",
      baseline: editable && byId("baseline").value !== "" ? Number(byId("baseline").value) : null,
    };
    complain("panel-problem", problems[0] ?? "");
    return problems.length ? null : state;
  }

  /** Tell whether all fields are as stated. */
  function isStated() {
    const [texts, lists] = ["input", "select"].map((kind) => [...form.querySelectorAll(kind)]);
    const first = ({ options }) => [...options].find((each) => each.defaultSelected) ?? options[0];
    return (
      [...texts, ...matrix].every((each) => each.value === each.defaultValue) &&
      lists.every((each) => each.value === first(each).value)
    );
  }

  // ---- computing

  /** Return what the page shows at some assumptions. */
  function computed({ costs: values, shares, hand, thresholds, baseline, volume: decisions }) {
    const { tables } = other;
    const kept = thresholds === "best" ? tables : tables.filter(({ factor }) => factor === 1);
    const given = { ...other, tables: kept, baseline };
    const byHand = hand.length > 0;
    const found = live.policiesAt(given, findings.costs, values, settings.confidence, shares, !byHand);
    for (const { place, value } of hand) setByHand(found.policies, place, value, values, shares);
    const judged = answer.verdictOf(found, baseline !== null);
    const rates = sections.ratesOf(judged.best.counts, shares);
    return { ...found, verdict: judged, costs: values, shares, volume: decisions, rates };
  }

  function setByHand(policies, place, value, values, shares) {
    const { name } = curves.models[place];
    const policy = policies.find(({ model, kind }) => model === name && kind === "threshold");
    if (policy === undefined) return;
    const { counts } = sections.atThreshold(place, value);
    Object.assign(policy, { counts, cuts: [value], same: false, ...sections.judged(counts, values, shares) });
    policy.name = `${name}@${number(value)}`;
  }

  // ---- showing

  const regions = ["verdict", "lead", "facts", "policies", "matrices", "threshold-table", "pairs-table"]
    .map(byId)
    .concat([document.querySelector("[data-best]")])
    .filter((element) => element !== null);
  const original = regions.map((element) => [...element.childNodes].map((node) => node.cloneNode(true)));

  function restore() {
    regions.forEach((element, i) => {
      element.replaceChildren(...original[i].map((node) => node.cloneNode(true)));
    });
    sections.drawStated();
    sections.drawCurves(asStated());
  }

  /** Return the stated result, as far as the charts need it. */
  function asStated() {
    const counts = (name) => {
      const { names, decided, actual, counts: all } = findings.joint;
      const column = names.indexOf(name); // a row is a list of positions, or a text of digits
      const table = data.decisions.map(() => data.labels.map(() => 0));
      if (column >= 0) all.forEach((count, i) => (table[decided[i][column]][actual[i]] += count));
      return table;
    };
    const policies = findings.policies
      .filter(({ name, kind }) => kind !== "constant" && findings.joint.names.includes(name))
      .map((each) => ({ ...each, cuts: each.cuts.map((cut) => asNumber(cut.from)), counts: counts(each.name) }));
    const base = policies.find(({ name }) => name === verdict.baseline) ?? { kind: "constant" };
    return { policies, base, costs, shares: settings.class_priors };
  }

  function noteOf({ rechosen, factor, at, verdict: { tested } }, { thresholds }) {
    const notes = [];
    if (policiesDecided()) notes.push("Columns of decisions stay as they were decided.");
    if (thresholds === "best" && other.ratio !== null) {
      const exact = other.tables[at].factor === factor;
      if (rechosen) {
        notes.push(`Thresholds are chosen again${exact ? "" : ` for the nearest of ${other.tables.length} ratios of costs`}.`);
      } else notes.push("Thresholds stay as they are.");
    }
    if (!tested) notes.push("Differences are not tested.");
    return notes.join(" ");
  }

  const policiesDecided = () => other.policies.some(({ kind }) => kind === "decisions");

  /** Scale the stated saving to another number of decisions; nothing else depends on it. */
  function rescaled(decisions) {
    const { use, baseline, saving, sentences } = verdict;
    if (use === baseline || !(saving.shown || saving.per_decision < 0)) return;
    const words = (wanted) => findings.policies.find(({ name }) => name === wanted).words;
    const given = { ...saving, each: saving.per_decision };
    answer.tell(answer.withSaving(sentences, words(use), given, words(baseline), decisions));
  }

  function update() {
    const state = readState();
    document.body.dataset.state = "invalid";
    byId("reset-all").disabled = false;
    if (state === null) return;
    const same = isStated();
    byId("reset-all").disabled = same;
    const other = !same && editable && !onlyVolume(state);
    restore();
    if (other) {
      const result = computed(state);
      answer.fill(result, stated);
      sections.fill(result, stated);
      byId("panel-note").textContent = noteOf(result, state);
    } else if (!same) rescaled(state.volume);
    reachTables();
    byId("panel-state").textContent = same ? "As stated" : "Changed by you";
    if (editable) {
      byId("panel-note").hidden = !other;
      if (!other) byId("panel-note").textContent = "";
    }
    document.body.dataset.state = same ? "stated" : other ? "edited" : "rescaled";
  }

  /** Tell whether nothing but the number of decisions differs from what is stated. */
  function onlyVolume() {
    const [kept, now] = [volume.value, volume.defaultValue];
    volume.value = now;
    const found = isStated();
    volume.value = kept;
    return found;
  }

  // ---- events

  let waiting = 0;
  function changed() {
    document.body.dataset.state = "waiting";
    clearTimeout(waiting);
    waiting = setTimeout(update, PAUSE);
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", changed);
  for (const each of [...matrix, ...byHand]) each.addEventListener("input", changed);
  form.addEventListener("reset", () => {
    clearTimeout(waiting);
    for (const each of [...matrix, ...byHand]) each.value = each.defaultValue;
    closeDrawers();
    setTimeout(update); // once the form has its values back
  });

  function closeDrawers() {
    for (const id of ["cost-drawer", "threshold-drawer"]) if (byId(id) !== null) byId(id).hidden = true;
    byId("edit-costs")?.setAttribute("aria-expanded", "false");
  }

  byId("edit-costs")?.addEventListener("click", () => {
    const drawer = byId("cost-drawer");
    drawer.hidden = !drawer.hidden;
    byId("edit-costs").setAttribute("aria-expanded", String(!drawer.hidden));
  });
  byId("thresholds")?.addEventListener("input", ({ target }) => {
    const drawer = byId("threshold-drawer");
    if (drawer === null) return;
    drawer.hidden = target.value !== "hand";
    if (target.value !== "hand") return;
    for (const input of byHand) {
      const { name, choice } = curves.models[Number(input.dataset.curve)];
      const policy = findings.policies.find(({ model, kind }) => model === name && kind === "threshold");
      input.value = number(policy?.threshold ?? asNumber(choice?.threshold ?? 0.5));
    }
  });

  sections.drawStated();
  sections.drawCurves(asStated());
  document.body.dataset.state = "stated";
})();
