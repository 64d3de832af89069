"""Rules to guess the role of a column from its name and values: classes, decisions, scores, ids."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache, cached_property

import numpy as np

from stakes._core.labels import (
    Label,
    LabelMatcher,
    Labels,
    is_blank,
    is_number,
)
from stakes.errors import InputError
from stakes.predictions.table import Table, mostly

ACTUAL_NAMES = (
    "actual",
    "y_true",
    "truth",
    "ground_truth",
    "gold",
    "true_label",
    "actual_label",
    "actual_class",
    "true_class",
    "y_test",
    "label",
    "target",
    "class",
    "outcome",
    "y",
)
"""Names of the column with the actual classes, most specific first."""

SEP = r"(?:[_. -]|(?-i:(?<=[a-z])(?=[A-Z])))"
"""Separator of the words in a name: "rf_prob", "rf prob", "rfProb"."""

TRUTH_NAMES = re.compile(
    rf"^(actuals?|gold(en)?|true|real|human|reference|expected|observed|obs|correct)"
    rf"({SEP}(label|class|outcome|value|answer|target))?$",
    re.IGNORECASE,
)
LABEL_NAMES = re.compile(rf"(^|{SEP})(label|target|truth|actual)$", re.IGNORECASE)
OUTCOME_NAMES = re.compile(
    rf"(^|{SEP})(fraud(ulent)?|default(ed)?([_. -]payment)?|"
    r"churn(ed)?|outcome|died|dead|death|surviv(ed|al)|"
    r"readmi(ssion|tted)|convert(ed)?|conversion|click(ed)?|spam|bought|purchased|cancel(l?ed)?|"
    r"attrition|malignant|diagnosis|disease|respon(se|ded)|subscribed|delinquent|fail(ed|ure)|"
    r"anomaly|attack|toxic|unsafe|harmful)"
    r"([_. -](flag|status|label|next[_. -]month|[0-9]+[dmy]))?$",
    re.IGNORECASE,
)
IS_NAMES = re.compile(rf"^(is|was|did){SEP}", re.IGNORECASE)
TELLING_NAMES = (TRUTH_NAMES, LABEL_NAMES, OUTCOME_NAMES, IS_NAMES)
"""Names of outcomes, most specific kind first.

