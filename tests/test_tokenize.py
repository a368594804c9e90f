"""Words of texts in many scripts, language, n-grams, pruning; and that predict sees what fit saw."""

import json
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import counts
from coterie.errors import InvalidInput
from coterie.text import _segment
from coterie.text import prune as pruning
from coterie.text.prune import prune
from coterie.text.tokenize import Tokenizer

PLAIN = Tokenizer(language=None, segmenter="bigrams")


def words(text: str, **how: object) -> list[str]:
    how = {"language": None, "segmenter": "bigrams", **how}
    return Tokenizer(**how).tokens([text])[0]


# ---------------------------------------------------------------- what a word is
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, WORLD!", ["hello", "world"]),
        ("well-known foo_bar a/b", ["well", "known", "foo", "bar"]),
        ("don't rock'n'roll 'quoted' dogs'", ["don't", "rock'n'roll", "quoted", "dogs"]),
        ("John’s don’t", ["john", "don't"]),
        ("#hashtag C3PO 3pm 42", ["hashtag", "c3po", "3pm", "42"]),
        ("हिन्दी भाषा में", ["हिन्दी", "भाषा", "में"]),
        ("السَّلامُ عليكم", ["السَّلامُ", "عليكم"]),
        ("Ελλάδα привет שלום 한국어", ["ελλάδα", "привет", "שלום", "한국어"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("ﬁne Ｆｕｌｌ 𝐛𝐨𝐥𝐝", ["fine", "full", "bold"]),
        ("می\u200cخواهم co\u00adoperate", ["میخواهم", "cooperate"]),
        ("I ❤️ you 😀👍🏽 ok", ["you", "ok"]),
        ("AT&amp;T x<br/>line <b>bold</b> 3 < 4", ["at", "line", "bold"]),
        ("\U00010330\U00010331\U00010332 \U0001e900\U0001e901", ["𐌰𐌱𐌲", "𞤢𞤣"]),
        ("nul\x00l re\x1ecord \u202eevil", ["nul", "re", "cord", "evil"]),
        ("", []),
        (" \t\n", []),
        ("!!! 😀 ---", []),
        ("孩子跟谁", ["孩子", "子跟", "跟谁"]),
        ("3个iPhone手机", ["个", "iphone", "手机"]),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("what", "text", "dropped", "kept", "marked"),
    [
        (
            "urls",
            "see HTTP://x.org/a?b=c and www.y.com now",
            ["see", "and", "now"],
            ["see", "http", "org", "and", "www", "com", "now"],
            ["see", "<url>", "and", "<url>", "now"],
        ),
        ("mentions", "hi @Bob @", ["hi"], ["hi", "@bob"], ["hi", "<mention>"]),
        ("numbers", "1999 2nd", ["2nd"], ["1999", "2nd"], ["<number>", "2nd"]),
    ],
)
def test_policies(what, text, dropped, kept, marked):
    assert words(text, **{what: "drop"}) == dropped
    assert words(text, **{what: "keep"}) == kept
    assert words(text, **{what: "mark"}) == marked


def test_a_link_within_chinese_ends_where_the_chinese_begins():
    assert words("看http://t.cn/abc这个") == ["看", "这个"]


def test_apostrophes_by_language():
    assert words("it's John's we'll", language="en") == ["it", "john", "we"]
    text = "L'eau qu'il boit aujourd'hui"
    assert words(text, language="fr") == ["eau", "il", "boit", "aujourd'hui"]
    assert words("dell'acqua l'uomo", language="it") == ["acqua", "uomo"]


def test_case_accents_and_short_words():
    assert words("Über uns", lowercase=False) == ["Über", "uns"]
    assert words("Über été naïve", strip_accents=True) == ["uber", "ete", "naive"]
    assert words("हिन्दी", strip_accents=True) == ["हिन्दी"]
    assert words("a bc def", min_chars=1) == ["a", "bc", "def"]
    assert words("a bc def", min_chars=3) == ["def"]


def test_stop_words():
    english = Tokenizer(language="en", stop_words="auto").resolve([])[0]
    assert english.tokens(["The cat is on the mat, isn't it?"]) == [["cat", "mat"]]
    assert words("The Cat", stop_words=["THE"], lowercase=False) == ["Cat"]
    assert words("the cat") == ["the", "cat"]
    assert "the" in Tokenizer(language="en").language_stop_words
    assert Tokenizer(language=None).language_stop_words == frozenset()


def test_lemmas_once_a_word():
    pytest.importorskip("simplemma")
    how = dict(language="en", lemmas=True, segmenter="bigrams")
    assert words("Mice were eating apples", **how) == ["mouse", "be", "eat", "apple"]
    tokenizer, notes = Tokenizer(language="zh", lemmas=True).resolve([])
    assert not tokenizer.lemmas
    assert any("Lemmas are not available" in note for note in notes)


def test_ngrams_stay_within_a_text():
    tokenizer = Tokenizer(language=None, ngrams=(1, 2), segmenter="bigrams")
    texts = ["new york city", "", "new", "york new york"]
    assert tokenizer.tokens(texts) == [
        ["new", "york", "city", "new york", "york city"],
        [],
        ["new"],
        ["york", "new", "york", "york new", "new york"],
    ]
    only = Tokenizer(language=None, ngrams=(2, 3), segmenter="bigrams")
    assert only.tokens(["aa bb cc", "dd"]) == [["aa bb", "bb cc", "aa bb cc"], []]
    assert only.tokens(["", "dd"]) == [[], []]
    _, ids = tokenizer.encode(["york city york"], ["york", "york city", "new york"])
    assert ids[ids >= 0].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("language", "text", "some"),
    [
        ("zh", "我来到北京清华大学", "清华大学"),
        ("ja", "東京の大学で日本語を勉強しています", "大学"),
        ("th", "ผมรักประเทศไทยมาก", "ประเทศ"),
    ],
)
def test_scripts_without_spaces(language, text, some):
    assert Tokenizer.fit_language([text])[0] == language
    module = _segment.SEGMENTERS[language][1]
    tokenizer, notes = Tokenizer().resolve([text])
    if find_spec(module) is None:
        assert any("pairs of neighbouring characters" in note for note in notes)
        pytest.skip(f"{module} is not installed")
    assert tokenizer.segmenter == _segment.SEGMENTERS[language][0]
    assert some in tokenizer.tokens([text])[0]
    assert "".join(_segment.segmenter(tokenizer.segmenter)(text)) == text


