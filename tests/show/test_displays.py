import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from stakes import (
    Accumulator,
    CostCurve,
    CostCurveDifference,
    CostLine,
    CostMatrix,
    CostRanges,
    DecisionCurve,
    ExampleCosts,
    PairedAccumulator,
    PairedConfusion,
    ScoreCounts,
    cost_sensitivity,
    evaluate,
)
from stakes.curves import (
    average_curves,
    best_of,
    cost_ratio,
    isoperformance_line,
    prevalence_at,
    roc_hull,
    roc_points,
)
from stakes.errors import InputError, InputTypeError, LabelError, MissingExtraError
from stakes.infer import CostSensitivity
from stakes.show import (
    CostCurveDisplay,
    CostDifferenceDisplay,
    CostIntervalDisplay,
    CostSensitivityDisplay,
    DecisionCurveDisplay,
    RocCostDisplay,
    RunningCostDisplay,
    report,
)
from stakes.show._drawing import COLOURS, GREYS_FROM, line_look

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

OPTIMISTIC = "thresholds chosen on the same examples: optimistic"
HONEST = "thresholds chosen on validation examples"

rng = np.random.default_rng(0)
Y_TRUE = (rng.random(400) < 0.3).astype(int)
SHARP, DULL = (Y_TRUE + rng.normal(0, scale, 400) for scale in (0.4, 0.7))


@pytest.fixture(autouse=True)
def _close_figures():
    before = dict(plt.rcParams)
    yield
    assert dict(plt.rcParams) == before  # displays do not change the settings
    plt.close("all")


def curve(scores=SHARP, name="sharp"):
    return CostCurve.from_scores(Y_TRUE, scores, name=name)


def curves_on(ax):
    return [line for line in ax.get_lines() if getattr(line, "stakes", None) is not None]


def entries(ax):
    legend = ax.get_legend()
    return legend.get_title().get_text(), [text.get_text() for text in legend.get_texts()]


# The cost curve


def test_a_display_holds_what_it_draws():
    made = curve()
    display = CostCurveDisplay.from_curve(made, confidence=0.9, simultaneous=True)
    assert display.curve is made
    assert display.band == made.band(0.9, simultaneous=True)
    (line,) = [each for each in curves_on(display.ax_) if each.stakes.kind == "curve"]
    x, y = line.get_data()
    assert np.allclose(y, made.cost(x), atol=1e-15)
    assert set(made.pieces.breaks) <= set(x)
    frame = display.to_frame()
    assert list(frame) == ["pc", "cost", "low", "high", "threshold"]
    assert np.array_equal(frame["low"], display.band.low)
    assert np.array_equal(frame["cost"], made.cost(frame["pc"].to_numpy()))


def test_without_a_band_the_frame_has_no_limits():
    frame = CostCurveDisplay(CostLine(0.2, 0.9)).to_frame()
    assert list(frame) == ["pc", "cost"]
    assert len(frame) == 201


