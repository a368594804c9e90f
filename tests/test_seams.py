"""What the loop and its backends agree on: assignments with stable ids, steps, other backends."""

import itertools
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny import promoted, random_corpus, random_labels, seeded

from coterie import checkpoint, sampler, urns
from coterie.backends import SamplerOptions, base
from coterie.backends.cpu import BACKEND
from coterie.sampler import Plan
from coterie.state import Assignment, from_labels, is_possible
from coterie.steps import Change, Moment
from coterie.urns import Urn

V = 60
BETA = urns.per_word(0.1, V)
COUNTS = random_corpus(150, V, 12, 3, topics=6)
URNS: dict[str, Urn] = {
    "finite": urns.finite(30, 0.1, BETA),
    "process": urns.process(15.0, BETA),
    "seeded": seeded(urns.process(15.0, BETA), aabc=1.0, xyz=2.0),
    "promoted": promoted(urns.finite(30, 0.1, BETA), 0.3, "abc", "ba"),
}
CASES = [(sampler, name) for sampler in ("gibbs", "blocked", "metropolis") for name in URNS]
CASES += [("uncollapsed", "finite"), ("em", "finite")]


def options(name: str) -> SamplerOptions:
    return SamplerOptions(name, block_size=20 if name == "blocked" else None)


class Watch:
    """A callback that keeps every assignment."""

    def __init__(self) -> None:
        self.seen: list[Assignment] = []

    def __call__(self, event: sampler.Event) -> None:
        now = event.assignment
        arrays = [np.array(part) for part in now[:-1]]
        self.seen.append(Assignment(*arrays, now.next_id))


def watched(plan: Plan, name: str) -> tuple[sampler.Run, list[Assignment]]:
    watch = Watch()
    done = sampler.run(COUNTS, URNS[name], plan._replace(callbacks=[watch]), BACKEND)
    return done, watch.seen


@pytest.mark.parametrize(("how", "name"), CASES)
def test_ids_are_given_once_and_kept(how: str, name: str) -> None:
    _, seen = watched(Plan(25, 12, 5, options(how)), name)
    assert all(is_possible(COUNTS, URNS[name], now) for now in seen)
    closed: set[int] = set()
    for before, after in itertools.pairwise(seen):
        old, new = set(before.id[before.open_slots]), set(after.id[after.open_slots])
        assert after.next_id >= before.next_id
        assert all(number >= before.next_id for number in new - old) or how == "em"
        closed |= old - new
        assert not closed & new or how == "em"  # where a component that came back is the same one
        stayed = np.isin(before.id[before.labels], list(new))
        assert stayed.mean() > 0.5
    if name != "promoted" and how != "em":
        assert closed


@pytest.mark.parametrize(("how", "name"), CASES)
def test_ids_follow_the_documents(how: str, name: str) -> None:
    """What `moved` counts are the documents whose cluster has another id."""
    done, seen = watched(Plan(20, 12, 5, options(how)), name)
    ids = [now.id[now.labels] for now in seen]
    moved = [int((a != b).sum()) for a, b in itertools.pairwise(ids)]
    told = [record.moved for record in done.trace][1:]
    assert moved == told if how != "uncollapsed" else sum(moved) > 0


@pytest.mark.parametrize(("how", "name"), CASES)
def test_a_resumed_run_has_the_same_ids(how: str, name: str, tmp_path: Path) -> None:
    plan = Plan(14, 12, 5, options(how))
    whole = sampler.run(COUNTS, URNS[name], plan, BACKEND)
    for n_sweeps in (3, 8, 14):
        part = plan._replace(n_sweeps=n_sweeps, checkpoint=tmp_path / "run.ckpt")
        done = sampler.run(COUNTS, URNS[name], part, BACKEND)
    for mine, theirs in zip(done.assignment, whole.assignment, strict=True):
        np.testing.assert_array_equal(mine, theirs)