def test_without_a_segmenter_it_says_so(monkeypatch):
    monkeypatch.setattr(_segment, "find_spec", lambda _: None)
    tokenizer, notes = Tokenizer().resolve(["今天天气很好"])
    assert tokenizer.segmenter == "bigrams"
    assert any("pip install rjieba" in note for note in notes)
    assert tokenizer.tokens(["天气好"]) == [["天气", "气好"]]


def test_thai_pairs_do_not_cut_vowels_off():
    assert _segment.bigrams("รักกี่") == ["รัก", "กกี่"]


# ---------------------------------------------------------------- language
SENTENCES = {
    "en": "The delivery was late again and nobody answered when I called them about it.",
    "de": "Die Lieferung kam wieder zu spät und niemand hat auf meine Frage geantwortet.",
    "fr": "La livraison est encore en retard et personne ne m'a répondu quand j'ai appelé.",
    "es": "El pedido ha llegado tarde otra vez y nadie me contestó cuando llamé por teléfono.",
    "it": "La consegna è di nuovo in ritardo e nessuno mi ha risposto quando ho chiamato.",
    "pt": "A entrega atrasou de novo e ninguém me respondeu quando eu liguei para eles.",
    "nl": "De levering was weer te laat en niemand gaf antwoord toen ik ze daarover belde.",
    "pl": "Dostawa znowu się spóźniła i nikt nie odpowiedział, kiedy do nich dzwoniłem.",
    "sv": "Leveransen var sen igen och ingen svarade när jag ringde till dem om det.",
    "tr": "Teslimat yine geç kaldı ve onları aradığım zaman bana hiç kimse cevap vermedi.",
    "ru": "Доставка снова опоздала, и никто мне не ответил, когда я им позвонил.",
    "uk": "Доставка знову запізнилася, і ніхто мені не відповів, коли я їм подзвонив.",
    "el": "Η παράδοση άργησε πάλι και κανείς δεν απάντησε όταν τους πήρα τηλέφωνο.",
    "ar": "تأخر التسليم مرة أخرى ولم يرد علي أحد عندما اتصلت بهم عن هذا الأمر",
    "he": "המשלוח איחר שוב ואף אחד לא ענה לי כשהתקשרתי אליהם",
    "hi": "डिलीवरी फिर से देर से हुई और जब मैंने उन्हें फ़ोन किया तो किसी ने जवाब नहीं दिया",
    "ko": "배송이 또 늦었고 전화했을 때 아무도 받지 않았어요",
    "zh": "快递又迟到了，我打电话过去也没有人接。",
    "ja": "また配達が遅れて、電話しても誰も出ませんでした。",
    "th": "การจัดส่งล่าช้าอีกแล้วและไม่มีใครรับสายเมื่อฉันโทรไป",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_language_is_found_in_one_sentence(language):
    found, note = Tokenizer.fit_language([SENTENCES[language]])
    assert found == language
    assert f"({language})" in note


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["123 !!!", "😀"], ["giffords rehab fluid buildup", "brain delay"], ["qwx zzkj pfft"] * 9],
)  # fmt: skip
def test_no_language_is_no_crash(texts):
    found, note = Tokenizer.fit_language(texts)
    assert found is None
    assert note.endswith(".")