def test_scores_estimators_and_curves_draw_the_same():
    examples, y = make_classification(300, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(examples, y)
    proba = model.predict_proba(examples)[:, 1]
    by_estimator = CostCurveDisplay.from_estimator(model, examples, y)
    by_scores = CostCurveDisplay.from_scores(y, proba, name="LogisticRegression")
    assert by_estimator.to_frame().equals(by_scores.to_frame())
    assert entries(by_estimator.ax_) == entries(by_scores.ax_)
    assert by_estimator.curve == CostCurve.from_scores(y, proba, name="LogisticRegression")


def test_the_positive_class_of_an_estimator_can_be_chosen():
    examples, codes = make_classification(300, random_state=0)
    y = np.array(["bad", "good"])[codes]
    for model in (
        LogisticRegression().fit(examples, y),
        LinearSVC(random_state=0).fit(examples, y),
    ):
        good = CostCurveDisplay.from_estimator(model, examples, y)
        bad = CostCurveDisplay.from_estimator(model, examples, y, pos_label="bad", name="model")
        assert good.curve.counts.pos_label == "good"
        assert good.curve.name == type(model).__name__
        assert (bad.curve.counts.pos_label, bad.curve.name) == ("bad", "model")
        pc = np.linspace(0, 1, 11)
        assert np.allclose(good.curve.cost(pc), bad.curve.cost(1 - pc))
    decisions = CostCurveDisplay.from_estimator(
        model, examples, y, response_method="decision_function"
    )
    assert np.isin(decisions.curve.counts.thresholds, model.decision_function(examples)).all()


def test_estimators_that_cannot_be_drawn():
    examples, y = make_classification(90, n_informative=4, n_classes=3, random_state=0)
    with pytest.raises(InputError, match="one_versus_rest"):
        CostCurveDisplay.from_estimator(DecisionTreeClassifier().fit(examples, y), examples, y)
    two = y > 0
    with pytest.raises(InputTypeError, match=r"has no predict_proba.*CostLine\.from_labels"):
        CostCurveDisplay.from_estimator(
            RidgeClassifier().fit(examples, two), examples, two, response_method="predict_proba"
        )
    with pytest.raises(InputTypeError, match="no classes_"):
        CostCurveDisplay.from_estimator(StandardScaler().fit(examples), examples, two)
    with pytest.raises(LabelError, match="pos_label"):
        CostCurveDisplay.from_estimator(
            DecisionTreeClassifier().fit(examples, two), examples, two, pos_label="yes"
        )
    with pytest.raises(InputError, match="response_method"):
        CostCurveDisplay.from_estimator(
            DecisionTreeClassifier().fit(examples, two), examples, two, response_method="predict"
        )
    with pytest.raises(NotFittedError):
        CostCurveDisplay.from_estimator(DecisionTreeClassifier(), examples, two)


@pytest.mark.parametrize("layout", ["constrained", None])
def test_several_displays_share_axes(layout):
    _, ax = plt.subplots(layout=layout)
    for name, scores in {"sharp": SHARP, "dull": DULL}.items():
        display = CostCurveDisplay.from_scores(Y_TRUE, scores, name=name, ax=ax)
        assert display.ax_ is ax
        assert display.figure_ is ax.figure
    drawn = [line for line in curves_on(ax) if line.stakes.kind == "curve"]
    assert len({line.get_color() for line in drawn}) == len(
        {line.get_linestyle() for line in drawn}
    )
    assert len(drawn) == 2
    assert len([line for line in curves_on(ax) if line.stakes.kind == "constants"]) == 1
    title, labels = entries(ax)
    assert (title, labels) == (OPTIMISTIC, ["sharp", "dull", "95% band (pointwise, mover)"])
    ax.figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    for line in ax.get_lines():
        assert not any(box.contains(*point) for point in ax.transData.transform(line.get_xydata()))
    assert box.y0 >= 0
    assert box.y1 <= ax.figure.bbox.height


def test_the_legend_says_where_thresholds_were_chosen():
    validation = ScoreCounts.from_scores(Y_TRUE[200:], SHARP[200:])
    hindsight = CostCurve.from_scores(Y_TRUE[:200], SHARP[:200], name="hindsight")
    honest = CostCurve.from_scores(Y_TRUE[:200], SHARP[:200], name="honest").select(validation)
    hard = CostLine(0.1, 0.8, name="hard")
    assert entries(CostCurveDisplay.from_curve(honest).ax_)[0] == HONEST
    assert entries(CostCurveDisplay.from_curve(hard).ax_) == ("", ["hard"])
    best = CostCurveDisplay.from_curve(best_of([hard, hindsight]))
    assert entries(best.ax_)[0] == "classifiers chosen on the same examples: optimistic"
    _, ax = plt.subplots()
    for each in (hindsight, honest, hard):
        CostCurveDisplay.from_curve(each, ax=ax, confidence=None)
    title, labels = entries(ax)
    assert title == ""
    assert labels == [f"hindsight ({OPTIMISTIC})", f"honest ({HONEST})", "hard"]


def test_all_kinds_of_curves_can_be_drawn():
    line = CostLine(0.1, 0.7, positives=20, negatives=30)
    unsized = CostLine(0.3, 0.9)
    for each in (line, curve(), average_curves([line, curve()])):
        assert CostCurveDisplay.from_curve(each, lines=True).band is not None
    for each in (unsized, best_of([line, curve()]), average_curves([line, unsized])):
        assert CostCurveDisplay.from_curve(each, lines=True, operating_range=True).band is None


def test_a_jump_of_a_curve_is_drawn_at_both_ends():
    chosen = curve().select(ScoreCounts.from_scores([0, 1, 0, 1], [0.1, 0.9, 0.5, 0.4]))
    (line,) = [
        each
        for each in curves_on(CostCurveDisplay.from_curve(chosen).ax_)
        if each.stakes.kind == "curve"
    ]
    x, y = line.get_data()
    assert any((np.diff(x) == 0) & (np.abs(np.diff(y)) > 0.01))


def test_plotting_twice_gives_the_same_and_changes_nothing():
    made = curve()
    display = CostCurveDisplay(made, made.band())
    before = display.to_frame()
    pictures = []
    for _ in range(2):
        figure = display.plot(lines=True, operating_range=True).figure_
        figure.canvas.draw()
        pictures.append(np.asarray(figure.canvas.buffer_rgba()))
    assert np.array_equal(*pictures)
    assert display.to_frame().equals(before)


def test_the_operating_range_is_named_and_shaded():
    line = CostLine(0.1, 0.7, name="tree")
    ax = CostCurveDisplay.from_curve(line, operating_range=True).ax_
    assert entries(ax)[1] == ["tree", "operating range of tree: 0.125 to 0.75"]
    (shaded,) = [each for each in ax.collections if "operating" in each.get_label()]
    x = np.concatenate([path.vertices[:, 0] for path in shaded.get_paths()])
    assert (x.min(), x.max()) == pytest.approx(line.operating_range()[0])
    useless = CostLine(0.5, 0.5, name="coin")
    ax = CostCurveDisplay.from_curve(useless, operating_range=True).ax_
    assert "operating range of coin: none" in entries(ax)[1]


def test_at_most_a_hundred_lines_are_drawn():
    made = CostCurve.from_scores(Y_TRUE, SHARP)
    assert len(roc_points(made).fpr) > 100
    ax = CostCurveDisplay.from_curve(made, confidence=None, lines=True).ax_
    (lines,) = ax.collections
    assert len(lines.get_segments()) == 100
    assert ax.get_ylim()[1] < 0.6


def test_the_axes_are_high_enough_for_every_curve():
    _, ax = plt.subplots(layout="constrained")
    CostCurveDisplay.from_curve(CostLine(0.8, 0.9), ax=ax)
    CostCurveDisplay.from_curve(CostLine(0.1, 0.9), ax=ax)
    assert ax.get_ylim() == (0, pytest.approx(0.8, abs=0.05))


def ticks_of(ax):
    (top,) = ax.child_axes
    labels = [text.get_text() for text in top.get_xticklabels()]
    return dict(zip(labels, top.get_xticks().tolist(), strict=True)), top.get_xlabel()


def test_the_second_axis_shows_prevalences():
    costs = {"false_positive": 2, "false_negative": 40}
    made = CostLine(0.1, 0.9)
    ax = CostCurveDisplay.from_curve(made, second_axis="prevalence", **costs).ax_
    ticks, title = ticks_of(ax)
    assert title == "prevalence, where a miss costs 40 and a false alarm 2"
    assert (ticks["0%"], ticks["100%"]) == (0, 1)
    for label, place in ticks.items():
        assert prevalence_at(place, **costs) == pytest.approx(float(label[:-1]) / 100)
    assert min(np.diff(sorted(ticks.values()))) > 0.07
    CostCurveDisplay(made).plot(ax, second_axis="cost_ratio", prevalence=0.1)  # replaces the axis
    assert ticks_of(ax)[1].startswith("cost of a miss")


def test_the_second_axis_shows_cost_ratios():
    ax = CostCurveDisplay.from_curve(
        CostLine(0.1, 0.9), second_axis="cost_ratio", prevalence=0.4
    ).ax_
    ticks, title = ticks_of(ax)
    assert title == "cost of a miss, in false alarms, at a prevalence of 40%"
    assert (ticks.pop("0"), ticks.pop("∞")) == (0, 1)
    assert {"1/2", "1", "2", "10"} <= set(ticks)
    for label, place in ticks.items():
        top, _, bottom = label.partition("/")
        assert cost_ratio(place, prevalence=0.4) == pytest.approx(float(top) / float(bottom or 1))


@pytest.mark.parametrize(
    "options",
    [
        {"second_axis": "prevalence"},
        {"second_axis": "prevalence", "false_positive": 1},
        {"second_axis": "cost_ratio", "false_positive": 1, "false_negative": 2},
        {"prevalence": 0.1},
    ],
)
def test_a_second_axis_needs_what_it_is_for(options):
    with pytest.raises(InputTypeError, match="second_axis"):
        CostCurveDisplay(CostLine(0.1, 0.9)).plot(**options)
    assert not plt.get_fignums()


def test_other_wrong_arguments():
    display = CostCurveDisplay(CostLine(0.1, 0.9))
    for options, match in (
        ({"second_axis": "money"}, "second_axis"),
        ({"second_axis": "cost_ratio", "prevalence": 1}, "prevalence"),
        ({"second_axis": "prevalence", "false_positive": 0, "false_negative": 1}, "false_pos"),
        ({"curve_kwargs": "red"}, "curve_kwargs"),
    ):
        with pytest.raises((InputError, InputTypeError), match=match):
            display.plot(**options)
    with pytest.raises(InputTypeError, match="curves"):
        CostCurveDisplay([0.1, 0.2])
    with pytest.raises(InputTypeError, match="band"):
        CostCurveDisplay(CostLine(0.1, 0.9), band=[0.1])


def test_the_look_of_a_curve_can_be_told():
    display = CostCurveDisplay.from_curve(
        CostLine(0.1, 0.9), curve_kwargs={"c": "red", "lw": 5, "ls": ":"}, legend=False, name="x"
    )
    line = curves_on(display.ax_)[0]
    assert (line.get_color(), line.get_linewidth(), line.get_linestyle()) == ("red", 5, ":")
    assert line.get_label() == "x"
    assert display.ax_.get_legend() is None


# The difference


def difference():
    return CostCurveDifference.from_scores(Y_TRUE, SHARP, DULL, names=("sharp", "dull"))


def test_a_difference_is_drawn_with_its_verdicts():
    made = difference()
    display = CostDifferenceDisplay.from_difference(made, confidence=0.9)
    assert display.band == made.band(0.9, simultaneous=True)
    assert display.verdicts == made.significant_ranges(0.9)
    ax = display.ax_
    (line,) = curves_on(ax)
    x, y = line.get_data()
    assert np.allclose(y, made.difference(x), atol=1e-15)
    shaded = [(each.get_x(), each.get_x() + each.get_width()) for each in ax.patches]
    assert shaded == [pytest.approx(each) for each in display.verdicts.where("sharp")]
    assert ax.get_title().replace("\n", " ") + "." == display.verdicts.in_words()
    texts = {text.get_text(): text.get_position()[1] for text in ax.texts}
    zero = ax.transAxes.inverted().transform(ax.transData.transform((0, 0)))[1]
    assert 0 < texts["▼ sharp cheaper"] < zero < texts["▲ dull cheaper"] < 1
    title, labels = entries(ax)
    assert title == OPTIMISTIC
    assert labels == [
        "sharp minus dull",
        "sharp cheaper (90% confidence for all PC(+) at once)",
        "90% band (simultaneous, mover)",
    ]


def test_the_frame_of_a_difference_says_who_is_cheaper():
    display = CostDifferenceDisplay.from_scores(Y_TRUE, SHARP, DULL, names=("sharp", "dull"))
    frame = display.to_frame()
    assert list(frame) == ["pc", "difference", "low", "high", "cheaper"]
    inside = frame[(frame["pc"] > 0) & (frame["pc"] < 1)]
    assert ((inside["high"] < 0) == (inside["cheaper"] == "sharp")).all()
    assert set(frame["cheaper"]) == {"sharp", "undecided"}
    assert list(CostDifferenceDisplay(difference()).to_frame()) == ["pc", "difference"]


def test_estimators_are_compared():
    examples, y = make_classification(300, random_state=0)
    logistic, tree = (
        LogisticRegression().fit(examples, y),
        DecisionTreeClassifier(max_depth=2).fit(examples, y),
    )
    display = CostDifferenceDisplay.from_estimators(logistic, tree, examples, y)
    assert display.difference.names == ("LogisticRegression", "DecisionTreeClassifier")
    same = CostDifferenceDisplay.from_estimators(tree, tree, examples, y)
    assert same.difference.names == ("DecisionTreeClassifier (1)", "DecisionTreeClassifier (2)")
    assert same.ax_.get_title().endswith("undecided everywhere")
    low, high = same.ax_.get_ylim()
    assert low < 0 < high


def test_decisions_are_compared_with_both_curves():
    paired = PairedConfusion([[[60, 2], [3, 5]], [[9, 1], [8, 12]]], labels=[0, 1])
    made = CostCurveDifference(paired, names=("a", "b"))
    ax = CostDifferenceDisplay.from_difference(
        made, curves=True, second_axis="cost_ratio", prevalence=0.2
    ).ax_
    assert {"cost of a", "cost of b"} <= set(entries(ax)[1])
    assert entries(ax)[0] == ""
    assert ax.child_axes
    bare = CostDifferenceDisplay(made).plot(legend=False).ax_
    assert not bare.patches
    assert not bare.collections


def test_what_is_no_difference_is_refused():
    for wrong in ((curve(),), (difference(), 1), (difference(), None, "sharp")):
        with pytest.raises(InputTypeError):
            CostDifferenceDisplay(*wrong)
    with pytest.raises(InputTypeError):
        CostDifferenceDisplay.from_difference(curve())


# Intervals

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=5)
DECISIONS = {name: (s > 0.4).astype(int) for name, s in (("dull", DULL), ("sharp", SHARP))}


