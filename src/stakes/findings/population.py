"""The population that costs are for, where its classes are not as frequent as in the examples."""

from __future__ import annotations

import numpy as np

from stakes._core.labels import Label
from stakes._core.text import listed, percent
from stakes.infer._outcomes import checked_priors
from stakes.study import Study


def class_priors_of(study: Study) -> dict[Label, float] | None:
    """Return the share of each class where the models are used; None for that in the examples."""
    priors = study.design.class_priors
    if priors is None:
        return None
    labels = study.joint.labels
    return dict(zip(labels, checked_priors(priors, labels).tolist(), strict=True))


def population_of(study: Study) -> str:
    """Say which population the costs are for; nothing where it is that of the examples."""
    priors = class_priors_of(study)
    if priors is None:
        return ""
    shares = listed([f"{percent(share)} {label!r}" for label, share in priors.items()])
    same = np.allclose(list(priors.values()), study.joint.class_counts() / study.n)
    return f"Costs are for populations with {shares}, {'' if same else 'not '}as in the examples."