A kind counts only if exactly one column that holds classes has such a name.
"""

ID_NAMES = re.compile(
    r"(^|[_. -])(id|ids|uuid|guid|key|index|row|rownum|hash)$|^unnamed: 0$|(?-i:[a-z](Id|ID)$)",
    re.IGNORECASE,
)
"""Names of columns with ids of rows, or of entities that rows belong to."""

GROUP_NAMES = re.compile(
    r"^(patient|subject|user|customer|client|account|person|household|group|cluster|session|study|"
    r"student|speaker|member|device|site|hospital|document|doc|merchant|card|sample|example|"
    r"question|item|case)s?([_. -]?(id|no|number|key|uuid|name))?$",
    re.IGNORECASE,
)
"""Names of columns whose equal values may mark rows that are not independent."""

MODEL_COLUMNS = re.compile(
    r"^(model|classifier|clf|algorithm|algo|estimator|learner|predictor|system|method|variant|"
    rf"prompt|provider|llm)s?({SEP}(name|id|type|version))?$",
    re.IGNORECASE,
)
"""Names of the column with the model of each row, in tables in long form."""

SCORE_WORDS = (
    r"scores?|proba?s?|probability|probabilities|p[_-]?hat|logits?|margins?|points|"
    r"decision[_. -]function|p"
)
"""Words for scores; unless the user names a column, numbers outside [0, 1] are scores only with
such a name."""

_DECISION = (
    rf"(?:y{SEP}?)?pred(?:s|ict(?:ed|ions?)?)?(?:{SEP}(?:class|label))?|y?hat|y[_-]hat|"
    rf"scored{SEP}labels?"  # as Azure calls them
)
DECISION_WORDS = rf"{_DECISION}|decisions?|decided"
MODEL_WORDS = r"model|clf|classifier"

SCORE_NAMES = re.compile(
    rf"^(?P<tail>.+?){SEP}(y_)?({SCORE_WORDS})$|"
    rf"^(y_)?(?!(?-i:p[A-Z])|p.values?$)({SCORE_WORDS}){SEP}(?P<head>.+)$",  # "pH" is no score
    re.IGNORECASE,
)
SCORE_PART = re.compile(rf"(?:^|{SEP})(?:{SCORE_WORDS})(?:{SEP}|$)", re.IGNORECASE)
BARE_SCORE = re.compile(
    rf"^({SCORE_WORDS})$|^y{SEP}(scores?|proba?|probability)$|"
    rf"^(?:y{SEP})?pred(icted|ict|iction)?{SEP}(proba?s?|probability|score)$|"
    rf"^scored{SEP}(probability|probabilities)$",
    re.IGNORECASE,
)
DECISION_AFFIX = re.compile(
    rf"^(?:{DECISION_WORDS}){SEP}|{SEP}(?:{DECISION_WORDS})$", re.IGNORECASE
)
BARE_DECISION = re.compile(rf"^(?:{DECISION_WORDS}|{MODEL_WORDS})$", re.IGNORECASE)
MODEL_AFFIX = re.compile(rf"^(?:{MODEL_WORDS}){SEP}|{SEP}(?:{MODEL_WORDS})$", re.IGNORECASE)

# Logistic regression is often called "logit", which is also a word for scores.
LOGIT_SCORES = re.compile(
    rf"^(?:(?:{_DECISION})[_. -])?(?:y_)?(?:{SCORE_WORDS})[_. -](?P<model>logits?)$", re.IGNORECASE
)
LOGIT_COLUMN = re.compile(
    rf"^(?:(?:{DECISION_WORDS}|{MODEL_WORDS})[_. -])?(?P<model>logits?)"
    rf"(?:[_. -](?:{DECISION_WORDS}|{MODEL_WORDS}))?$",
    re.IGNORECASE,
)
"""Names of decisions of that model, or of logits; only the values distinguish them."""


def looks_like_score(name: str) -> bool:
    """Tell whether a column is named like scores."""
    if LOGIT_COLUMN.match(name) and DECISION_AFFIX.search(name):
        return False
    return bool(SCORE_NAMES.match(name) or BARE_SCORE.match(name))


def looks_like_decisions(name: str) -> bool:
    """Tell whether a column is named like decisions."""
    if looks_like_score(name):
        return False
    return bool(BARE_DECISION.search(name) or DECISION_AFFIX.search(name))


def says_part(name: str) -> bool:
    """Tell whether a column is named like scores, ids, groups or models, and so has to be read."""
    kinds = (SCORE_NAMES, BARE_SCORE, ID_NAMES, GROUP_NAMES, MODEL_COLUMNS)
    return any(kind.search(name) for kind in kinds)


def says_decisions(name: str, scored: Collection[str]) -> bool:
    """Tell whether a column is named like decisions, or like a model that has scores.

    Parameters
    ----------
    name : str
        The column.
    scored : collection of str
        The plain names of the models that have scores; see `plain`.
    """
    return looks_like_decisions(name) or bool(pairing_names(name) & set(scored))


def stem(name: str) -> str:
    """Return the model's name in the name of a score column."""
    if BARE_SCORE.match(name):
        return name
    if logit := LOGIT_SCORES.match(name) or LOGIT_COLUMN.match(name):
        return logit["model"]
    match = SCORE_NAMES.match(name) or SCORE_NAMES.match(decision_stem(name))  # "pred_proba_rf"
    if match is None:
        return decision_stem(name) or name
    left = match["tail"] or match["head"]
    return decision_stem(left) or left


def decision_stem(name: str) -> str:
    """Return the model's name in the name of a column of decisions."""
    return name if BARE_DECISION.match(name) else DECISION_AFFIX.sub("", name)


def plain(name: str) -> str:
    """Return a model's name in lower-case letters and digits, without words for decisions.

    Letters of every script are kept, with their marks: names that differ in these are two models.
    """
    text = unicodedata.normalize("NFC", decision_stem(name)).casefold()
    kept = (each for each in text if each.isalnum() or unicodedata.category(each)[0] == "M")
    return "".join(kept) or text


def pairing_names(name: str) -> set[str]:
    """Return the plain names that the scores of a column's model may have.

    "model_a" goes with "score_a" and with "model_a_score".
    """
    return {plain(name), plain(MODEL_AFFIX.sub("", name) or name)}


