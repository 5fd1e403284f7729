"""What makes the documentation site, and what looks whether it is complete."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from docs import c, completeness, cpp, diagrams, go, stage, swift  # noqa: E402

HEADER = """
/** @defgroup store Stores
 *  One collection. @{ */

/**
 * Saves one entity; see kv_store_find() and #KV_OK.
 *
 *     {"a":1}
 *
 * @param json  an object,
 *              of JSON
 * @return KV_OK, KV_FULL
 */
KV_API kv_status kv_store_save(kv_store *store, const char *json, size_t length,
                               kv_error **error_out);
KV_API kv_status kv_store_save_async(kv_store *store);

/** @} */
"""


def test_a_comment_of_the_header_becomes_markdown() -> None:
    [group] = c.groups(HEADER)
    [item] = group.items
    assert item.names == ["kv_store_save", "kv_store_save_async"]
    lines = "\n".join(c.item_lines(item, {"kv_store_find"}))
    assert "[`kv_store_find()`](#kv_store_find) and `KV_OK`" in lines
    assert '\n    {"a":1}' in lines
    assert "* `json`: an object,\n  of JSON" in lines
    assert "**Returns** `KV_OK`, `KV_FULL`" in lines
    assert "    size_t length,\n    kv_error **error_out);" in lines


def test_each_function_of_the_header_is_in_the_reference() -> None:
    assert list(completeness.functions()) == []
    page = c.page()
    assert "### kv_client_open() { #kv_client_open }" in page
    assert 'id="kv_store_save_async"' in page
    headings = [line for line in page.splitlines() if re.match("#(?:KV|kv)_", line)]
    assert headings == [], "a constant at the start of a line would be a heading"


WRAPPERS = """
namespace kvstore {

namespace detail {
inline int hidden();
}  // namespace detail

/** One collection. */
class Store : public Handle<kv_store> {
 public:
  explicit Store(kv_store *store) : store_(store) {}
  virtual ~Store() = default;

  /** Saves one entity: see kv_store_save() and Store::count(). */
  Result<Text> save(Parameter entity = {}) const {
    return detail::text(kv_store_save, [] { return 1; });
  }
  template <typename Done>
  Result<Request> save_async(Done &&done) const;
  bool count() const noexcept;

 private:
  kv_store *store_;
};

}  // namespace kvstore
"""


def test_a_comment_of_the_wrappers_becomes_markdown(tmp_path: Path) -> None:
    (tmp_path / "kvstore.hpp").write_text(WRAPPERS)
    include, headers = cpp.INCLUDE, cpp.HEADERS
    cpp.INCLUDE, cpp.HEADERS = tmp_path, ["kvstore.hpp"]
    try:
        [store] = cpp.declarations("kvstore.hpp")
        undocumented = list(cpp.undocumented())
    finally:
        cpp.INCLUDE, cpp.HEADERS = include, headers
    assert store.codes == [
        "class Store : public Handle<kv_store>;",
        "explicit Store(kv_store *store);",
    ]
    save, _ = store.members
    assert save.codes == [
        "Result<Text> save(Parameter entity = {}) const;",
        "template <typename Done>\nResult<Request> save_async(Done &&done) const;",
    ]
    lines = "\n".join(cpp.lines_of(save, level=3, owner="Store"))
    assert "### save { #Store-save }" in lines
    assert "[`kv_store_save()`](c.md#kv_store_save)" in lines
    assert "[`Store::count()`](#Store-count)" in lines
    assert undocumented == ["kvstore.hpp: bool count() const noexcept;"]


def test_each_wrapper_is_in_the_reference() -> None:
    assert list(cpp.undocumented()) == []
    page = cpp.page()
    assert "### transact { #Client-transact }" in page
    assert "hidden" not in page
    assert "detail::" not in page


def test_a_symbol_of_swift_becomes_markdown() -> None:
    [find, same, count] = [
        swift.Symbol(
            path=("DataStore", name),
            kind="swift.method",
            code="func find(_ query: Query<Entity> = Query(), options: CallOptions = CallOptions())"
            " -> Entities<Entity>",
            text="Like `DataStore.count(_:)`: see docs/queries.md.\n\n    people.find()",
            file=Path("DataStore.swift"),
            line=line,
        )
        for line, name in enumerate(["find(_:)", "find(_:)", "count(_:)"])
    ]
    anchors = swift.anchors_of([find, same, count])
    assert len(set(anchors.values())) == 3
    lines = "\n".join(swift.lines_of(find, anchors, level=4))
    assert "#### find(\\_:) { #DataStore-find }" in lines
    assert "    options: CallOptions = CallOptions()\n) -> Entities<Entity>" in lines
    assert "[`DataStore.count(_:)`](#DataStore-count): see [queries](../queries.md)." in lines
    assert "\n    people.find()" in lines


def test_each_symbol_of_swift_is_in_the_reference() -> None:
    assert list(swift.undocumented()) == []
    page = swift.page()
    assert page.index("### KVStoreClient {") < page.index("### Configuration {")
    assert "Entities.Iterator" not in page
    parents = {one.path[:-1] for one in swift.symbols() if not one.is_usual}
    types = {one.path for one in swift.symbols() if one.is_type}
    assert parents - types == {()}, "a member would have no place"


def test_a_status_without_a_row_is_missed(tmp_path: Path) -> None:
    (tmp_path / "errors.md").write_text("| `KV_OK` 0 | ")
    pages, completeness.PAGES = completeness.PAGES, tmp_path
    try:
        found = list(completeness.errors())
    finally:
        completeness.PAGES = pages
    assert "docs/errors.md: KV_FULL 32 has no row" in found
    assert not any("KV_OK " in line for line in found)


def test_links_lead_into_the_site_or_to_the_repository() -> None:
    page = ROOT / "docs" / "architecture.md"

    def moved(link: str) -> str:
        return stage.LINK.sub(lambda match: stage.relinked(match, page), link)

    assert moved("[c](../include/kvstore.h)") == "[c](reference/c.md)"
    assert moved("[python](../bindings/python/README.md#a)") == "[python](python.md#a)"
    assert moved("[conflicts.md](conflicts.md)") == "[Conflicts](conflicts.md)"
    assert moved("[t](../scripts/test.py)") == f"[t]({stage.REPOSITORY}/scripts/test.py)"
    assert moved("![r](images/rooms.svg)").count("#only-") == 2


def test_go_declarations_end_where_their_brackets_do() -> None:
    assert not go.ends(["func F("])
    assert go.ends(["func F(", "\ta int, // (", ") error"])


def test_images_are_of_the_diagrams() -> None:
    assert diagrams.stale() == []


@pytest.mark.parametrize(
    ("page", "count"), [("models-capabilities.md", 90), ("results-capabilities.md", 200)]
)
def test_the_tests_that_a_page_of_capabilities_names_exist(page: str, count: int) -> None:
    named = re.findall(r"`([\w/.]+)::(\w+)`", (ROOT / "docs" / page).read_text())
    assert len(named) > count
    for path, name in named:
        # In Python, in Go and Swift, in C and C++.
        found = re.search(rf"(def|func|void) {name}\(", (ROOT / path).read_text())
        assert found, f"{path} has no test {name}"