def test_language_of_the_corpora(load_jsonl):
    for name, language in {
        "10kgnad_test_de": "de", "fewclue_tnews_zh": "zh", "banking77": "en", "sms_spam": "en",
        "debian_packages_fr": "fr", "debian_packages_ru": "ru", "debian_packages_es": "es",
    }.items():  # fmt: skip
        texts = [row["text"] for row in load_jsonl(name)]
        assert Tokenizer.fit_language(texts)[0] == language, name


# ---------------------------------------------------------------- fit and predict agree
anything = st.text(max_size=40)  # halves of surrogate pairs, control signs and all


@given(texts=st.lists(anything, max_size=6), ngrams=st.sampled_from([(1, 1), (1, 2), (2, 3)]))
def test_encoding_the_fitted_texts_gives_the_fitted_ids(texts, ngrams):
    tokenizer = Tokenizer(segmenter="bigrams", ngrams=ngrams).resolve(texts)[0]
    ptr, ids, found = tokenizer.count(texts)
    assert ptr.dtype == np.int64
    assert ids.dtype == np.int32
    assert ptr.size == len(texts) + 1
    assert len(set(found)) == len(found)
    assert set(ids.tolist()) == set(range(len(found)))
    for given_words in (found, {word: i for i, word in enumerate(found)}):
        again, encoded = tokenizer.encode(texts, given_words)
        assert again.tolist() == ptr.tolist()
        assert encoded.tolist() == ids.tolist()


@given(texts=st.lists(anything, max_size=6))
def test_one_at_a_time_is_as_in_bulk(texts):
    bulk = PLAIN.tokens(texts)
    assert [PLAIN.tokens([text])[0] for text in texts] == bulk


@given(texts=st.lists(anything, max_size=4))
def test_small_chunks_change_nothing(texts):
    from coterie.text import _scan

    whole = PLAIN.tokens(texts)
    size, _scan._CHUNK = _scan._CHUNK, 7
    try:
        assert PLAIN.tokens(texts) == whole
    finally:
        _scan._CHUNK = size


@given(
    text=anything,
    how=st.fixed_dictionaries(
        {
            "lowercase": st.booleans(),
            "strip_accents": st.booleans(),
            "urls": st.sampled_from(["drop", "keep", "mark"]),
            "mentions": st.sampled_from(["drop", "keep", "mark"]),
            "numbers": st.sampled_from(["drop", "keep", "mark"]),
            "markup": st.sampled_from(["drop", "keep"]),
            "language": st.sampled_from([None, "en", "fr", "it", "zh"]),
            "stop_words": st.sampled_from([None, "auto"]),
        }
    ),
)
def test_no_text_crashes_any_setting(text, how):
    tokenizer = Tokenizer(segmenter="bigrams", **how)
    for word in tokenizer.tokens([text, "some " + text])[1]:
        assert word
        assert not any(c.isspace() for c in word)
    same = Tokenizer.from_dict(json.loads(json.dumps(tokenizer.to_dict())))
    assert same == tokenizer