def starts_with(name: str, start: str) -> bool:
    """Tell whether a name starts with another, in whole words: "rf_new", and not "rfm", with "rf".

    Parameters
    ----------
    name, start : str
        The names.
    """
    return re.match(rf"{re.escape(start)}(?:{SEP}|\W|$)", name, re.IGNORECASE) is not None


def guessed_actual(columns: Sequence[str]) -> str | None:
    """Return the column that has a usual name for the actual classes; None if there is none."""
    by_name = {re.sub(r"[\W_]", "", name).lower(): name for name in reversed(columns)}
    for name in ACTUAL_NAMES:
        if name.replace("_", "") in by_name:
            return by_name[name.replace("_", "")]
    return None


AFFIRMED = ("true", "yes", "t", "y", "positive", "pos")
DENIED = ("false", "no", "f", "n", "negative", "neg")


def texts_of(label: Label) -> tuple[str, ...]:
    """Return the spellings of a class in column names: "1" for 1.0, "yes" or "1" for "yes"."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label)), str(label)
    text = str(label)
    for number, words in (("1", AFFIRMED), ("0", DENIED)):
        if text.strip().lower() in words:
            return text, number
    return (text,)


def stem_of_class(column: str, label: Label) -> str | None:
    """Return a column's name without a class and words such as "prob".

    Parameters
    ----------
    column : str
        The column.
    label : label
        The class; if the name does not contain it, None is returned.
    """
    for pattern in _names_with(texts_of(label)):
        match = pattern.fullmatch(column)
        if match is not None:
            return _without_words([each for each in (match["before"], match["after"]) if each])
    return None


@cache
def _names_with(texts: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of column names that contain a class."""
    found = []
    for text in texts:
        sep = r"(?:[_. -]|(?<=[^\W\d_]))" if text.isdecimal() else "[_. -]"  # "p1" as "p_1"
        named = rf"(?:class[_. -]?)?{re.escape(text)}"
        pattern = rf"(?:(?P<before>.*?){sep})?{named}(?:[_. -](?P<after>.*))?"
        found.append(re.compile(pattern, re.IGNORECASE))
    return tuple(found)


def is_score_of(column: str, label: Label, positive: Label | None, others: ModelNames) -> bool:
    """Tell whether a column is named like scores of a class that is not the positive one.

    The class is next to a word for scores, as in "prob_ok", "rf_prob_ok" and "ok_prob_rf". A label
    that can only be a class may be anywhere in the name of a score, as in "p_rf_ok"; others, such
    as "no" and numbers, may belong to the model: "model_0_prob", and "prob_no_show" unless another
    column is of a model "show".

    Parameters
    ----------
    column : str
        The column.
    label : label
        The class.
    positive : label or None
        The positive class: a column with its name in it has its scores.
    others : ModelNames
        The names of models in all columns.
    """
    if label == positive:
        return False
    texts = texts_of(label)
    if looks_like_score(column) and stem(column) in texts:
        return True
    if positive is not None and stem_of_class(column, positive) is not None:
        return False
    if names_scores_of(column, texts):
        if plain(stem(column)) in others.decided:
            return False
        left = _left_after(column, texts) if is_common(label) else ""
        return not left or left in others.decided or others.scored[left] > 1
    return (
        _says_scores(column) and not is_common(label) and stem_of_class(column, label) is not None
    )


def _says_scores(column: str) -> bool:
    """Tell whether a column has a word for scores anywhere in its name."""
    return looks_like_score(column) or SCORE_PART.search(column) is not None


class ModelNames:
    """The plain names of models in the names of columns.

    Parameters
    ----------
    columns : sequence of str
        The columns.
    labels : tuple
        The classes.
    """

    def __init__(self, columns: Sequence[str], labels: Labels) -> None:
        self._columns, self._labels = columns, labels

    @cached_property
    def decided(self) -> set[str]:
        """The names in columns that are not named like scores."""
        names = [name for name in self._columns if not _says_scores(name)]
        return {each for name in names for each in pairing_names(name)}

    @cached_property
    def scored(self) -> Counter[str]:
        """The number of score columns of each model, with and without a class in their names."""
        found: Counter[str] = Counter()
        for name in filter(_says_scores, self._columns):
            stems = (stem(name), *(stem_of_class(name, label) for label in self._labels))
            found.update({plain(each) for each in stems if each})
        return found


