"""What `cluster()` decided, in sentences: notes, settings, and how to get something else."""

from __future__ import annotations

from typing import Any

from coterie import fitting
from coterie._sentence import Name, Sentence, counted, example, parameter
from coterie.embedders import Embedder
from coterie.keeping import Setting
from coterie.sampler import Run
from coterie.seeds import EncodedSeeds
from coterie.urns import NO_CAP


def about_seeds(seeds: EncodedSeeds) -> list[str]:
    """Notes on what of the seeds is not among the words of the texts."""
    notes = []
    if seeds.left_out:
        n, one = len(seeds.left_out), len(seeds.left_out) == 1
        notes.append(
            f"{n} seed{' shares' if one else 's share'} no word with these texts and"
            f" {'is' if one else 'are'} left out."
        )
    unknown = [(name, row) for name, row in zip(seeds.names, seeds.unknown, strict=True) if row]
    if not unknown:
        return notes
    name, row = unknown[0]
    words = ", ".join(row[:3]) + (", ..." if len(row) > 3 else "")
    others = len(unknown) - 1
    more = f", and of {others} other seed{'s' * (others > 1)}" if others else ""
    return [
        *notes,
        f"Words of seeds that no text holds, or that are not kept: {words} ({name}){more}; "
        + Sentence(Name("seed_report()", "`seed_report()`"))
        + " lists them.",
    ]


def about_cap(n_clusters: int, task: fitting.Task) -> list[str]:
    """A note if nearly all clusters that were allowed are in use."""
    n_seeds, cap = task.urn.seeds.weight.size, task.urn.sizes.cap
    found, room = n_clusters - n_seeds, cap - n_seeds
    if cap == NO_CAP or found < 0.9 * room:
        return []
    beside = " beside the seeds" if n_seeds else ""
    return [
        f"{found} of at most {room} clusters{beside} are in use, so there may be more to find; raise "
        + parameter("max_clusters")
        + "."
    ]


def about_convergence(run: Run, task: fitting.Task, n_sweeps: int) -> list[str]:
    """A note if the clusters were still improving when the last sweep was done.

    After a start from a sample, there are too few sweeps over all texts to tell.
    """
    if run.converged or run.stop.kind != "sweeps" or task.plan.from_sample:
        return []
    passes = counted(len(run.trace), "pass", "passes")
    return [
        f"The clusters were still improving after {passes} over the texts; treat them as a draft, or"
        " allow more with " + example("n_sweeps", 2 * n_sweeps) + "."
    ]


def settings_of(
    estimator: Any,
    run: Run,
    task: fitting.Task,
    source: Embedder | None,
    is_default: bool,
    asked: int | None,
) -> list[Setting]:
    """What was decided, by whom, and what it means."""
    stopped = {"sweeps": "as many as allowed", "settled": "nothing improved any more"}.get(
        run.stop.kind, run.stop.words
    )
    sizes, beta, cap = run.urn.sizes, run.urn.words.beta, task.urn.sizes.cap
    is_one = beta.size and (beta == beta[0]).all()
    settings = []
    if not is_default:
        settings.append(Setting("model", type(estimator).__name__, "as asked"))
    if asked is not None and is_default:
        settings.append(Setting("clusters", str(asked), "as asked"))
    elif cap < NO_CAP:
        settings.append(Setting("maximum clusters", str(cap), "unused ones die out"))
    return [
        *settings,
        Setting(
            "beta",
            f"{beta[0]:g}" if is_one else "one per word",
            "how much two texts may differ: larger gives fewer clusters",
        ),
        Setting(
            "alpha",
            f"{sizes.open_weight or sizes.prior:g}",
            "how readily a text opens a cluster of its own",
        ),
        *_about_kappa(run, source),
        Setting(
            "sweeps", str(len(run.trace)), f"passes over all texts; {stopped}{_of_sample(task)}"
        ),
        Setting(
            "seed",
            str(estimator.random_state),
            "the same clusters for the same texts, settings and version",
        ),
    ]


def _of_sample(task: fitting.Task) -> str:
    return "; before them, others over a sample" if task.plan.from_sample else ""


def _about_kappa(run: Run, source: Embedder | None) -> list[Setting]:
    """How much the vectors count, and whose they are."""
    if source is None:
        return []
    why = f"how much the vectors of {source.name} count beside the words"
    why += "; learned" if run.learned else ""
    return [Setting("kappa", f"{run.urn.location.kappa:g}", why)]