def test_intervals_stand_in_the_order_of_their_costs():
    display = CostIntervalDisplay.from_labels(Y_TRUE, DECISIONS, COSTS, unit="USD", confidence=0.9)
    estimates = {name: evaluate(Y_TRUE, y_pred, COSTS) for name, y_pred in DECISIONS.items()}
    assert display.names == ("sharp", "dull")
    assert display.costs.tolist() == [estimates[name].cost for name in display.names]
    assert list(display.intervals) == [estimates[name].interval(0.9) for name in display.names]
    frame = display.to_frame()
    assert frame["low"].tolist() == [each.low for each in display.intervals]
    ax = display.ax_
    assert [text.get_text() for text in ax.get_yticklabels()] == ["sharp", "dull"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first is on top
    assert ax.get_xlabel() == "cost per decision (USD), with 90% intervals (extremal)"
    assert any(text.get_text().startswith("always 1: ") for text in ax.texts)
    other = CostIntervalDisplay.from_estimates(estimates, unit="EUR", ax=plt.subplots()[1])
    assert "EUR" in other.ax_.get_xlabel()
    bare = other.plot(values=False, constants=False).ax_
    assert not bare.texts


def test_costs_of_single_examples_have_no_constant_prediction():
    costs = ExampleCosts([[0, 5], [7, 5]], decisions=["ok", "fraud"])
    display = CostIntervalDisplay.from_labels(["ok", "fraud"], {"first": ["ok", "fraud"]}, costs)
    assert display.constant is None


def test_intervals_need_names():
    for wrong in ({}, [1]):
        with pytest.raises((InputError, InputTypeError), match=r"names|mapping"):
            CostIntervalDisplay.from_estimates(wrong)
    with pytest.raises(InputTypeError, match="mapping"):
        CostIntervalDisplay.from_labels(Y_TRUE, [Y_TRUE], COSTS)


# Sensitivity


def three_classes():
    y_true = ["a"] * 50 + ["b"] * 30 + ["c"] * 20
    predictions = {
        "left": ["a"] * 60 + ["b"] * 20 + ["c"] * 20,
        "right": ["a"] * 50 + ["b"] * 20 + ["c"] * 30,
    }
    mild, harsh = (
        CostMatrix([[0, miss, 2], [1, 0, 1], [1, 3, 0]], rows="predicted", labels=[*"abc"])
        for miss in (1, 9)
    )
    return y_true, predictions, mild, harsh


def test_a_path_of_costs_is_drawn():
    y_true, predictions, mild, harsh = three_classes()
    found = cost_sensitivity(y_true, predictions, mild, harsh, steps=5)
    display = CostSensitivityDisplay.from_labels(
        y_true, predictions, mild, harsh, steps=5, unit="USD"
    )
    assert display.sensitivity == found
    assert display.to_frame().equals(found.to_frame())
    for i, name in enumerate(found.names):
        assert np.array_equal(display.ax_.get_lines()[i].get_ydata(), found.cost[i])
        assert display.ax_.get_lines()[i].get_label() == name
    assert display.ax_.get_ylabel() == "cost per decision (USD)"
    assert display.ax_.get_xlabel() == found.axis
    assert display.ax_.get_xscale() == "linear"
    assert entries(display.ax_)[1] == ["left", "right"]


def test_ranges_of_costs_are_drawn_by_their_ratio():
    y_true, predictions, _, _ = three_classes()
    costs = CostRanges.from_cells(
        {("a", "b"): (1, 50), ("c", "b"): (1, 3)}, labels=[*"abc"], scale="log"
    )
    _, ax = plt.subplots()
    display = CostSensitivityDisplay.from_labels(
        y_true, predictions, costs, cell=("a", "b"), steps=5, ax=ax
    )
    assert display.ax_.get_xscale() == "log"
    display.figure_.draw_without_rendering()
    labels = [text.get_text() for text in ax.get_xticklabels()]
    assert {"1", "2", "5", "10", "20", "50"} <= set(labels)


def test_gains_have_no_logarithm():
    falling = -np.geomspace(10, 1, 3)
    one = np.ones((1, 3))
    made = CostSensitivity(("a",), "gain", falling, one, one, one, 0.95, "log")
    display = CostSensitivityDisplay(made).plot(intervals=False, legend=False)
    assert display.ax_.get_xscale() == "linear"
    with pytest.raises(InputTypeError, match="sensitivity"):
        CostSensitivityDisplay(one)


# ROC and cost space


def test_points_are_lines_and_the_hull_is_the_envelope():
    made = curve()
    display = RocCostDisplay.from_curves([made], at=0.4)
    roc, cost = display.axes_
    points, hull = roc_points(made), roc_hull(made)
    frame = display.to_frame()
    assert np.array_equal(frame["left"], points.fpr)
    assert np.array_equal(frame["right"], 1 - points.tpr)
    assert frame["on_hull"].sum() == len(hull.fpr)
    drawn = roc.get_lines()
    assert np.array_equal(drawn[0].get_xydata(), np.column_stack([hull.fpr, hull.tpr]))
    assert np.array_equal(drawn[1].get_xydata(), np.column_stack([points.fpr, points.tpr]))
    envelope = cost.get_lines()[0]
    x, y = envelope.get_data()
    assert np.allclose(y, np.minimum(made.cost(x), np.minimum(x, 1 - x)))
    (touching,) = [line for line in cost.get_lines() if len(line.get_xdata()) == 1]
    pc, height = touching.get_xydata()[0]
    assert (pc, height) == (0.4, pytest.approx(made.cost(0.4)))
    slope, intercept = isoperformance_line(pc, height)
    (line,) = [each for each in roc.get_lines() if hasattr(each, "get_slope")]
    assert (line.get_slope(), line.get_xy1()) == (slope, (0, intercept))
    assert (hull.tpr <= slope * hull.fpr + intercept + 1e-12).all()


def test_hard_classifiers_are_points_and_whole_lines():
    lines = [CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8)]
    roc, cost = RocCostDisplay.from_curves(lines, hull=False).axes_
    assert [each.get_xydata().tolist() for each in roc.get_lines()[:2]] == [
        [[0.04, 0.4]],
        [[0.3, 0.8]],
    ]
    assert np.allclose(cost.get_lines()[0].get_ydata(), [0.04, 0.6])
    assert [text.get_text() for text in roc.get_legend().get_texts()] == ["shy", "classifier 2"]
    assert (roc.get_title(), cost.get_title()) == ("ROC space: points", "cost space: lines")
    frame = RocCostDisplay.from_curves([CostLine(0.5, 0.3)]).to_frame()
    assert frame["on_hull"].tolist() == [True, False, True]


