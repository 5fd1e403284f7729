"""Text searches: which entities, how well they fit, and why."""

from __future__ import annotations

import pytest

import kvstore
from kvstore import DISTANCE, TEXT_SCORE, F, snippet, text_search


@pytest.fixture
def texts(notes: kvstore.Store) -> kvstore.Store:
    """Give a few texts, with an index of their words and stems."""
    notes.save_many(
        [
            {"_id": "1", "title": "The quick red fox", "at": [0.0, 2.0]},
            {"_id": "2", "title": "Foxes", "body": "They run.", "at": [0.0, 1.0]},
            {"_id": "3", "title": "Running", "body": "A dog runs", "at": [0.0, 0.0]},
        ]
    )
    notes.create_index({"$**": "text"}, language="english")
    return notes


def ids(store: kvstore.Store, query: kvstore.Query) -> str:
    """Give the ids of what a query finds."""
    return "".join(entity["_id"] for entity in store.find(query))


def test_words_are_found(texts: kvstore.Store) -> None:
    assert ids(texts, F.title.search("fox*")) == "12"
    assert ids(texts, F.title.search('"red fox" foxes')) == "1"
    assert ids(texts, text_search("fox* -foxes")) == "1"
    assert ids(texts, text_search("run", language="english")) == "23"
    assert ids(texts, text_search("dog run", all_words=True, language="english")) == "3"
    assert ids(texts, text_search("FOXES", case_sensitive=True)) == ""
    assert ids(texts, text_search("FÖXES", diacritic_sensitive=True)) == ""
    assert texts.explain(text_search("run", language="english")).access == "index"
    assert texts.indexes()[0].language == "english"


def test_results_have_score_and_snippet(texts: kvstore.Store) -> None:
    query = text_search("fox*").by_relevance().computing(score=TEXT_SCORE, why=snippet(words=2))
    assert [(entity["_id"], entity["why"]) for entity in texts.find(query.fields("title"))] == [
        ("2", "<b>Foxes</b>"),
        ("1", "…red <b>fox</b>"),
    ]
    assert [round(entity["score"], 3) for entity in texts.find(query)] == [1.1, 0.625]
    marked = F.title.search("fox*").computing(why=snippet(start="[", end="]", path="title"))
    assert next(iter(texts.find(marked)))["why"] == "The quick red [fox]"
    assert "why" not in texts["1"]


def test_results_have_their_distance(texts: kvstore.Store) -> None:
    near = F["at"].near(0.0, 0.0).computing(metres=DISTANCE)
    assert [round(entity["metres"] / 1000) for entity in texts.find(near)] == [0, 111, 222]
    ordered = kvstore.Query(near, sort={"d": DISTANCE, "_id": 1}, computed={"metres": DISTANCE})
    assert ids(texts, ordered) == "321"


def test_what_cannot_be_is_refused(texts: kvstore.Store) -> None:
    with pytest.raises(kvstore.InvalidError, match=r"no \$text"):
        (F.title == "x").by_relevance()
    with pytest.raises(kvstore.InvalidError, match="at most"):
        text_search("x" * 1_000_000)
    with pytest.raises(kvstore.InvalidError, match="language"):
        text_search("x", language="latin")  # type: ignore[arg-type]