class Elsewhere:
    """A backend that samples as the CPU does, but knows nothing of the CPU's layout."""

    name = "elsewhere"
    supports = staticmethod(BACKEND.supports)
    score = staticmethod(BACKEND.score)

    def open(self, *given: Any) -> Any:
        chain = BACKEND.open(*given)
        chain.kind = "elsewhere"
        chain.memory = dict
        chain.recall = lambda memory: not memory
        return chain


@pytest.mark.parametrize("name", URNS)
@pytest.mark.parametrize("there_first", [True, False])
def test_a_checkpoint_resumes_on_another_backend(
    name: str, there_first: bool, tmp_path: Path
) -> None:
    """Blocked draws follow from the assignment alone, so the labels are the very same."""
    plan = Plan(12, 12, 5, options("blocked"))
    whole = sampler.run(COUNTS, URNS[name], plan, BACKEND)
    places = [Elsewhere(), BACKEND, Elsewhere()] if there_first else [BACKEND, Elsewhere(), BACKEND]
    for n_sweeps, place in zip((3, 7, 12), places, strict=True):
        part = plan._replace(n_sweeps=n_sweeps, checkpoint=tmp_path / "run.ckpt")
        done = sampler.run(COUNTS, URNS[name], part, place)
    np.testing.assert_array_equal(done.assignment.labels, whole.assignment.labels)
    np.testing.assert_array_equal(done.assignment.id, whole.assignment.id)


class Sharpen:
    """A step that lowers beta after every second sweep."""

    name = "sharpen"

    def __call__(self, moment: Moment) -> Change | None:
        if moment.sweep % 2:
            return None
        beta = float(moment.urn.words.beta[0]) * 0.8
        return Change(self.restore(moment.urn, {"beta": beta}), learned={"beta": beta})

    def restore(self, urn: Urn, learned: Any) -> Urn:
        beta = urns.per_word(learned["beta"], V)
        return urns.changed(urn, beta=beta, beta_sum=float(beta.sum()))


class Merge:
    """A step that puts the two smallest clusters together after the fifth sweep."""

    name = "merge"

    def __call__(self, moment: Moment) -> Change | None:
        if moment.sweep != 5:
            return None
        now = moment.assignment
        slots = now.open_slots[now.size[now.open_slots] > 0]
        first, second = slots[np.argsort(now.size[slots], kind="stable")][:2]
        labels = np.where(now.labels == second, first, now.labels).astype(np.int32)
        ids = now.id.copy()
        ids[second] = -1
        return Change(assignment=now._replace(labels=labels, id=ids))

    def restore(self, urn: Urn, learned: Any) -> Urn:
        return urn


@pytest.mark.parametrize(
    ("how", "name"), [case for case in CASES if case[1] in ("finite", "process")]
)
def test_steps_change_the_urn_and_the_assignment(how: str, name: str, tmp_path: Path) -> None:
    plan = Plan(10, 12, 5, options(how), steps=[Sharpen(), Merge()])
    plain = sampler.run(COUNTS, URNS[name], plan._replace(steps=[]), BACKEND)
    done, seen = watched(plan, name)
    assert done.urn.words.beta[0] == pytest.approx(0.1 * 0.8**5)
    assert dict(done.learned) == {"sharpen": {"beta": done.urn.words.beta[0]}}
    assert plain.urn is URNS[name]
    assert not plain.learned
    assert done.assignment.labels.tolist() != plain.assignment.labels.tolist()
    if how != "em":  # which learns labels again from theta and phi
        assert len(seen[4].open_slots) < len(seen[3].open_slots) + 3
    recounted = from_labels(COUNTS, done.urn, done.assignment.labels, done.assignment.flag)
    assert (
        np.sort(recounted.size[recounted.size > 0]).tolist()
        == np.sort(done.assignment.size[done.assignment.size > 0]).tolist()
    )
    for n_sweeps in (1, 4, 5, 6, 10):  # and the same when it is resumed at any point
        part = plan._replace(n_sweeps=n_sweeps, checkpoint=tmp_path / "run.ckpt")
        resumed = sampler.run(COUNTS, URNS[name], part, BACKEND)
    np.testing.assert_array_equal(resumed.assignment.labels, done.assignment.labels)
    assert resumed.learned == done.learned
    assert resumed.urn.words.beta[0] == done.urn.words.beta[0]


