"""Orders and compares random texts by language, and compares the answers with those of ICU:

* of the local store, without an index and with one that has the collation,
* of kvstored, through a network store, which is asked for one case in ten.

    Tests/Differential/languages.py [cases]        KV_TEST_SEED=… repeats a run

ICU's data may be a version later than ours (CLDR 42 and 41): the texts consist of letters that
both know.
"""

from __future__ import annotations

import random
import sys
from typing import Any, NamedTuple

from harness import main  # isort: skip: makes the packages below be found

import kvstore

# Debian's package for the system's Python, which the environment of the tests does not look into.
sys.path.append("/usr/lib/python3/dist-packages")
import icu  # type: ignore[import-not-found]

LANGUAGES = (
    *("root", "cs", "cy", "da", "de", "de@phonebook", "en", "eo", "es", "es@traditional", "et"),
    *("fi", "fil", "fo", "fr", "hr", "hu", "is", "lv", "nb", "nn", "pl", "ro", "sk", "sl", "sq"),
    *("sv", "tr"),
)
LATIN = (
    "aAbBcCdDeghHijklLmnNorsStuvwyzZäÄöÖüÜßåÅøØæÆéèêñÑçÇčĆšžđÐłńőűı"  # noqa: RUF001
    "İçġħþŋ'- .,_0129ﬁǆ\u0301\u0308\u0323\u00ad"
)
OTHERS = "ΑαβΩωДдЯяёהאあアカｶ漢字한글ㅎ"
TEXTS = 60


class Case(NamedTuple):
    """Texts, and the collation that orders them."""

    locale: str
    ignores_case: bool
    ignores_accents: bool
    texts: list[str]

    @property
    def collation(self) -> dict[str, Any]:
        """The collation as a query has it."""
        options = {"ignoreCase": self.ignores_case, "ignoreAccents": self.ignores_accents}
        return {"locale": self.locale, **{name: True for name, on in options.items() if on}}

    def judge(self) -> Any:
        """ICU's collator for it."""
        language, _, kind = self.locale.partition("@")
        name = "" if language == "root" else f"{language}@collation={kind}" if kind else language
        collator = icu.Collator.createInstance(icu.Locale(name))
        strengths = (icu.Collator.TERTIARY, icu.Collator.SECONDARY, icu.Collator.PRIMARY)
        collator.setStrength(strengths[self.ignores_case + self.ignores_accents])
        on = icu.UCollAttributeValue.ON
        collator.setAttribute(icu.UCollAttribute.NORMALIZATION_MODE, on)
        return collator


def random_case(pick: random.Random, number: int) -> Case:
    """Give a case; the languages take turns."""
    locale = LANGUAGES[number % len(LANGUAGES)]
    # ICU puts Cyrillic before Greek for Croatian; here other scripts keep the root's order.
    letters = LATIN if locale == "hr" else LATIN + OTHERS
    # A few letters with their cases, so that texts often differ in little.
    few = "".join(pick.choices(letters, k=pick.randrange(2, 9)))
    few += few.swapcase()
    texts = {"".join(pick.choices(few, k=pick.randrange(7))) for _ in range(TEXTS)}
    level = pick.randrange(3)
    return Case(locale, level > 0, level > 1, sorted(texts))


def disagreement(case: Case, pivot: str, name: str, store: kvstore.Store[Any]) -> str | None:
    """Tell how a store's answers differ from ICU's; None: they agree."""
    judge = case.judge()
    wanted = sorted(range(len(case.texts)), key=lambda n: (judge.getSortKey(case.texts[n]), n))
    query = kvstore.Query(sort={"a": 1}, collation=case.collation)
    found = [int(entity["_id"]) for entity in store.find(query)]
    if found != wanted:
        first = next(n for n in range(len(wanted)) if found[n] != wanted[n])
        pair = [case.texts[order[first]] for order in (found, wanted)]
        return f"{name} has {pair[0]!r} where ICU has {pair[1]!r}"
    query = kvstore.Query(sort={"a": 1}, skip=7, limit=20, collation=case.collation)
    if (page := [int(entity["_id"]) for entity in store.find(query)]) != wanted[7:27]:
        return f"{name} has the page {page} where ICU has {wanted[7:27]}"
    for operator, holds in (("$eq", (0,)), ("$lt", (-1,)), ("$gte", (0, 1))):
        query = kvstore.Query({"a": {operator: pivot}}, collation=case.collation)
        selected = {entity["a"] for entity in store.find(query)}
        expected = {text for text in case.texts if judge.compare(text, pivot) in holds}
        if selected != expected:
            return f"{name} and ICU differ in {operator} {pivot!r}: {selected ^ expected}"
    return None


def run(local: kvstore.Client, online: kvstore.Client, count: int, seed: str) -> int:
    """Run random cases; give how many disagree."""
    stores: dict[str, kvstore.Store[Any]] = {
        "the local store": local.collection("texts"),
        "the local store with an index": local.collection("indexed"),
        "kvstored": online.collection("texts", "network"),
    }
    failed = 0
    for number in range(count):
        pick = random.Random(f"{seed}-{number}")
        case = random_case(pick, number)
        pivot = pick.choice(case.texts)
        for name, store in stores.items():
            if name == "kvstored" and number % 10:
                continue
            store.remove({})
            if name.endswith("an index"):
                store.create_index({"a": 1}, name="a", collation=case.collation)
            store.save_many({"_id": f"{n:03}", "a": text} for n, text in enumerate(case.texts))
            if said := disagreement(case, pivot, name, store):
                failed += 1
                print(f"KV_TEST_SEED={seed}, case {number}, {case.collation}: {said}")
            if name.endswith("an index"):
                query = kvstore.Query({"a": {"$gte": pivot}}, collation=case.collation)
                if (plan := store.explain(query)).indexes != ["a"]:
                    failed += 1
                    print(f"KV_TEST_SEED={seed}, case {number}: no index is used: {plan}")
                store.drop_index("a")
        if failed >= 10:
            break
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], 5_000, run))