def test_several_scorers_have_no_lines_unless_asked_for():
    scores = {"sharp": SHARP, "dull": DULL}
    roc, cost = RocCostDisplay.from_scores(Y_TRUE, scores, hull=False).axes_
    assert not cost.collections
    assert cost.get_ylim()[1] < 0.6
    assert roc.get_title() == "ROC space: curves"
    _, cost = RocCostDisplay.from_scores(Y_TRUE, scores, points=True).axes_
    assert len(cost.collections) == 2
    assert cost.get_ylim()[1] > 1


def test_hull_and_envelope_are_those_of_the_examples():
    made = curve()
    other = made.select(ScoreCounts.from_scores([0, 1, 0, 1], [0.1, 0.9, 0.5, 0.4]))
    one, two = (RocCostDisplay.from_curves([each]).duals[0] for each in (made, other))
    assert one.envelope == two.envelope
    assert np.array_equal(one.hull.fpr, two.hull.fpr)


def test_an_infinite_score_leaves_the_threshold_above_it():
    made = CostCurve.from_scores([0, 1, 0, 1], [np.inf, np.inf, 0, 1])
    (dual,) = RocCostDisplay.from_curves([made], at=0.3).duals
    assert dual.envelope == made.pieces
    assert dual.hull.fpr[0] == 0


