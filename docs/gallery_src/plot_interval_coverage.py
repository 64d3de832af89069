"""
Coverage of the interval methods
================================

A 95% interval should contain the true expected cost 95 times out of 100, whatever the truth is.
Here all interval methods are tried on three problems with a test set of 1000 examples:

* *plenty*: an ordinary problem, with about fifty misses at a cost of 5 and a hundred false alarms
  at a cost of 1;
* *rare*: the costliest mistake costs 1000 and is expected 1.3 times in the test set, false alarms
  cost 1;
* *fraud*: two positives in a thousand, a recall of 40%, 1% false alarms, and a miss costs 100
  times as much as a false alarm.
"""

import numpy as np
from scipy.stats import multinomial

from stakes import CostMatrix
from stakes.infer import batch_intervals

N = 1000
problems = {
    "plenty": ((1, 5), [[0.55, 0.05], [0.10, 0.30]]),
    "rare": ((1, 1000), [[0.9 - 0.0013, 0.0013], [0.05, 0.05]]),
    "fraud": ((1, 100), [[0.998 * 0.99, 0.002 * 0.6], [0.998 * 0.01, 0.002 * 0.4]]),
}
methods = {
    "extremal": ({}, 4000),
    "conservative": ({"conservative": True}, 4000),
    "guaranteed": ({"method": "guaranteed"}, 4000),
    "anytime": ({"method": "anytime"}, 4000),
    "exact": ({"method": "exact"}, 1000),
    'exact, "auto"': ({"method": "exact", "laplace": "auto"}, 1000),
    "bcost": ({"method": "bcost", "rng": 0}, 4000),
    "bca": ({"method": "bca"}, 1000),
    "dirichlet": ({"method": "dirichlet"}, 4000),
    "likelihood": ({"method": "likelihood"}, 4000),
    "normal": ({"method": "normal"}, 4000),
    "t": ({"method": "t"}, 4000),
}


def contained(tables, costs, truth, options):
    """Return the share of the tables whose interval contains the truth."""
    same = tables.copy()  # both kinds of correct decision cost nothing: count them together
    same[:, 0, 0], same[:, 1, 1] = tables[:, 0, 0] + tables[:, 1, 1], 0
    different, repeats = np.unique(same, axis=0, return_counts=True)
    low, high = batch_intervals(different, costs, **options)
    slack = 1e-9 * costs.values.max()
    return repeats @ ((low <= truth + slack) & (truth - slack <= high)) / len(tables)


print(f"{'coverage in %':14}", *(f"{name:>12}" for name in problems))
for name, (options, trials) in methods.items():
    cells = []
    for (alarm, miss), probabilities in problems.values():
        costs = CostMatrix.from_errors(false_positive=alarm, false_negative=miss)
        truth = float((np.array(probabilities) * costs.values).sum())
        rng = np.random.default_rng(0)
        tables = rng.multinomial(N, np.ravel(probabilities), trials).reshape(-1, 2, 2)
        share = contained(tables, costs, truth, options)
        error = np.sqrt(share * (1 - share) / trials)
        cells.append(f"{100 * share:.1f} ± {100 * error:.1f}")
    print(f"{name:14}", *(f"{cell:>12}" for cell in cells))

# %%
# One problem shows a method at only one point. So let the costliest mistake (1000 against 1) become
# rarer and rarer. This needs no simulation: the test sets that can occur are listed with their
# probabilities (false alarms, which hardly matter here, in steps of six), and a table's interval is
# the same whatever the truth is.

costs = CostMatrix.from_errors(false_positive=1, false_negative=1000)
misses, alarms = (grid.ravel() for grid in np.mgrid[0:31, 26:75:6])
tables = np.zeros((len(misses), 2, 2), dtype=int)
tables[:, 0, 1], tables[:, 1, 0], tables[:, 1, 1] = misses, alarms, 50
tables[:, 0, 0] = N - tables.sum(axis=(1, 2))
expected = np.geomspace(0.1, 10, 200)


def coverage(options):
    """Return the coverage for each expected number of the costliest mistake."""
    low, high = batch_intervals(tables, costs, **options)
    shares = []
    for mean in expected:
        truth = (1000 * mean + 1 * 50) / N
        probabilities = [1 - mean / N - 0.05, mean / N, 0.05]
        outcomes = np.column_stack([N - misses - alarms, misses, alarms])
        weight = multinomial.pmf(outcomes, N, probabilities)
        shares.append(weight @ ((low <= truth) & (truth <= high)) / weight.sum())
    return np.array(shares)


curves = {name: coverage(options) for name, (options, _) in methods.items() if name != "bcost"}
print("lowest coverage in %")
for name, curve in curves.items():
    print(f"{name:14} {100 * curve.min():5.1f}  at {expected[curve.argmin()]:.2f} expected")

# %%
# The chart shows three of them. "Exact" is BCOST in the limit of infinitely many resamples. Its
# Laplace correction allows for one mistake if none was observed. That is enough while fewer than
# one is expected, and too little from there on.

import matplotlib.pyplot as plt

fig, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.axhline(95, color="black", linewidth=0.8, linestyle=":", label="nominal 95%")
styles = {"extremal": ("#0072b2", "-"), "exact": ("#d55e00", "--"), "normal": ("#009e73", "-.")}
texts = {"extremal": "extremal (the default)", "exact": "exact (BCOST's limit)", "normal": "normal"}
for name, (colour, line) in styles.items():
    axes.plot(expected, 100 * curves[name], color=colour, linestyle=line, label=texts[name])
axes.set(
    xscale="log",
    xlabel="expected number of the costliest mistake in the test set (n·p)",
    ylabel="coverage (%)",
    ylim=(0, 102),
    title="coverage of nominal 95% intervals",
)
axes.set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
axes.minorticks_off()
axes.grid(alpha=0.3)
axes.legend(loc="lower right", frameon=False)
