"""Checkpoints: killed at any moment, a run goes on to the very labels it would have had."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

import coterie
from coterie import GSDMM, GSDPMM, _disk, checkpoint
from coterie.cli import main
from coterie.demo import make_corpus
from coterie.errors import CoterieError, InvalidInput, ModelFileError

N_SWEEPS = 10


def make(path: Any = None, **how: Any) -> GSDMM:
    how = {"n_clusters": 30, "n_sweeps": N_SWEEPS, "random_state": 3, **how}
    return GSDMM(checkpoint=path, **how)


@pytest.fixture(scope="module")
def docs() -> list[list[str]]:
    return make_corpus(150)[0]


@pytest.fixture(scope="module")
def expected(docs: list[list[str]]) -> Any:
    return make().fit(docs).labels_


@pytest.fixture
def started(docs: list[list[str]], tmp_path: Path) -> Path:
    """A checkpoint after three sweeps."""
    path = tmp_path / "run.ckpt"
    make(path, n_sweeps=3).fit(docs)
    return path


def refused(path: Path, docs: Any, kind: type[Exception] = ModelFileError, **how: Any) -> str:
    """The sentence with which a run refuses to go on; the file stays as it is."""
    content = path.read_bytes()
    with pytest.raises(kind) as caught:
        make(path, **how).fit(docs)
    assert path.read_bytes() == content
    message = str(caught.value)
    assert str(path) in message
    assert message.endswith(".")
    assert "\n" not in message
    return message


# Each script forks children from one process that has imported and compiled everything, so that
# they sample at once.
KILLED_AT_RANDOM = """
import os, random, signal, sys, time
import test_checkpoint as t

path, docs = t.Path(sys.argv[1]), t.make_corpus(400)[0]
plain = t.make(n_sweeps=30).fit(docs)
moments = random.Random(1)
kills = sweeps = 0
while kills < 6 or (sweeps < 30 and kills < 300):
    if sweeps == 30:  # done before it was killed six times: from the start
        path.unlink()
        sweeps = 0
    child = os.fork()
    if child == 0:
        slowly = [lambda event: time.sleep(0.001)]
        t.make(path, n_sweeps=30, callbacks=slowly).fit(docs)
        os._exit(0)
    time.sleep(moments.uniform(0.003, 0.03))
    os.kill(child, signal.SIGKILL)
    kills += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    if path.exists():
        assert len(t.read_trace(path)) >= sweeps
        sweeps = len(t.read_trace(path))
final = t.make(path, n_sweeps=30).fit(docs)
assert (final.labels_ == plain.labels_).all()
for column in ("clusters", "moved", "log_joint"):
    assert final.trace_[column].tolist() == plain.trace_[column].tolist()
print(kills)
"""

KILLED_IN_A_WRITE = """
import os, signal, sys
import test_checkpoint as t
from coterie import _disk, _system

def arm(module, name, when):  # die by SIGKILL before or after module.name, in the fifth write
    plain_write, plain, writes = _disk.Claim.rewrite, getattr(module, name), []
    def write(*args):
        writes.append(args)
        plain_write(*args)
    def deadly(*args, **more):
        fifth = len(writes) == 5
        if fifth and when == "before": os.kill(os.getpid(), signal.SIGKILL)
        out = plain(*args, **more)
        if fifth and when == "after": os.kill(os.getpid(), signal.SIGKILL)
        return out
    _disk.Claim.rewrite = write
    setattr(module, name, deadly)

folder, docs = t.Path(sys.argv[1]), t.make_corpus(150)[0]
t.make(n_sweeps=1).fit(docs)
for step in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        name, when = step.split()
        arm(os if hasattr(os, name) else _system, name, when)
        t.make(folder / step).fit(docs)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, step