def test_averages_have_no_place_in_roc_space():
    with pytest.raises(InputTypeError, match="AverageCurve"):
        RocCostDisplay.from_curves([average_curves([curve()])])
    with pytest.raises(InputError, match="upright"):
        RocCostDisplay.from_curves([curve()], at=0)
    assert not plt.get_fignums()


def test_displays_of_two_panels_can_be_drawn_on_given_axes():
    _, axes = plt.subplots(1, 2)
    display = RocCostDisplay.from_curves([curve()], axes=axes, legend=False)
    assert list(display.axes_) == list(axes)
    assert display.figure_ is axes[0].figure


# Without matplotlib


def test_without_matplotlib_a_display_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    y_true, predictions, mild, harsh = three_classes()
    found = cost_sensitivity(y_true, predictions, mild, harsh, steps=2)
    for draw in (
        CostCurveDisplay(curve()).plot,
        CostDifferenceDisplay(difference()).plot,
        CostSensitivityDisplay(found).plot,
        lambda: CostIntervalDisplay.from_labels(Y_TRUE, DECISIONS, COSTS),
        lambda: RocCostDisplay.from_curves([curve()]),
    ):
        with pytest.raises(MissingExtraError, match=r"pip install 'stakes\[plot\]'"):
            draw()
    assert len(CostCurveDisplay(curve()).to_frame()) == 201


