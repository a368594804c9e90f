"""Stop words are closed-class words, the user may choose others, and the notes say what was left out."""

from pathlib import Path
from typing import Any

import pytest
from test_cli import FAST, cli  # noqa: F401

import coterie
from coterie import Tokenizer
from coterie.errors import InvalidInput
from coterie.text import languages, stopping

# Words with a meaning of their own; many of them are in common lists of stop words.
CONTENT = {
    "en": """
        order problem work help name number system top new good account act address age air amount
        answer area arrive ask back bad balance bank beginning believe best better big bill billion
        blood board body book bottom box boy bring brother build business buy call car card care
        case cash cause center change charge check child city class clear click close cold color
        come company computer cost country course cry date day dead deal death delivery describe
        detail die different door drive early eat effect empty end error example face fact family
        fast father fee find fire fix follow food force form found free friend front full game
        general girl give go great ground group grow half hand happy hard head health hear heart
        heat high hold home hope hot hour house idea important index information interest invention
        issue job join keep key kind know known land language large last late law lead learn left
        letter life light like line list little live long look loss lost love low make man map mean
        member message microsoft mill million mind money month mother move mug music near-miss
        necessary need net night novel null old open page part pay people phone place plan play
        point power present price provided question rate read recent refund research result right
        ring room run safe sale school seconds section see sent service shell show sick side
        significant similar site small state stop strong suggest table take talk tax test text thank
        thick thin thing third thought time tip today town trade travel try turn two use useful
        value view wait walk want war water way web website well white whole width wife window wish
        woman wonder word words world write wrong year young zero
        """,
    "de": """
        arbeit auftrag beispiel beste bestellung bild ehe einfach ende fehler frage frau geld
        gemacht gesagt gross groß gut gute haus hilfe hoch jahr jahre kind kurz lang leben leicht
        leute macht mann mensch mensche möglich name neu neue neuen nummer ort recht richtig sache
        sagt schlecht schnell seite stadt stelle tag tage teil uhr vergangene weit welt wichtig zahl
        zeit zurück zwei zweite
        """,
    "fr": """
        ancien beau besoin bon bonne chose commande compte début droite erreur exemple fait femme
        fin fois fort grand haut heure homme jeu jour lieu long monde mot mois nom nouveau nouvelle
        nombre numéro parole partie personne personnes pièce premier problème question sujet temps
        travail valeur vente vie ville
        """,
    "es": """
        año años ayuda bien buen buena bueno cuenta día días dinero embargo empleo ejemplo error
        estado excelente fin general grande grandes hora hombre lado lugar mal manera mayor mejor
        momento mujer mundo nombre nueva nuevo nuevos número parte pedido persona poder primer
        primera problema pregunta tiempo total trabajar trabajo verdad vida
        """,
    "it": """
        anno anni aiuto bene buono casa conto denaro errore esempio fine giorno giorni gente gruppo
        lavoro luogo lungo mese mondo nome numero nuovo nuova ora ordine ore parte persona persone
        posto potere problema punto secondo stato tempo uomo valore vita volta
        """,
    "pt": """
        ajuda ano anos apoio boa bom bons caso coisa conta debaixo dia dinheiro direita erro estado
        exemplo fim final grande grandes grupo hora inicio local longe lugar maior maioria menor mês
        momento mundo nome nova novo novos número parte pedido pessoa poder ponto porta posição
        primeira primeiro problema sistema tempo trabalho tentar valor vida
        """,
    "nl": """
        bestelling betaling dag dagen deel fout geld gebruik goed grote help hulp huis jaar kind
        land leven lang mensen naam nieuw nieuwe nummer plaats prijs probleem rekening stad systeem
        tijd vraag vrouw werk week wereld wilde woord
        """,
    "ru": """
        большой вопрос время год года город день деньги дело друг жизнь заказ имя книга конец лет
        место мир номер новый новая ошибка первый помощь проблема работа рука система слово случай
        сторона счет счёт товар труд хороший хорошо человек часть число
        """,
}  # fmt: skip
DROPPED = {
    "en": "the of and you we would can't isn't cannot whose because onto",
    "de": "der die das und nicht wir euch würde könnte zwischen weil",
    "fr": "le la les et nous vous serait avec dans pourquoi",
    "es": "el la los y nosotros vosotros sería con dónde porque",
    "it": "il gli della e noi sarebbe nella perché",
    "pt": "o os pelas e nós seria dentro-não com onde porque",
    "nl": "de het een en wij zou zonder waarom",
    "ru": "и в не мы они который чтобы между",
}