"""
STEPS = ["fsync before", "fsync after", "move_in before", "exchange before", "exchange after"]


def run_python(code: str, *arguments: Any) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_trace(path: Path) -> Any:
    return json.loads(checkpoint.open_tensors(path)[1]["trace"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
class TestKilled:
    def test_at_random_moments(self, tmp_path: Path) -> None:
        assert int(run_python(KILLED_AT_RANDOM, tmp_path / "run.ckpt")) >= 6

    def test_in_the_middle_of_a_write(
        self, docs: list[list[str]], expected: Any, tmp_path: Path
    ) -> None:
        run_python(KILLED_IN_A_WRITE, tmp_path, *STEPS)
        for step in STEPS:
            assert len(read_trace(tmp_path / step)) == (5 if step == "exchange after" else 4)
            np.testing.assert_array_equal(make(tmp_path / step).fit(docs).labels_, expected)
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(STEPS), "leftovers"


class TestFile:
    def test_no_other_files_are_left(self, started: Path, docs: list[list[str]]) -> None:
        make(started).fit(docs)
        assert [p.name for p in started.parent.iterdir()] == [started.name]

    def test_a_name_without_a_folder(
        self, docs: list[list[str]], expected: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        make("run.ckpt", n_sweeps=4).fit(docs)
        np.testing.assert_array_equal(make("run.ckpt").fit(docs).labels_, expected)
        assert [p.name for p in tmp_path.iterdir()] == ["run.ckpt"]

    def test_is_written_every_so_many_sweeps_and_at_the_end(
        self, docs: list[list[str]], tmp_path: Path
    ) -> None:
        path, seen = tmp_path / "run.ckpt", []
        watch = [lambda event: seen.append(path.stat().st_mtime_ns if path.exists() else 0)]
        make(path, checkpoint_every=4, callbacks=watch).fit(docs)
        assert len(set(seen)) == 3  # none, after sweep 4, after sweep 8
        assert len(read_trace(path)) == N_SWEEPS, "the last sweep is kept too"

    def test_a_finished_run_is_not_run_again(
        self, docs: list[list[str]], expected: Any, tmp_path: Path
    ) -> None:
        path, seen = tmp_path / "run.ckpt", []
        make(path).fit(docs)
        again = make(path, callbacks=[seen.append]).fit(docs)
        np.testing.assert_array_equal(again.labels_, expected)
        assert seen == []
        assert len(again.trace_) == N_SWEEPS

    @pytest.mark.parametrize("folder", ["nowhere", "file"])
    def test_a_folder_that_cannot_be_written(
        self, folder: str, docs: list[list[str]], tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_text("mine")
        path = tmp_path / folder / "run.ckpt"
        with pytest.raises(ModelFileError, match="cannot be written") as caught:
            make(path).fit(docs)
        assert str(path) in str(caught.value)
        assert (tmp_path / "file").read_text() == "mine"

    def test_a_folder_that_cannot_be_written_is_noticed_before_the_work(
        self, docs: list[list[str]], tmp_path: Path
    ) -> None:
        seen: list[Any] = []
        with pytest.raises(ModelFileError):
            make(tmp_path / "nowhere" / "x", checkpoint_every=5, callbacks=[seen.append]).fit(docs)
        assert seen == []

    def test_a_folder_in_place_of_the_file(self, docs: list[list[str]], tmp_path: Path) -> None:
        with pytest.raises(ModelFileError) as caught:
            make(tmp_path).fit(docs)
        assert str(tmp_path) in str(caught.value)

    def test_a_full_disk(
        self, started: Path, docs: list[list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(handle: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            assert "No space left on device" in refused(started, docs)
        assert [p.name for p in started.parent.iterdir()] == [started.name]


class TestRefused:
    def test_other_documents(self, started: Path, docs: list[list[str]]) -> None:
        assert "belongs to other data" in refused(started, docs[:-1], InvalidInput)
        assert "Delete it" in refused(started, docs[::-1], InvalidInput)

    @pytest.mark.parametrize(
        "other",
        [
            {"beta": 0.2},
            {"alpha": 0.2},
            {"n_clusters": 31},
            {"random_state": 4},
            {"random_state": None},
            {"init": "one"},
            {"burstiness": False},
            {"tie_duplicates": True},
        ],
        ids=str,
    )
    def test_other_parameters(
        self, started: Path, docs: list[list[str]], other: dict[str, Any]
    ) -> None:
        docs = [*docs, docs[0]]
        started.unlink()
        make(started, n_sweeps=3).fit(docs)
        assert "other data, parameters or another seed" in refused(
            started, docs, InvalidInput, **other
        )

    def test_another_estimator(self, started: Path, docs: list[list[str]]) -> None:
        with pytest.raises(InvalidInput, match="belongs to other"):
            GSDPMM(beta=0.1, random_state=3, checkpoint=started).fit(docs)

    def test_more_sweeps_than_asked_for(self, started: Path, docs: list[list[str]]) -> None:
        message = refused(started, docs, InvalidInput, n_sweeps=2)
        assert "already has 3 sweeps" in message
        assert "Raise n_sweeps" in message

    @pytest.mark.parametrize(
        "content",
        [b"", b"x", b"not a checkpoint at all", b"\x80\x04\x95\x00" * 9, b"\xff" * 64],
        ids=["empty", "byte", "text", "pickle", "ff"],
    )
    def test_a_foreign_file(self, content: bytes, docs: list[list[str]], tmp_path: Path) -> None:
        path = tmp_path / "run.ckpt"
        path.write_bytes(content)
        refused(path, docs)

    def test_another_safetensors_file(self, docs: list[list[str]], tmp_path: Path) -> None:
        from safetensors.numpy import save_file

        path = tmp_path / "run.ckpt"
        save_file({"weights": np.ones(3)}, path)
        assert "not a checkpoint" in refused(path, docs)

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"version": "0.0.9"}, "was written by coterie 0.0.9; this is"),
            ({"version": "9.0", "mark": "of other data"}, "was written by coterie 9.0; this is"),
            ({"version": None, "mark": "of other data"}, "by an earlier version of coterie"),
            ({"schema": "2"}, f"by an earlier state of coterie {coterie.__version__}"),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("digest", ["", "of that version"])
    def test_another_version(
        self, change: dict[str, Any], says: str, digest: str, started: Path, docs: list[list[str]]
    ) -> None:
        """Versions may compute marks and digests in another way, so their number comes first."""
        arrays, about = checkpoint.open_tensors(started)
        about = {n: v for n, v in {**about, **change}.items() if v is not None}
        about["digest"] = digest or checkpoint._digest(arrays, {**about, "digest": None})
        started.write_bytes(save(arrays, metadata=about))
        message = refused(started, docs)
        assert says in message
        assert "only be continued by the version that began it" in message

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
    def test_a_truncated_file(self, share: float, started: Path, docs: list[list[str]]) -> None:
        content = started.read_bytes()
        started.write_bytes(content[: int(share * len(content))])
        refused(started, docs)

    def test_a_flipped_bit_anywhere(
        self, started: Path, docs: list[list[str]], expected: Any
    ) -> None:
        """A flipped bit must never lead to other labels: it is refused, or is of no consequence."""
        content = started.read_bytes()
        header = 8 + struct.unpack("<Q", content[:8])[0]
        places = [*range(0, header, 5), *np.linspace(header, len(content) - 1, 60).astype(int)]
        refusals = []
        for i, place in enumerate(places):
            flipped = bytearray(content)
            flipped[place] ^= 1 << (i % 8)
            started.write_bytes(flipped)
            try:
                labels = make(started).fit(docs).labels_
            except CoterieError as error:
                refusals.append(str(error))
            else:
                np.testing.assert_array_equal(labels, expected, err_msg=f"byte {place}")
        assert len(refusals) > 0.95 * len(places)
        assert all(str(started) in refusal for refusal in refusals)

    def test_a_damaged_checkpoint_loses_no_model(
        self, started: Path, docs: list[list[str]], expected: Any
    ) -> None:
        model = make().fit(docs)
        started.write_bytes(b"broken")
        with pytest.raises(ModelFileError):
            model.set_params(checkpoint=started).fit(docs)
        np.testing.assert_array_equal(model.labels_, expected)
        assert model.predict(docs).shape == expected.shape


def test_a_forged_checkpoint_runs_out_of_no_array(started: Path, docs: list[list[str]]) -> None:
    """A right digest is no proof: labels, slots and postings must be those of the data."""
    arrays, about = checkpoint.open_tensors(started)
    del about["digest"]
    layout = "order", "place", "post_ptr", "post_len", "post", "row_of", "size", "counters"
    for name in ("labels", "id", *(f"memory.layout.{name}" for name in layout)):
        forged = {**arrays, name: arrays[name] + arrays[name].dtype.type(10**8)}
        digest = checkpoint._digest(forged, about)
        started.write_bytes(save(forged, metadata={**about, "digest": digest}))
        assert "does not match its data" in refused(started, docs), name


def test_only_exact_names_of_ours_are_removed(docs: list[list[str]], tmp_path: Path) -> None:
    """A glob for leftovers of `env` would match the settings of other programs."""
    ours = tmp_path / ".env.coterie-0123456789abcdef.tmp"
    ours.mkdir()
    (ours / "new").write_bytes(b"half")
    (tmp_path / ".env.coterie.lock").touch()
    foreign = [".env.local", ".env.0123456789abcdef", ".env.coterie-0123.tmp", ".envx.coterie.lock"]
    foreign += [".other.coterie-0123456789abcdef.tmp", ".env.coterie-0123456789abcdef.tmpx"]
    for name in foreign:
        (tmp_path / name).write_text("SECRET=1")
    make(tmp_path / "env").fit(docs)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*foreign, "env"])


class TestTwoRuns:
    def test_the_second_is_refused_in_a_sentence(
        self, docs: list[list[str]], expected: Any, tmp_path: Path
    ) -> None:
        path, said = tmp_path / "run.ckpt", []

        def second(event: Any) -> None:
            with pytest.raises(ModelFileError) as caught:
                make(path).fit(docs)
            said.append(str(caught.value))

        first = make(path, callbacks=[second]).fit(docs)
        np.testing.assert_array_equal(first.labels_, expected)
        assert len(said) == N_SWEEPS
        assert f"{path} is in use by another run of coterie" in said[0]
        assert [p.name for p in tmp_path.iterdir()] == ["run.ckpt"]

    def test_the_place_is_free_after_an_error(self, docs: list[list[str]], tmp_path: Path) -> None:
        def stop(event: Any) -> None:
            raise RuntimeError("a callback failed")

        with pytest.raises(RuntimeError):
            make(tmp_path / "run.ckpt", callbacks=[stop]).fit(docs)
        make(tmp_path / "run.ckpt").fit(docs)

    @pytest.mark.parametrize("first", [1, 4])
    def test_a_file_that_appears_meanwhile_stays(
        self, first: int, docs: list[list[str]], tmp_path: Path
    ) -> None:
        path = tmp_path / "run.ckpt"

        def intrude(event: Any) -> None:
            if event.record.sweep == first:
                path.unlink(missing_ok=True)
                path.write_text("my thesis, years of work")

        with pytest.raises(ModelFileError, match="another file was put there"):
            make(path, callbacks=[intrude]).fit(docs)
        assert path.read_text() == "my thesis, years of work"
        assert [p.name for p in tmp_path.iterdir()] == ["run.ckpt"]


def test_a_symbolic_link_stays_one(docs: list[list[str]], expected: Any, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "run.ckpt").symlink_to(tmp_path / "far" / "real.ckpt")
    make(tmp_path / "run.ckpt", n_sweeps=3).fit(docs)
    np.testing.assert_array_equal(make(tmp_path / "run.ckpt").fit(docs).labels_, expected)
    assert (tmp_path / "run.ckpt").is_symlink()
    assert [p.name for p in (tmp_path / "far").iterdir()] == ["real.ckpt"]


def damaged(path: Path) -> None:
    make(path, n_sweeps=1).fit([["some", "words"], ["other", "words"]])
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("call", ["cluster", "cluster_large"])
@pytest.mark.parametrize(
    ("name", "prepare", "says"),
    [
        (
            "a folder",
            Path.mkdir,
            r"^The checkpoint .*a folder cannot be written: it is a folder\.$",
        ),
        ("no/x.ck", None, r"^The checkpoint .*x\.ck cannot be written: there is no folder .*no\.$"),
        ("x.ck", damaged, r"x\.ck is damaged .* Delete it"),
        ("x.ck", lambda path: path.write_text("mine"), r"no checkpoint, or .* Use another file"),
    ],
)
def test_a_wrong_checkpoint_is_found_before_anything_is_read(
    tmp_path: Path, call: str, name: str, prepare: Any, says: str
) -> None:
    path, out = tmp_path / name, tmp_path / "out.csv"
    stages: list[str] = []
    (tmp_path / "texts.csv").write_text("text\nsome words here\nother words there\n")
    if prepare is not None:
        prepare(path)
    before = sorted(tmp_path.iterdir())
    more = {"out": out} if call == "cluster_large" else {}
    how: dict[str, Any] = {"checkpoint": path, "on_stage": stages.append, **more}
    with pytest.raises(ModelFileError, match=says) as caught:
        getattr(coterie, call)(tmp_path / "texts.csv", text="text", **how)
    assert caught.value.parameter == "checkpoint"
    assert stages == []
    assert sorted(tmp_path.iterdir()) == before


def test_a_checkpoint_is_not_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.csv").write_text("text\nsome words here\nother words there\n")
    for name in ("x.csv", "./x.csv"):
        with pytest.raises(InvalidInput, match="is the output, or inside of it"):
            coterie.cluster_large("texts.csv", "x.csv", text="text", checkpoint=name)
    for how in (["--out-of-core"], []):
        for out, saved in (("x", "x"), ("x", "x/y.ck")):
            assert main(["fit", "texts.csv", *how, "-o", out, "--checkpoint", saved]) != 0
            said = capsys.readouterr().err
            assert "-o and --checkpoint" in said
    assert main(["fit", "texts.csv", "--by", "nothing", "-o", "x", "--checkpoint", "no/y"]) != 0
    assert "no/y cannot be written" in capsys.readouterr().err.replace("\\", "/")
    assert [path.name for path in tmp_path.iterdir()] == ["texts.csv"]


def test_a_sentence_about_another_path_is_left_as_it_is(tmp_path: Path) -> None:
    """While an output is staged, the checkpoint may turn out to be taken."""

    def nested() -> None:
        one, other = _disk.Claim(tmp_path / "a"), _disk.Claim(tmp_path / "b")
        with one, one.staged(), other, other.staged() as fresh:
            fresh.write_text("new")
            other.real.write_text("old")
            other.put(fresh, lambda _: "it is there")

    with pytest.raises(_disk.Taken, match=r"^[^:]*b cannot be written: it is there\.$"):
        nested()
