"""Typical column names: of texts, of ids, and of anything else."""

from __future__ import annotations

import re

# Names of columns with texts, and of columns with titles, which are used if there are no texts.
BODIES = frozenset(
    re.split(
        " ",
        "text texts txt body content contents message messages msg comment comments review reviews"
        " question questions description tweet tweets post posts selftext abstract document documents"
        " doc sentence sentences utterance transcript feedback answer article story caption snippet"
        " complaint note notes query inhalt nachricht kommentar frage texte texto testo mensaje"
        " pregunta commentaire contenu описание текст вопрос 文本 内容 评论 正文 本文 テキスト",
    )
)
TITLES = frozenset(
    re.split(
        " ",
        "title titles headline heading subject summary name titel titre titulo título titolo"
        " заголовок 标题 題名 タイトル",
    )
)
IDS = frozenset(re.split(" ", "id _id ids uid uuid guid key docid doc_id document_id row_id"))
_OTHERS = frozenset(
    re.split(
        " ",
        "index idx nr no num number row line code sku isbn ean url link uri path file filename source"
        " date datum fecha data day month year jahr time timestamp created updated datetime at"
        " author user username email mail phone tel sender from to recipient customer client"
        " first last firstname lastname surname vorname nachname age alter gender sex city town"
        " country land region state zip postcode address street lat lon latitude longitude"
        " label labels class target category categories kategorie topic topics tag tags type kind"
        " status sentiment score rating ratings stars rank price preis cost amount quantity qty count"
        " total sum value wert lang language sprache length size weight group gruppe cluster product"
        " produkt item brand company channel version platform likes shares retweets views votes"
        " n x y z",
    )
)


def rank(name: str) -> int:
    """0: a name for texts (also "review_text" and "tweetBody"), 1: for titles, 2: neither."""
    parts = _parts(name)
    if not parts or (parts[-1] in IDS and len(parts) > 1):
        return 2
    if parts[-1] in BODIES or name.lower() in BODIES:
        return 0
    return 1 if parts[-1] in TITLES else 2


def is_typical(cell: str) -> bool:
    """Whether a cell is a typical column name: "id", "Created at", "review_text"."""
    if len(cell) > 40:
        return False
    parts = _parts(cell)
    if not parts or len(parts) > 3 or cell.rstrip().endswith((".", "!")):
        return False
    return rank(cell) < 2 or cell.strip().lower() in IDS or parts[-1] in IDS | _OTHERS


def _parts(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [part for part in re.split(r"[\W_]+", spaced.lower()) if part]
