"""Seeds in yaml, json, csv and tsv files: what they say, and what is refused with file and line."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from seed_cases import counted, encoded, refusal

from coterie import seeds
from coterie.errors import ModelFileError

TOPICS = {
    "rescue": "rescue the team",
    "damage": ["bridge", "road"],
    "toll": {"dead": 3.5, "aid": 1},
    "docs": [["quake", "quake"], ["aid"]],
    "all": {"words": ["aid"], "weights": {"dead": 2}, "confidence": 4, "repeat": 2},
}


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps(TOPICS)),
        ("a.yaml", yaml.safe_dump(TOPICS)),
        ("a.YML", yaml.safe_dump(TOPICS, default_flow_style=True)),
        ("a.yml", "\ufeff" + json.dumps(TOPICS, indent=1)),
        ("utf16.json", json.dumps(TOPICS).encode("utf-16")),
    ],
)
def test_files_say_what_a_dict_says(tmp_path: Path, name: str, content: str | bytes) -> None:
    path = write(tmp_path, name, content)
    for source in (path, str(path)):
        found = encoded(source, weight=0.5)
        same = encoded({name: TOPICS[name] for name in found.names}, weight=0.5)
        assert set(found.names) == set(TOPICS)
        assert counted(found) == counted(same)
        assert found.weight.tolist() == same.weight.tolist()


def test_yaml_words_stay_as_written(tmp_path: Path) -> None:
    text = "places: [no, on, 12:30, 010, 1.10, 2020-01-01, ~]\n2020: {text: 2021, words: [2022]}\n"
    given = seeds.read(write(tmp_path, "a.yaml", text))
    said = [term.value for term in given.terms]
    assert said == ["no", "on", "12:30", "010", "1.10", "2020-01-01", "~", "2022", "2021"]
    assert given.names == ("places", "2020")


LONG = "\ufeffName;WORD;Weight;confidence\nrescue;team;;2\n\ndamage;road;0,5;\nrescue;aid;;2\n"
BY_WORD = {"rescue": {"team": 10, "aid": 10}, "damage": {"road": 0.5}}


@pytest.mark.parametrize(
    ("name", "content", "expected", "weight"),
    [
        ("a.csv", LONG, BY_WORD, [2, 1]),
        ("a.csv", LONG.replace(",", ".").replace(";", ","), BY_WORD, [2, 1]),
        ("a.tsv", LONG.replace(";", "\t").replace("\n", "\r\n"), BY_WORD, [2, 1]),
        ("a.csv", "word,name\nteam,a\nteam,a\naid,b\n", {"a": {"team": 20}, "b": {"aid": 10}}, [1, 1]),
        ("a.csv", "name,word,weight\na,team,1\na,team,.5\n", {"a": {"team": 1.5}}, [1]),
        ("a.csv", ",name,word\n0,a,team\n1,a,aid\n", {"a": {"team": 10, "aid": 10}}, [1]),
        ("a.csv", "name,words\na,\"team, new york\"\nb,aid road\n",
         {"a": {"team": 10, "new york": 10}, "b": {"aid": 10, "road": 10}}, [1, 1]),
        ("a.csv", "name,text,confidence\n\"a, b\",\"The team\nthe road\",3\nc,aid\n",
         {"a, b": {"team": 10, "road": 10}, "c": {"aid": 10}}, [3, 1]),
        ("a.csv", "name,words,text\na,team,team aid\n", {"a": {"team": 20, "aid": 10}}, [1]),
    ],
)  # fmt: skip
def test_csv(tmp_path: Path, name: str, content: str, expected: Any, weight: list[float]) -> None:
    found = encoded(write(tmp_path, name, content))
    assert counted(found) == expected
    assert found.weight.tolist() == weight


def test_an_old_encoding_is_read_and_said(tmp_path: Path) -> None:
    content = "name,word\nsécurité,équipe\nsécurité,déjà vu à Genève\n".encode("cp1252")
    given = seeds.read(write(tmp_path, "vieux.csv", content))
    assert given.names == ("sécurité",)
    assert given.notes == ("vieux.csv is not UTF-8, so it was read as cp1252.",)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.yaml", "a: x\nb: y\na: z\n", "Line 3 of a.yaml repeats 'a' (first in line 1)"),
        ("a.yaml", "a:\n  aid: 1\n  aid: 2\n", "Line 3 of a.yaml repeats 'aid'"),
        ("a.yaml", "a: x\nb: [y\nc: z\n", "Line 3 of a.yaml is not valid YAML"),
        ("a.yaml", "a: x\n---\nb: y\n", "Line 2 of a.yaml is not valid YAML"),
        ("a.yaml", "- a\n- b\n", "a.yaml does not map names to seeds"),
        ("a.yaml", "? [a, b]\n: x\n", "Line 1 of a.yaml has a list as a name"),
        ("a.yaml", "a: x\nb: y\x07\n", "Line 2 of a.yaml contains a character that is not allowed in YAML"),
        ("a.yaml", "a: &x [aid]\nb: *x\n", "Line 1 of a.yaml is repeated by an alias"),
        ("a.yaml", "a: &x [*x]\n", "Line 1 of a.yaml is repeated by an alias"),
        ("a.yaml", "a: x\n\nb: {aid: -1}\n", "Seed 'b' in line 3 of a.yaml gives the word 'aid'"),
        ("a.yaml", "a: x\nb:\n", "Seed 'b' in line 2 of a.yaml has no words"),
        ("a.yaml", "a: x\nb: {aid: .nan}\n", "every value must be a number"),
        ("a.yaml", "a: " + "[" * 5000, "a.yaml is nested too deeply"),
        ("a.yaml", "# nothing\n", "a.yaml does not map names to seeds"),
        ("a.yaml", "", "a.yaml is empty"),
        ("a.json", '{"a": "x",\n "a": "y"}', "a.json contains 'a' twice"),
        ("a.json", '{"a": {"aid": 1, "aid": 2}}', "a.json contains 'aid' twice"),
        ("a.json", '{"a": "x"\n "b": "y"}', "Line 2 of a.json is not valid JSON"),
        ("a.json", '["a"]', "a.json does not map names to seeds"),
        ("a.json", '{"a": {"aid": NaN}}', "Seed 'a' in a.json gives the word 'aid' a weight of nan"),
        ("a.json", '{"a": ' + "[" * 100_000, "a.json is nested too deeply"),
        ("a.json", '{"a": {"aid": ' + "9" * 5000 + "}}", "a.json is nested too deeply, or"
        " contains a number"),
        ("a.json", "{}", "There are no seeds in a.json"),
        ("a.json", "  \n", "a.json is empty"),
        ("a.csv", "name,word\n", "There are no seeds in a.csv"),
        ("a.csv", "nome,word\na,aid\n", "The header (line 1) of a.csv has the unknown column 'nome'"),
        ("a.csv", "word\naid\n", "has no column named name"),
        ("a.csv", "name,word,word\na,b,c\n", "has the column 'word' twice"),
        ("a.csv", "name,word,text\na,b,c\n", "must have either the column word"),
        ("a.csv", "name,weight\na,1\n", "must have either the column word"),
        ("a.csv", "name,text,weight\na,aid,1\n", "must have either the column word"),
        ("a.csv", "name,word\na,aid\n,team\n", "Line 3 of a.csv has no name"),
        ("a.csv", "name,word\na,\n", "Line 2 of a.csv has no word for seed 'a'"),
        ("a.csv", "name,word\na\n", "Line 2 of a.csv has no word for seed 'a'"),
        ("a.csv", "name,word\na,aid,road\n", "Line 2 of a.csv has 3 cells, but the header has 2"),
        ("a.csv", "name,word,weight\na,aid,much\n", "a weight of 'much', which is not a number"),
        ("a.csv", "name,word,weight\na,aid,1\na,team,-2\n",
         "Line 3 of a.csv gives the word 'team' of seed 'a' a weight of -2"),
        ("a.csv", "name,word,weight\na,aid,nan\n", "a weight of nan"),
        ("a.csv", "name,word,confidence\na,aid,0\n",
         "Line 2 of a.csv gives seed 'a' a confidence (alpha0) of 0"),
        ("a.csv", "name,word,confidence\na,aid,2\na,team,3\n",
         "Line 3 of a.csv gives seed 'a' a confidence of 3, but an earlier line says 2"),
        ("a.csv", "name,words\na,aid\n\na,team\n",
         "Line 4 of a.csv repeats the seed 'a' (first in line 2 of a.csv)"),
        ("a.csv", "name,words\na,aid\nb,\n", "Seed 'b' in line 3 of a.csv has no words"),
        ("a.csv", 'name,word\na,"aid\n', "Line 2 of a.csv cannot be read"),
        ("a.txt", "aid", "Seeds cannot be read from 'a.txt'"),
        ("a", "aid", "Seeds cannot be read from 'a'"),
    ],
)  # fmt: skip
def test_files_refused(tmp_path: Path, name: str, content: str, said: str) -> None:
    assert said in refusal(write(tmp_path, name, content))


def test_folders_and_unreadable_files(tmp_path: Path) -> None:
    assert "does not contain a saved model" in refusal(tmp_path)
    (tmp_path / "a.yaml").mkdir()
    assert "does not contain a saved model" in refusal(tmp_path / "a.yaml")
    write(tmp_path, "config.json", "{}")
    with pytest.raises(ModelFileError, match=r"config\.json is damaged"):
        seeds.read(tmp_path)


def test_yaml_runs_nothing(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    text = f"aid: !!python/object/apply:os.rmdir ['{gone}']\nb: !!python/name:os.system aid\n"
    given = seeds.read(write(tmp_path, "a.yaml", text))
    assert gone.exists()
    assert [term.value for term in given.terms] == [str(gone), "aid"]