def test_importing_the_displays_does_not_load_matplotlib():
    code = "import sys, stakes.show; print('matplotlib' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"


def test_decision_curves_share_axes():
    risks = [1 / (1 + np.exp(-4 * (each - 0.5))) for each in (SHARP, DULL)]
    curves = [
        DecisionCurve.from_scores(Y_TRUE, risk, name=name)
        for risk, name in zip(risks, ("sharp", "dull"), strict=True)
    ]
    first = DecisionCurveDisplay.from_curve(curves[0], simultaneous=True)
    second = DecisionCurveDisplay.from_curve(curves[1], ax=first.ax_, color="C3")
    labels = [text.get_text() for text in second.ax_.get_legend().get_texts()]
    assert labels == ["treat all", "treat none", "sharp", "dull"]
    line = second.ax_.get_lines()[-1]
    np.testing.assert_allclose(line.get_ydata(), curves[1].net_benefit(line.get_xdata()))
    with pytest.raises(InputTypeError, match="curve"):
        DecisionCurveDisplay.from_curve(CostLine(0.1, 0.8))


def test_running_costs_are_drawn():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    running = Accumulator(costs, unit="EUR")
    with pytest.raises(InputError, match="nothing to draw"):
        RunningCostDisplay(running).plot()
    shadow = PairedAccumulator(costs, names=("old", "new"))
    for _ in range(40):
        running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        shadow.update([0, 1] * 10, [0, 0] * 10, [0, 1] * 10)
    drawn = RunningCostDisplay(running).plot(confidence=0.9)
    assert drawn.ax_.get_ylabel() == "cost per decision so far (EUR)"
    assert drawn.ax_.get_title().startswith("90%")
    low, high = running.interval(0.9)
    bottom, top = drawn.ax_.get_ylim()
    assert bottom < low < high < top < 10
    drawn = RunningCostDisplay(shadow).plot()
    assert drawn.ax_.get_ylabel() == "cost of old minus new, so far"
    with pytest.raises(InputTypeError, match="Accumulator"):
        RunningCostDisplay(costs)


def test_the_colours_are_those_of_the_report():
    style = (Path(report.__file__).parent / "style.css").read_text(encoding="utf-8")
    light = style[: style.index("@media")]
    kept = [re.search(rf"--m{i + 1}: (#\w+);", light)[1] for i in range(GREYS_FROM)]
    assert kept == list(COLOURS[:GREYS_FROM])
    assert f"--edge: {COLOURS[GREYS_FROM]};" in light
    assert f"--m{GREYS_FROM + 1}:" not in light
    assert len({str(line_look(i)) for i in range(9)}) == 9