def test_a_saved_tokenizer_is_the_same():
    tokenizer = Tokenizer(ngrams=[1, 2], stop_words=["b", "a"]).resolve([SENTENCES["de"]])[0]
    assert tokenizer.language == "de"
    same = Tokenizer.from_dict(json.loads(json.dumps(tokenizer.to_dict())))
    assert same == tokenizer
    assert hash(same) == hash(tokenizer)
    assert same.resolve(["now in English, which changes nothing"]) == (tokenizer, [])
    with pytest.raises(InvalidInput, match="newer"):
        Tokenizer.from_dict({**tokenizer.to_dict(), "telepathy": True})


def test_a_long_cell_takes_linear_time():
    text = "://" + "wwwa" * 250_000 + "'" * 250_000 + "<b " * 100_000 + "&" * 100_000
    assert len(words(text)) < 10
    assert len(words("汉" * 300_000)) == 299_999


def test_unknown_words_are_minus_one():
    ptr, ids = PLAIN.encode(["known stranger known", "", "stranger"], ["known"])
    assert ptr.tolist() == [0, 3, 3, 4]
    assert ids.tolist() == [0, -1, 0, -1]
    corpus = counts.from_ids(ptr, ids, 1, "test")
    assert corpus.doc_of_row.tolist() == [0, -1, -1]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"language": "klingon"}, "two-letter"),
        ({"urls": "hide"}, "urls of Tokenizer"),
        ({"stop_words": "english"}, "language='de'"),
        ({"ngrams": (2, 1)}, "ngrams of Tokenizer"),
        ({"ngrams": (1,)}, "ngrams of Tokenizer"),
        ({"min_chars": 0}, "min_chars"),
        ({"segmenter": "scissors"}, "segmenter"),
    ],
)
def test_wrong_settings_are_named(how, said):
    with pytest.raises(InvalidInput, match=said):
        Tokenizer(**how)


def test_tokenizing_loads_nothing_heavy():
    code = (
        "import sys; from coterie.text.tokenize import Tokenizer\n"
        "Tokenizer().resolve(['some text'])[0].count(['some text'])\n"
        "assert not {'polars', 'pandas', 'sklearn', 'numba', 'simplemma'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------- pruning
def pruned(texts: list[str], **how: object):
    ptr, ids, found = PLAIN.count(texts)
    ids, found, report = prune(ptr, ids, found, **how)
    kept = [[found[i] for i in ids[a:b] if i >= 0] for a, b in pairwise(ptr)]
    return kept, report


def test_pruning():
    texts = ["aa bb aa", "aa cc", "aa bb", ""]
    kept, report = pruned(texts, min_df=2)
    assert kept == [["aa", "bb", "aa"], ["aa"], ["aa", "bb"], []]
    assert (report.n_before, report.n_rare, report.n_common, report.n_words) == (3, 1, 0, 2)
    kept, report = pruned(texts, max_df=0.7)  # of the three texts that have words
    assert kept == [["bb"], ["cc"], ["bb"], []]
    assert report.common == ("aa",)
    assert "removed 1 that occur in more than 2 texts (aa)" in str(report)
    assert pruned(texts)[0] == [["aa", "bb", "aa"], ["aa", "cc"], ["aa", "bb"], []]


def test_defaults_follow_the_size():
    assert [pruning.default_min_df(n) for n in (1, 10_000, 10_001, 1_000_000)] == [1, 1, 2, 3]
    assert pruning.default_max_df(17) == 17


@pytest.mark.parametrize(
    ("texts", "how", "said"),
    [
        (["aa", "bb"], {"min_df": 2}, "min_df=2 .* in only 1 of 2. Use min_df=1"),
        (["aa", "aa"], {"max_df": 1}, "max_df=1 .*Use max_df=1.0"),
        (["aa", "aa bb"], {"min_df": 2, "max_df": 1}, "min_df=2 removes 1 rare word .*max_df=1"),
        (["", "!"], {}, "No text contains a word"),
        ([], {}, "No text contains a word"),
        (["aa"], {"min_df": 0}, "min_df is 0"),
        (["aa"], {"max_df": 1.5}, "max_df is 1.5"),
        (["aa"], {"min_df": "few"}, "min_df is 'few'"),
        (["aa"], {"min_df": True}, "min_df is True"),
    ],
)
def test_nothing_left_names_the_setting(texts, how, said):
    with pytest.raises(InvalidInput, match=said):
        pruned(texts, **how)