def test_two_hundred_english_words() -> None:
    assert len(CONTENT["en"].split()) >= 200


@pytest.mark.parametrize("language", CONTENT)
def test_words_with_a_meaning_survive(language: str) -> None:
    words = set(CONTENT[language].split())
    assert words & languages.stop_words(language) == set()


@pytest.mark.parametrize("language", DROPPED)
def test_grammar_is_left_out(language: str) -> None:
    words = {word for word in DROPPED[language].split() if "-" not in word}
    assert words <= languages.stop_words(language)


def test_other_languages_keep_their_long_and_their_telling_words() -> None:
    assert {"och", "att"} <= languages.stop_words("sv")
    assert not {"viktig", "tidigare"} & languages.stop_words("sv")
    assert "的" in languages.stop_words("zh")
    assert not {"开始", "结果"} & languages.stop_words("zh")
    assert languages.stop_words(None) == frozenset()


def test_the_files_are_those_that_are_listed() -> None:
    folder = Path(stopping.__file__).parent / "stop_words"
    assert {path.stem for path in folder.glob("*.txt")} == stopping.LISTED


TEXTS = ["how do I order a new card", "my new card is lost", "what is the exchange rate"] * 4


def test_the_notes_say_what_was_left_out() -> None:
    (note,) = [n for n in coterie.cluster(TEXTS).notes if n.startswith("Left out")]
    assert "of English: is, " in note
    assert "how" in note
    assert "stop_words=None" in note


@pytest.mark.parametrize("nothing", [None, "none"])
def test_no_stop_words(nothing: Any) -> None:
    found = coterie.cluster(TEXTS, stop_words=nothing)
    assert "how" in found.vectorizer.words
    assert not [n for n in found.notes if n.startswith("Left out")]


def test_own_stop_words_from_a_list_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("# ours\nCard\norder lost\n", encoding="utf-8-sig")
    for spec in (["Card", "order", "lost"], path, str(path)):
        found = coterie.cluster(TEXTS, stop_words=spec)
        assert not {"card", "order", "lost"} & set(found.vectorizer.words)
        assert "how" in found.vectorizer.words
        assert any(n.startswith("Left out as stop words: card, ") for n in found.notes)


@pytest.mark.parametrize("spec", ["english", 7, [1, 2], {"a": 1}, b"the"])
def test_what_is_no_list_of_stop_words(spec: Any) -> None:
    with pytest.raises(InvalidInput, match="stop_words"):
        coterie.cluster(TEXTS, stop_words=spec)


@pytest.mark.parametrize(("content", "said"), [(b"", "no words"), (b"caf\xe9", "not UTF-8")])
def test_files_that_hold_no_stop_words(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "w.txt"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        coterie.cluster(TEXTS, stop_words=path)


def test_a_tokenizer_has_its_own() -> None:
    with pytest.raises(InvalidInput, match="no effect with a tokenizer"):
        coterie.cluster(TEXTS, tokenizer=Tokenizer(), stop_words=["card"])


def test_on_the_command_line(cli: Any) -> None:  # noqa: F811
    Path("t.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    Path("w.txt").write_text("card\n", encoding="utf-8")
    said = cli("fit", "t.txt", "-o", "a", *FAST)
    assert "--stop-words none" in said.out
    assert (
        "Left out as stop words: card"
        in cli("fit", "t.txt", "-o", "b", "--stop-words", "w.txt", *FAST).out
    )
    assert "Left out" not in cli("fit", "t.txt", "-o", "c", "--stop-words", "none", *FAST).out
    said = cli("fit", "t.txt", "-o", "d", "--stop-words", "nowhere.txt", *FAST)
    assert said.code == 1
    assert "--stop-words is 'nowhere.txt', but there is no such file" in said.err
