"""Encodings: what is mostly UTF-8 stays UTF-8, and UTF-16 is known without its mark."""

import pytest

from coterie.text._encodings import decode

PAGES = {
    "English": "The quick brown fox, it jumps\nover the lazy dog\n",
    "German": "Grüße aus Köln\nschöne Straße\n",
    "Russian": "Сегодня хорошая погода, и мы пойдём гулять\nв парк у реки\n",
    "Greek": "Καλημέρα κόσμε\nτι κάνεις\n",
    "Hebrew": "שלום עולם\nמה שלומך\n",
    "Arabic": "مرحبا بالعالم\nكيف حالك اليوم\n",
    "Hindi": "नमस्ते दुनिया\nआप कैसे हैं\n",
    "Thai": "สวัสดีชาวโลก\nสบายดีไหม\n",
    "Chinese": "今天天气很好，我们去公园散步吧，晚上一起吃饭。\n好的，没问题。\n",
    "Japanese": "今日は天気がいいので、公園まで散歩に行きました。\nとても楽しかったです。\n",
    "Korean": "오늘은 날씨가 좋아서 공원에 갔습니다.\n정말 즐거웠어요.\n",
    "emoji": "😀 good\n👍 great\n",
    "several": "id,text\n1,今天天气很好\n2,Привет мир\n3,hello\n",
}


@pytest.mark.parametrize("times", [1, 50])
@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("page", PAGES)
def test_utf_16_without_its_mark(page, order, times):
    text = PAGES[page] * times
    found, note = decode(text.encode(f"utf-16-{order}"), None, "x.csv")
    assert found.decode() == text
    assert f"utf-16-{order}" in (note or "")


@pytest.mark.parametrize("page", PAGES)
def test_utf_8_stays_utf_8(page):
    assert decode(PAGES[page].encode(), None, "x.csv") == (PAGES[page].encode(), None)
    with_nul = PAGES[page].replace(" ", "\0", 1).encode()
    assert decode(with_nul, None, "x.csv") == (with_nul, None)


@pytest.mark.parametrize("page", [name for name in PAGES if name != "English"])
def test_a_stray_byte_garbles_no_other_letter(page):
    raw = (PAGES[page] * 3).encode() + b"the caf\xe9 is closed\n"
    found, note = decode(raw, None, "x.csv")
    assert found.decode() == PAGES[page] * 3 + "the café is closed\n"
    line = 3 * PAGES[page].count("\n") + 1
    assert f"1 byte, which was read as cp1252 (line {line})" in (note or "")


def test_the_lines_of_stray_bytes_are_named():
    lines = [b"sch\xc3\xb6n \xc3\xbc \xc3\xa4" if i % 2 else b"sch\xf6n" for i in range(20)]
    found, note = decode(b"\n".join(lines), None, "x.csv")
    assert found.decode().split("\n") == ["schön ü ä" if i % 2 else "schön" for i in range(20)]
    assert "10 bytes, which were read" in (note or "")
    assert "(line 1, 3, 5, 7, 9, ...)" in (note or "")


def test_a_line_with_both_keeps_both():
    good = "größer und größer, schöner, süßer"
    raw = good.encode() + b" \x80 caf\xe9 \x81\n"
    assert decode(raw, None, "x.csv")[0].decode() == f"{good} € café \x81\n"


def test_a_long_line_takes_no_long_time():
    raw = b"9" * 3_000_000 + b" caf\xe9"  # quadratic: hours
    assert decode(raw, None, "x.csv")[0].decode().endswith("café")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_damaged_mark_is_refused(encoding):
    from coterie.errors import InvalidInput

    raw = "some text".encode(encoding) + b"\xd8"
    with pytest.raises(InvalidInput, match=r"damaged: .* again, or name another encoding"):
        decode(raw, None, "x.csv")
    with pytest.raises(InvalidInput, match="Leave out encoding"):
        decode(raw, encoding, "x.csv")