def test_a_checkpoint_of_other_steps_is_refused(tmp_path: Path) -> None:
    plan = Plan(4, 12, 5, steps=[Sharpen()], checkpoint=tmp_path / "run.ckpt")
    sampler.run(COUNTS, URNS["finite"], plan, BACKEND)
    with pytest.raises(ValueError, match="belongs to other data, parameters or another seed"):
        sampler.run(COUNTS, URNS["finite"], plan._replace(steps=[], n_sweeps=6), BACKEND)
    saved = checkpoint.open_tensors(tmp_path / "run.ckpt")[1]
    assert '"sharpen": {"beta"' in saved["learned"]


@pytest.mark.parametrize(("how", "name"), CASES)
def test_retuned_and_replaced_chains_go_on_as_new_ones_would(how: str, name: str) -> None:
    """Whatever a chain derived before is made again: no old value is left anywhere."""
    other = urns.changed(URNS[name], beta=BETA * 2, beta_sum=float(BETA.sum()) * 2)
    first = from_labels(COUNTS, URNS[name], 2 + random_labels(COUNTS.n_docs, 9, 1)).assignment
    moved = from_labels(COUNTS, URNS[name], 2 + random_labels(COUNTS.n_docs, 9, 2)).assignment
    chain = BACKEND.open(COUNTS, URNS[name], first, options(how))
    chain.sweep(1, 1)
    chain.retune(other)
    chain.replace(moved)
    fresh = BACKEND.open(COUNTS, other, moved, options(how))
    for sweep in range(2, 6):
        chain.sweep(1, sweep)
        fresh.sweep(1, sweep)
        np.testing.assert_array_equal(chain.assignment().labels, fresh.assignment().labels)
    np.testing.assert_allclose(chain.joint_terms(), fresh.joint_terms())


def added_file(marker: str) -> str:
    """The file that a diff in CONTRIBUTING adds."""
    page = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    diff = page[page.index(marker) :]
    lines = itertools.takewhile(lambda line: line != "```", diff.splitlines()[1:])
    return "\n".join(line.removeprefix("+") for line in lines)


def as_module(name: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType(name)
    exec(source, module.__dict__)
    monkeypatch.setitem(sys.modules, name, module)


def test_the_sampler_that_contributing_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    source = added_file("+++ b/src/coterie/backends/_backwards.py")
    as_module("coterie.backends._backwards", source, monkeypatch)
    line = base.Sampler("coterie.backends._backwards", "BackwardsChain")
    monkeypatch.setitem(base.SAMPLERS, "backwards", line)
    done = sampler.run(COUNTS, URNS["finite"], Plan(5, 12, 5, SamplerOptions("backwards")), BACKEND)
    plain = sampler.run(COUNTS, URNS["finite"], Plan(5, 12, 5, SamplerOptions("gibbs")), BACKEND)
    assert is_possible(COUNTS, URNS["finite"], done.assignment)
    assert done.assignment.labels.tolist() != plain.assignment.labels.tolist()


def test_the_urn_that_contributing_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    source = added_file("+++ b/src/coterie/estimators/shared_alpha.py")
    as_module("coterie.estimators.shared_alpha", source, monkeypatch)
    made = sys.modules["coterie.estimators.shared_alpha"].SharedAlphaDMM(
        20, alpha=2.0, random_state=1
    )
    made.fit([["a", "b"], ["a", "c"], ["d", "e"], ["d"]])
    assert made.model_.urn.sizes.prior == pytest.approx(0.1)