def _left_after(column: str, texts: tuple[str, ...]) -> str:
    """Return the plain name of the model in a column's name in which more follows a class."""
    for pattern in _names_with(texts):
        match = pattern.fullmatch(column)
        if match is not None and match["after"]:
            return plain(
                _without_words([each for each in (match["before"], match["after"]) if each])
            )
    return ""


def names_scores_of(column: str, texts: tuple[str, ...]) -> bool:
    """Tell whether a name has a class, spelt as one of these texts, next to a word for scores."""
    return any(pattern.search(column) for pattern in _scores_with(texts))


@cache
def _scores_with(texts: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of names with a class next to a word for scores."""
    found = []
    for text in map(re.escape, texts):
        before = rf"(?:^|{SEP})(?:{SCORE_WORDS}){SEP}(?:class{SEP}?)?{text}(?:{SEP}|$)"
        found.append(re.compile(before, re.IGNORECASE))
        after = rf"(?:^|{SEP}){text}{SEP}(?:{SCORE_WORDS})(?:{SEP}|$)"
        if text.isdecimal():
            after = rf"(?:^|{SEP})(?:p|proba?|probability)(?:class)?{text}(?:{SEP}|$)"
        found.append(re.compile(after, re.IGNORECASE))
    return tuple(found)


def _without_words(parts: Sequence[str]) -> str:
    """Return the model's name in parts of a name, without words for scores and decisions."""
    bare = rf"(?:y_)?(?:{SCORE_WORDS})"
    joined = "_".join(parts)
    if logit := re.fullmatch(rf"(logits?)[_. -]{bare}", joined, re.IGNORECASE):
        return logit[1]
    left = re.sub(rf"^{bare}(?:[_. -]|$)|[_. -]{bare}$", "", joined, flags=re.IGNORECASE)
    return "" if BARE_DECISION.match(left) else decision_stem(left)


def names_no_model(scores: str, positive: Collection[str]) -> bool:
    """Tell whether a score column's name contains no model, such as "score" or "prob_fraud".

    Parameters
    ----------
    scores : str
        The column.
    positive : collection of str
        The spellings of the positive class in column names.
    """
    return bool(BARE_SCORE.match(scores)) or stem(scores) in positive


def is_attached(column: str) -> bool:
    """Tell whether a name ends with a number that directly follows a letter: "x1"."""
    return re.search(r"[^\W\d_]\d+$", column) is not None


def is_common(label: Label) -> bool:
    """Tell whether features can have the same label: a number, true or false, yes or no."""
    if isinstance(label, bool) or is_number(label):
        return True
    return str(label).strip().lower() in (*AFFIRMED, *DENIED)


ZERO_OR_ONE = {"0", "1", "0.0", "1.0", "false", "true"}


def has_probabilities(table: Table, name: str, labels: Labels) -> bool:
    """Tell whether a column has numbers from 0 to 1 that are not all labels, 0, 1 or booleans."""
    if not table.numeric(name):
        return False
    values = table.values(name)
    if values is not None:
        matcher = LabelMatcher(labels, table.cells)
        there = [value for value in values if not is_blank(value) and not matcher.knows(value)]
        if all(str(value).strip().lower() in ZERO_OR_ONE for value in there):
            return False
    lowest, highest = table.score_range(name)
    return lowest >= 0 and highest <= 1


def has_decisions(table: Table, name: str, labels: Labels) -> bool:
    """Tell whether a column has values, all of which stand for labels."""
    values = table.values(name)
    matcher = LabelMatcher(labels, table.cells)
    return bool(values) and all(map(matcher.knows, values or ()))


def has_flawed_decisions(table: Table, name: str, labels: Labels, *, named: bool) -> bool:
    """Tell whether a column that was not named has decisions, some of them missing or misspelt.

    This is so if at least half of its non-missing values are labels, and

    - its name indicates decisions, such as "pred_a", or "a" next to "a_score"; or
    - the other values are unlike those of features: not numbers if labels are numbers (counts such
      as 0, 1, 2 are not decisions between 0 and 1), and not several if only one label occurs.

    Parameters
    ----------
    table : Table
        The rows.
    name : str
        The column.
    labels : tuple
        The labels.
    named : bool
        Whether its name indicates decisions.
    """
    values = table.values(name) or []
    matcher = LabelMatcher(labels, table.cells)
    known = {value for value in values if matcher.knows(value)}
    others = [value for value in values if value not in known and not is_blank(value)]
    numbers = any(map(is_number, labels)) and any(map(is_number, others))
    like_a_feature = numbers or len(others) > len(known) == 1
    if not known or (like_a_feature and not named):
        return False
    return mostly(*table.amounts(name, known))


# Class probabilities, with a column for each class.

TWO = 2
ROUNDED = 0.02
"""Tolerance for the sum of a row's probabilities."""


ANY_MODEL = "model"
"""Name of a model whose columns of probabilities do not contain one."""


def columns_by_class(
    columns: Sequence[str], table: Table, labels: Labels, *, bare: bool = False
) -> dict[str, tuple[str, ...]]:
    """Return, by model, the columns with a probability for each class.

    Their names contain the class: "rf_red", "p_red_rf", or "red" alone. With two classes, the name
    must contain more than the class and words such as "prob"; with `bare`, it must not.
    """
    named: dict[str, list[tuple[Label, str]]] = {}
    for column in columns:
        for label in labels:
            stem = stem_of_class(column, label)
            if stem is not None and (len(labels) > TWO or bool(stem) != bare):
                named.setdefault(stem, []).append((label, column))
    found: dict[str, dict[Label, str]] = {}
    for stem, pairs in named.items():
        if len({label for label, _ in pairs}) == len(labels):  # otherwise, values need not be read
            for label, column in pairs:
                if _is_probability_of(table, column, labels):
                    found.setdefault(stem, {}).setdefault(label, column)
    models = {
        stem or ANY_MODEL: tuple(by_label[label] for label in labels)
        for stem, by_label in found.items()
        if len(by_label) == len(labels) == len(set(by_label.values()))
    }
    return {
        model: several
        for model, several in models.items()
        if _tell_classes(several, labels) or _sum_to_one(table, several)
    }


def _tell_classes(columns: Sequence[str], labels: Labels) -> bool:
    """Tell whether names alone indicate class probabilities: not "m_0" and "m_1", nor "x2"."""
    return len(labels) > TWO and not any(map(is_attached, columns))


def _sum_to_one(table: Table, columns: Sequence[str]) -> bool:
    """Tell whether columns sum to 1 in each row: "m_0" and "m_1" may also be two models."""
    for batch in table.batches(columns):
        try:
            total = np.sum([batch.scores(name) for name in columns], axis=0)
        except InputError:  # a missing value is reported when the column is used
            return False
        if (np.abs(total - 1) > ROUNDED).any():
            return False
    return True


def _is_probability_of(table: Table, column: str, labels: Labels) -> bool:
    """Tell whether a column that is named for a class has its probabilities.

    Features may have such a name too: "region_2" with three classes, and the values 0 and 1.
    """
    if len(labels) > TWO and looks_like_score(column):
        return table.numeric(column)
    return has_probabilities(table, column, labels if len(labels) == TWO else ())


USUAL_NAMES = re.compile(
    r"^(?:old|new|baseline|candidate|champion|challenger|incumbent|proposed)"
    rf"(?:{SEP}(?:{MODEL_WORDS}))?(?:{SEP}?(?:v(?:ersion)?{SEP}?)?\d[\d._-]*)?$",
    re.IGNORECASE,
)
"""Names that are usual for models, with or without a version: "new", "candidate_v2"."""

LIKELY_NAMES = re.compile(rf"^(?:{MODEL_WORDS}){SEP}", re.IGNORECASE)
"""Names of models, and sometimes of features: "model_b", "model_year"."""


# Columns with the values of classes may be decisions or features: their names are evidence.


def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(text.split())


KNOWN_MODELS = _vocabulary("""
    logreg logistic logisticregression logit xgb xgboost lgb lgbm lightgbm gbm hgb hgbm hgbt gbdt
    gbrt catboost adaboost rf randomforest extratree extratrees svm svc knn mlp cnn rnn lstm resnet
    bert distilbert roberta deberta gpt chatgpt claude gemini llama mistral mixtral qwen deepseek
    llm tabpfn tabnet automl autogluon ebm scorecard
""")
"""Words that make a name that of a model."""

MODEL_NOUNS = KNOWN_MODELS | _vocabulary("""
    tree trees forest rule rules rulebased heuristic heuristics net network nn dnn lr glm gam nb
    bayes dt gb gbt lda qda ridge lasso elasticnet boost boosted boosting ensemble stacked stacking
    bagged bagging voting model clf classifier
    old new baseline candidate champion challenger incumbent proposed
""")
MODEL_DETAILS = _vocabulary("""
    random gradient decision extra naive linear regression neural deep based simple tuned untuned
    calibrated cal raw weighted balanced best final full base large small mini nano turbo pro flash
    haiku sonnet opus instruct prod production current previous legacy existing version
""")
"""Words for models, and words with which these are the name of one: "random forest", "old tree"."""

PRODUCTS = _vocabulary("car vehicle phone mobile device product")
"""Things that have a model: "car_model" is not the name of a classifier."""

FEATURE_WORDS = PRODUCTS | _vocabulary("""
    sex gender male female man men woman women age race ethnicity white black asian hispanic married
    single divorced widowed marital spouse partner child children kids dependent dependents pregnant
    smoke smoker smokes smoked smoking alcohol drinks drinker drinking diabetes diabetic
    hypertension obese obesity asthma stroke pain fever cough symptom symptoms exercise
    has have had own owns owner is was are were did does use uses used user know knows
    employed unemployed retired student job occupation education graduate degree income salary
    senior home house homeowner rent rents rented renter mortgage telephone email address
    country region state city town urban rural zip area location site store branch
    day days week weeks weekday weekend month months quarter year years hour hours date time season
    holiday morning night period fold folds split train test valid validation holdout cv batch
    partition flag flags indicator dummy missing count num number nr amount total rate ratio code
    type kind category group segment cohort cluster level grade rank rating index seed
    member membership subscriber subscribed subscription loan loans credit debit card balance
    contract tenure visit visits visited order orders ordered online promo promotion discount
    campaign contact contacted channel browser active inactive customer client account
    treatment treated control arm exposed
""")
"""Words of features, and of columns that divide the rows."""

SCORE_LIKE = _vocabulary("risk pd propensity likelihood posterior chance")
"""Words for scores that features have too, so that they do not make a column scores."""

VERSION = re.compile(rf"(?:^|{SEP})v(?:ersion)?{SEP}?\d+(?:\.\d+)*$", re.IGNORECASE)
"""Names that end with a version: "v2", "phoenix_v1.3"."""

DETAIL = re.compile(r"[a-z]|l[12]|v?\d+[a-z]?")
"""Letters and numbers of models in their names: "tree a", "rules v2", "gpt 4o"."""

WORD_END = re.compile(r"(?<=[a-z])(?:(?:classifier|clf|model)?\d+[a-z]?|(?:classifier|clf|model))$")


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case, "XGBClassifier" and "gpt4o" as "xgb" and "gpt"."""
    words = re.split(r"[\W_]+", name.casefold())
    return [WORD_END.sub("", word) for word in words if word]


def names_known_model(name: str) -> bool:
    """Tell whether a name has a word that only models have, and none of features: "XGB 2"."""
    words = {*_words(name)}
    return bool(words & KNOWN_MODELS) and not words & FEATURE_WORDS


def names_model(name: str) -> bool:
    """Tell whether a column with classes has decisions by its name: "rules", "old", "fraud model".

    Parameters
    ----------
    name : str
        The column.
    """
    words = _words(name)
    if names_known_model(name) or USUAL_NAMES.match(name):
        return True
    if {*words} & MODEL_NOUNS and all(
        word in MODEL_NOUNS | MODEL_DETAILS or DETAIL.fullmatch(word) for word in words
    ):
        return True
    return words[-1:] in (["model"], ["clf"], ["classifier"]) and not {*words} & PRODUCTS


def names_feature(name: str) -> bool:
    """Tell whether a column is named like a feature: "sex", "has_phone", "fold"."""
    return not FEATURE_WORDS.isdisjoint(_words(name))


def names_outcome(name: str) -> bool:
    """Tell whether a column is named like actual classes, beside those that were found."""
    return guessed_actual([name]) is not None or bool(
        OUTCOME_NAMES.search(name) or IS_NAMES.search(name)
    )


def may_name_scores(name: str) -> bool:
    """Tell whether numbers under a name may be scores: "risk_full", "RF PD %", "challenger"."""
    if names_feature(name) or MODEL_COLUMNS.search(name):
        return False
    usual = USUAL_NAMES.match(name) or LIKELY_NAMES.match(name)
    return bool(usual) or not (KNOWN_MODELS | SCORE_LIKE).isdisjoint(_words(name))
