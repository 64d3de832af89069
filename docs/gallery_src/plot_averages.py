"""
Average cost curves, not ROC curves
===================================

Two evaluations of a model gave the points (0.04, 0.4) and (0.3, 0.8) of ROC space. What performance
should one expect? There are several ways to average ROC curves, and none gives the average
performance (Figures 9 and 10 of Holte & Drummond 2005).
"""

import matplotlib.pyplot as plt

from stakes import CostLine
from stakes.curves import average_curves, best_of, isoperformance_line, roc_average, roc_hull
from stakes.show import CostCurveDisplay

evaluations = [CostLine(0.04, 0.4, name="first"), CostLine(0.3, 0.8, name="second")]
directions = ("vertical", "horizontal")
averages = {each: roc_average(evaluations, each) for each in directions}

# %%
# In ROC space, the same line of equal cost goes through both points. So both cost the same at its
# operating condition, and their average should, too. But both averages lie well below it.

(condition,) = evaluations[0].crossovers(evaluations[1])
cost = evaluations[0].cost(condition)
slope, intercept = isoperformance_line(condition, cost)

figure_9, ax = plt.subplots(figsize=(5.4, 5), layout="constrained")
looks = {"vertical": ("#009e73", "--"), "horizontal": ("#cc79a7", "-.")}
for line, text in zip(evaluations, ("the two evaluations", None), strict=True):
    hull = roc_hull(line)
    ax.plot(hull.fpr, hull.tpr, color="black", marker="o", clip_on=False, label=text)
for direction, (colour, style) in looks.items():
    points = averages[direction]
    ax.plot(points.fpr, points.tpr, color=colour, linestyle=style, label=f"{direction} average")
ax.axline((0, intercept), slope=slope, color="0.4", linewidth=1, linestyle=":")
ax.text(0.02, 0.8, f"equal cost at\nPC(+) = {condition:.2f}", color="0.4")
ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="false positive rate", ylabel="true positive rate")
ax.set(box_aspect=1, title="ROC space")
legend = ax.legend(loc="lower right", frameon=False)

# %%
# In cost space there is only one average: that of the costs, at each operating condition. Outside
# its operating range a model is not used, so each curve here is the cheapest of the model and the
# two constant predictions. The averages of ROC space, as cost curves, lie above it, and nowhere
# below: they are too pessimistic.

figure_10, ax = plt.subplots(figsize=(6.4, 5), layout="constrained")
curves = [best_of([line], name=line.name) for line in evaluations]
for curve, text in zip(curves, ("the two evaluations", "_"), strict=True):
    look = {"color": "black", "linestyle": "-", "linewidth": 1}
    CostCurveDisplay.from_curve(curve, ax=ax, name=text, legend=False, curve_kwargs=look)
average = average_curves(curves, name="average of the costs")
CostCurveDisplay.from_curve(
    average, ax=ax, legend=False, curve_kwargs={"color": "#0072b2", "linestyle": "-"}
)
for direction, (colour, style) in looks.items():
    corners = roc_average(evaluations, direction, steps=2)
    lines = [CostLine(fpr, tpr) for fpr, tpr in zip(corners.fpr, corners.tpr, strict=True)]
    CostCurveDisplay.from_curve(
        best_of(lines),
        ax=ax,
        name=f"{direction} average of ROC curves",
        legend=False,
        curve_kwargs={"color": colour, "linestyle": style},
    )
ax.legend(loc="upper left", frameon=False, fontsize="small")
ax.set(ylim=(0, 0.62), title="cost space")

print(f"At PC(+) = {condition:.3f} both evaluations cost {cost:.3f},")
print(f"and so does the average of the costs: {average.cost(condition):.3f}.")
