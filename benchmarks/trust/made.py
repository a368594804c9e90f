"""Tables made by chance: csv and JSON lines of every shape, whole and damaged."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
from typing import Any

SEPARATORS = ",;\t|"
WORDS = re.split(
    r"\|",
    "plain words here|größer Österreich|中文 文本|Привет мир|שלום עולם|مرحبا بالعالم|ไทย ภาษา"
    "|😀 emoji 👩‍👩‍👧|e\u0301 combining|नमस्ते दुनिया|한국어 문장|\u202eright to left",
)
ODD = [
    *("", "", " ", "  two before", "two after  ", "\t tab", 'say "hi"', '"', '""', "'", "a\nb"),
    *("a\r\nb", "a\rb", "\r", "\n", "end\r", "end\n", "#no comment", "=1+1", "-", "+", "@x"),
    *("nul\0l", "\\n", "null", "NA", "nan", "inf", "true", "None", "\xa0", "\u2028", "\ufeff"),
    *("\ue000", "\x0c", "\x1b[0m"),
]
NUMBERS = re.split(
    " ",
    "1.10 12e5 1 1.0 007 1e400 -1e-400 0.1 .5 5. 1e-05 1E+16 +3 -0 -0.0 00.5 1,5 50% $3.20 ٣ 1e5"
    " 12345678901234567890123 0.1000000000000000055511151231257827 9007199254740993 1_000 0x10"
    " 2024-01-05",
)
JSON_NUMBERS = [
    *("0", "-0", "1", "1.0", "1.10", "-3", "1e5", "1E+16", "1e-05", "12e5", "1e400", "NaN"),
    *("12345678901234567890123", "9007199254740993", "Infinity", "-Infinity", "9" * 5_000),
    "0.1000000000000000055511151231257827",
]


def drawing(seed: int, i: int) -> random.Random:
    return random.Random(f"{seed} {i}")


def table(draw: random.Random) -> tuple[list[list[str]], int]:
    """(the header and rows, which column holds the texts)."""
    width, height = draw.randint(1, 8), draw.randint(1, 12)
    text = draw.randrange(width)
    header = [draw.choice([*WORDS, *ODD, "id", "n", "2019", "a"]) for _ in range(width)]
    header[text] = "text"
    columns = [_column(draw, height) for _ in range(width)]
    columns[text] = [draw.choice(WORDS) + draw.choice([*ODD, *NUMBERS]) for _ in range(height)]
    rows = [list(row) for row in zip(*columns, strict=True)]
    for i in range(1, height):
        if draw.random() < 0.1 or (i >= height - 2 and draw.random() < 0.2):
            rows[i] = [""] * width  # a blank line, also at the end
    return [header, *rows], text


def _column(draw: random.Random, height: int) -> list[str]:
    pool = draw.choice(
        [WORDS, ODD, NUMBERS, NUMBERS[:3], ["1.10", "2"], ["1", ""], ["12e5", "3"], [""]]
    )
    if draw.random() < 0.3:
        pool = [*WORDS, *ODD, *NUMBERS]
    return [draw.choice(pool) for _ in range(height)]


def csv_bytes(draw: random.Random, rows: list[list[str]], separator: str) -> bytes:
    style = draw.choice(["all", "needed", "some"])
    end = draw.choice(["\n", "\r\n"])
    special = set(SEPARATORS) if len(rows[0]) == 1 else {separator}

    def cell(value: str) -> str:
        quoted = style == "all" or (style == "some" and draw.random() < 0.5)
        if quoted or not special.union('"\r\n').isdisjoint(value):
            return '"' + value.replace('"', '""') + '"'
        return value

    lines = []
    for i, row in enumerate(rows):
        blank = i and not any(row) and draw.random() < 0.7
        lines.append("" if blank else separator.join(map(cell, row)))
    text = end.join(lines)
    if lines[-1] == "" or draw.random() < 0.7:  # a blank line at the end is one only if it is ended
        text += end
    has_mark = draw.random() < 0.3 or text.startswith("\ufeff")  # which would be taken for one
    mark = b"\xef\xbb\xbf" if has_mark else b""
    return mark + text.encode()


def objects(draw: random.Random) -> list[str]:
    """JSON objects, each with a text or without."""
    lines = []
    for i in range(draw.randint(1, 12)):
        members = [(key, _json(draw, 3)) for key in _keys(draw)]
        if i == 0 or draw.random() < 0.8:
            text = json.dumps(draw.choice(WORDS), ensure_ascii=draw.random() < 0.5)
            members.insert(draw.randint(0, len(members)), ("text", text))
        pairs = [f"{json.dumps(k)}{_space(draw)}:{_space(draw)}{v}" for k, v in members]
        lines.append("{" + _joined(draw, pairs) + "}")
    return lines


def _keys(draw: random.Random) -> list[str]:
    keys = [
        "id",
        "a",
        "b",
        "größe",
        "with space",
        "",
        'quo"te',
        "back\\slash",
        "new\nline",
        "nested",
        "label",
    ]
    chosen = draw.sample(keys, draw.randint(0, 5))
    return [*chosen, chosen[0]] if chosen and draw.random() < 0.1 else chosen  # a key twice


def _json(draw: random.Random, depth: int) -> str:
    kind = draw.randrange(7 if depth else 5)
    if kind == 0:
        return draw.choice(JSON_NUMBERS)
    if kind == 1:
        return draw.choice(["null", "true", "false"])
    if kind == 2:
        return draw.choice(
            ['"\\ud83d"', '"\\u00e9\\/\\n"', '"\\ud83d\\ude00"', '""', '"\\u0000"', '"{}"']
        )
    if kind in (3, 4):
        return json.dumps(draw.choice([*WORDS, *ODD]), ensure_ascii=draw.random() < 0.5)
    parts = [_json(draw, depth - 1) for _ in range(draw.randrange(4))]
    if kind == 5:
        return "[" + _joined(draw, parts) + "]"
    return "{" + _joined(draw, [f'"{draw.choice("abc")}":{part}' for part in parts]) + "}"


def _joined(draw: random.Random, parts: list[str]) -> str:
    return _space(draw) + f"{_space(draw)},{_space(draw)}".join(parts) + _space(draw)


def _space(draw: random.Random) -> str:
    return draw.choice(["", "", " ", "  ", "\t"])


def damaged(seed: int, i: int) -> tuple[str, bytes]:
    """(a name with its ending, the content of a damaged file)."""
    draw = drawing(seed, i)
    ending = draw.choice(["csv", "tsv", "jsonl", "json", "parquet", "txt"])
    content = _mutation(draw, _intact(draw, ending))
    if draw.random() < 0.25:
        content = gzip.compress(content, mtime=0)
        content = _mutation(draw, content) if draw.random() < 0.5 else content
        ending += ".gz"
    return f"table.{ending}", content


def _intact(draw: random.Random, ending: str) -> bytes:
    rows, _ = table(draw)
    if ending == "parquet":
        return _parquet(draw, rows)
    if ending in ("csv", "tsv"):
        separator = "\t" if ending == "tsv" else draw.choice(SEPARATORS)
        content = csv_bytes(draw, rows, separator).decode()
    elif ending == "txt":
        content = "\n".join(" ".join(row) for row in rows)
    elif ending == "jsonl":
        content = "\n".join(objects(draw))
    else:
        content = "[" + ",\n".join(objects(draw)) + "]"
    others = ["utf-16", "utf-16-le", "utf-16-be", "latin-1", "gb18030"]
    return content.encode(draw.choice(["utf-8"] * 4 + others), "replace")


def _parquet(draw: random.Random, rows: list[list[str]]) -> bytes:
    import polars as pl

    n = len(rows)
    columns = {f"c{i}": [row[i] or None for row in rows] for i in range(len(rows[0]))}
    extra = {
        "number": [draw.random() for _ in range(n)],
        "list": [[draw.randrange(9)] * draw.randrange(3) for _ in range(n)],
        "struct": [{"a": draw.randrange(9), "b": "x" * draw.randrange(5)} for _ in range(n)],
        "when": pl.Series(range(n)).cast(pl.Datetime),
        "bytes": [bytes([draw.randrange(256)]) for _ in range(n)],
    }
    chosen = {key: extra[key] for key in draw.sample(sorted(extra), draw.randrange(4))}
    out = io.BytesIO()
    codec: Any = draw.choice(["zstd", "snappy", "uncompressed", "gzip", "lz4"])
    pl.DataFrame({**columns, **chosen}).write_parquet(out, compression=codec)
    return out.getvalue()


def _mutation(draw: random.Random, content: bytes) -> bytes:
    """Bytes flipped, cut, repeated or inserted, up to four times."""
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(content) + 1)
        length = min(draw.choice([1, 1, 2, 8, 64, 1_000]), len(content) - at)
        how = draw.randrange(5)
        if how == 0:
            flipped = bytes(byte ^ (1 << draw.randrange(8)) for byte in content[at : at + length])
            content = content[:at] + flipped + content[at + length :]
        elif how == 1:
            content = content[:at] + content[at + length :]
        elif how == 2:
            times = draw.choice([2, 3, 50, 2_000])
            content = content[:at] + content[at : at + length] * times + content[at + length :]
        elif how == 3:
            content = content[:at] + draw.randbytes(draw.choice([1, 4, 40])) + content[at:]
        else:
            odd = draw.choice(
                [b"\0", b"\xff", b'"', b"[" * 5_000, b"{", b"\r", b"\n", b",", b"\xef\xbb\xbf"]
            )
            content = content[:at] + odd + content[at:]
    return content
