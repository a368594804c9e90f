"""Is the first line of a csv file its header? Typical files, and what the user is told."""

import io
from pathlib import Path

import pytest

from coterie.errors import InvalidInput
from coterie.text.readers import Rows, read

WITH = [
    "id,text\n1,some words\n2,more words",
    "Timestamp,What did you like most about our product or service?,Age\n"
    "2024/01/05 9:41:02 AM GMT+1,the price and the support,34\n2024/01/06 10:00:00 AM GMT+1,nothing,51",
    "Please describe in your own words how satisfied you were with our service,Score\nfine,5\nok,3",
    "What could we do better next time?\nmore coffee\nnothing\nlonger breaks please",
    "name,2019,2020\nAnna,5,6\nBert,7,8",
    "region,2019,2020,2021\nNorth,5,6,7\nSouth,7,8,9",
    "region,1,2,3,4\nnorth,12,14,11,9\nsouth,5,8,1,2",
    "0\ngreat product\nlove it\nbad",
    ",0\n0,great product\n1,love it\n2,bad",
    ",text\n0,great product\n1,love it\n2,bad",
    "comment\ngreat product\nlove it a lot\nbad quality",
    "Customer feedback\nLove it a lot\nBad quality of the thing\nVery nice indeed",
    "customer_opinion\nThe film was great\nBoring\nI liked the music",
    "date,entry\n2024-01-05,the first text\n2024-01-06,the second text",
    "sentiment,sentence\npositive,I love this film\nnegative,I hate this film",
    "v1,v2\nham,Go until jurong point crazy\nham,Ok lar... Joking\nspam,Free entry",
    "Vorname,E-Mail,Meinung\nAnna,anna@example.com,I like it\nBert,bert@example.com,It is too dear",
    "sku,produkt\nA-1023,roter Stuhl\nA-1024,blauer Tisch\nB-2001,Lampe",
    "Frage 1,Frage 2\nja,nein\nnein,nein\nja,ja",
    "Response ID,Q1,Q2,Q3\nR_1,5,4,good\nR_2,3,2,bad service",
    "评论,日期\n很好,2024-01-01\n不错,2024-01-02",
    "text,label\na b,text\nc d,label\ntext,text",
    "price (EUR),weight (kg),article\n12.5,13.5,some words\n11.5,10.1,other words",
    "link,page\nhttp://a.example/1,first page\nhttp://a.example/2,second page",
    "a,b\nc,d",
]
WITHOUT = [
    "1,some words\n2,other words",
    "2019,good year\n2020,bad year\n2021,fine year",
    "12.5,13.5,some words\n11.5,10.1,other words",
    "great product\nlove it a lot\nbad quality\nvery nice indeed",
    "Great product\nLove it a lot\nBad quality\nVery nice indeed",
    "this is a long sentence and not the name of a column\nanother long one of the same kind of length",
    "The film was great and I would see it again.\nBoring.\nI liked the music most.\nNot for me!",
    "2024-01-05,the first text\n2024-01-06,the second text\n2024-01-07,the third",
    "positive,I love this film\nnegative,I hate this film\npositive,What a film\nnegative,bad film",
    "ham,Go until jurong point crazy\nham,Ok lar... Joking wif u oni...\nspam,Free entry in 2 a wkly",
    '0,1467810369,"Mon Apr 06 22:19:45 PDT 2009",NO_QUERY,special,"@you that is a bummer"\n'
    '4,1467810917,"Mon Apr 06 22:19:53 PDT 2009",NO_QUERY,matty,"@me I dived many times"',
    '"3","Wall St. Bears Claw Back","Short-sellers are seeing green again."\n'
    '"3","Carlyle Looks Toward","Private investment firm Carlyle Group."\n"1","Oil soars","Oil prices."',
    "Anna,anna@example.com,I like the shop\nBert,bert@example.com,It is too dear",
    "A-1022,gelbe Bank\nA-1023,roter Stuhl\nA-1024,blauer Tisch\nB-2001,Lampe",
    "http://a.example/1,first page\nhttp://a.example/2,second page",
    "yes,no\nno,no\nyes,yes\nno,yes",
    "anna,1,2,3\nbert,2,3,4\ncarl,1,5,3",
    "just one line of text",
]


def load(tmp_path: Path, content: str, **how: object) -> Rows:
    path = tmp_path / "x.csv"
    path.write_text(content + "\n", encoding="utf-8")
    try:
        return read(path, **how)
    except InvalidInput as error:
        if "Several columns" not in str(error):
            raise
    last = max(content.split("\n")[-1].count(","), 0)
    for name in (f"column_{last + 1}", content.split("\n")[0].split(",")[last]):
        try:
            return read(path, text=name, header=how.get("header"))
        except InvalidInput:
            continue
    raise AssertionError(content)


def first_lines_that_are_data(tmp_path: Path, content: str) -> int:
    """How many lines of the file are rows, compared with how many there are."""
    return len(load(tmp_path, content)) - content.count("\n")


@pytest.mark.parametrize("content", WITH)
def test_a_header_is_seen(tmp_path, content):
    assert first_lines_that_are_data(tmp_path, content) == 0


@pytest.mark.parametrize("content", WITHOUT)
def test_a_first_row_is_not_taken_for_a_header(tmp_path, content):
    assert first_lines_that_are_data(tmp_path, content) == 1


def test_the_question_of_a_form_names_its_column(tmp_path):
    rows = load(tmp_path, WITH[1])
    assert rows.frame.columns[1] == "What did you like most about our product or service?"
    assert rows.texts == ["the price and the support", "nothing"]
    assert not any("header" in note for note in rows.notes)  # this one is obvious


def test_what_was_decided_is_said(tmp_path):
    assert any("no header" in n for n in load(tmp_path, WITHOUT[3]).notes)
    unsure = load(tmp_path, "opinion\ngood\nbad thing\nfine by me")
    assert any("'opinion'" in note and "header=False" in note for note in unsure.notes)


@pytest.mark.parametrize("header", [True, False])
def test_the_user_decides(tmp_path, header):
    rows = load(tmp_path, "good thing\nbad thing\nfine thing", header=header)
    assert len(rows) == 3 - header
    assert rows.column == ("good thing" if header else "column_1")


def test_a_column_that_is_asked_for_makes_a_header(tmp_path):
    rows = load(tmp_path, "good thing\nbad thing\nfine thing", text="good thing")
    assert rows.texts == ["bad thing", "fine thing"]


def test_blank_lines_above_a_header(tmp_path):
    rows = load(tmp_path, "\n\nid,text\n1,some words\n2,more words")
    assert rows.frame.columns == ["id", "text"]
    assert rows.texts == ["some words", "more words"]
    assert any("blank lines" in note for note in rows.notes)


def test_header_is_for_tables_with_lines():
    with pytest.raises(InvalidInput, match="header=True only applies to csv and tsv"):
        read(["a text"], header=True)
    rows = read(io.BytesIO(b"1,some words\n2,more words\n"), header=False)
    assert rows.texts == ["some words", "more words"]
    with pytest.raises(InvalidInput, match="header=True only applies to csv and tsv"):
        read(io.BytesIO(b'{"text": "a b"}\n'), header=True)
