"""XDMM: the paper's samplers behind one estimator."""

import numpy as np
import pytest

import coterie
from coterie import GSDMM, XDMM
from coterie.errors import CoterieError

TEXTS = [f"word{i % 7} word{i % 11} word{i % 13} word{i % 5}" for i in range(240)]


@pytest.mark.parametrize("sampler", ["metropolis", "uncollapsed", "em", "gibbs", "blocked", "auto"])
def test_every_sampler_fits_saves_and_predicts(sampler, tmp_path):
    model = XDMM(20, sampler=sampler, n_sweeps=12, random_state=3).fit(TEXTS)
    again = XDMM(20, sampler=sampler, n_sweeps=12, random_state=3, n_jobs=2).fit(TEXTS)
    assert (model.labels_ == again.labels_).all()
    assert 1 <= model.n_clusters_ <= 20
    model.save(tmp_path / "m")
    opened = coterie.load(tmp_path / "m")
    assert isinstance(opened, XDMM)
    assert (opened.predict(TEXTS) == model.predict(TEXTS)).all()
    assert opened.trace_["sampler"].tolist() == model.trace_["sampler"].tolist()


def test_the_trace_says_when_it_switched():
    model = XDMM(20, n_sweeps=60, random_state=3).fit(TEXTS)
    used = model.trace_["sampler"].tolist()
    switch = used.index("metropolis")
    assert 0 < switch < 60
    assert used == ["gibbs"] * switch + ["metropolis"] * (60 - switch)


def test_phi_and_steps_reach_the_sampler():
    def labels(**settings):
        return XDMM(20, n_sweeps=60, random_state=3, **settings).fit(TEXTS).labels_

    assert (
        labels(sampler="uncollapsed", phi="mean") != labels(sampler="uncollapsed", phi="draw")
    ).any()
    base = labels()
    assert (labels(steps=1) == base).all()
    assert np.any(labels(steps=4) != base) or np.any(labels(steps=5) != base)


@pytest.mark.parametrize(
    "wrong",
    [
        dict(beta=[0.1, 0.2]),
        dict(steps=0),
        dict(refresh=0),
        dict(phi="both"),
        dict(sampler="slice"),
    ],
    ids=str,
)
def test_odd_settings_are_refused_in_a_sentence(wrong):
    with pytest.raises(CoterieError, match=f"{next(iter(wrong))} of XDMM"):
        XDMM(5, **wrong).fit(TEXTS)


def test_gibbs_is_gsdmm():
    same = GSDMM(20, n_sweeps=8, random_state=1).fit(TEXTS)
    assert (
        XDMM(20, sampler="gibbs", n_sweeps=8, random_state=1).fit(TEXTS).labels_ == same.labels_
    ).all()
