import KVJSON
import KVQuery
import Testing

@Suite("Names") struct NamesTests {
  private let keys: KeyMap = ["title": "t", "width": "dimensions"]

  @Test("of an application are replaced in filters, at the top of entities")
  func filters() throws {
    let query = try Query(
      filter:
        #"{"title":1,"$or":[{"width.title":{"$gt":2}},{"a.title":{"$elemMatch":{"title":1}}}]}"#,
      modifiers: #"{"sort":{"title":-1,"width.x":1},"fields":["width","title.y","t"]}"#)
    #expect(
      query.renamed(by: keys).text
        == #"{"filter":{"t":1,"$or":[{"dimensions.title":{"$gt":2}},{"a.title":{"$elemMatch":{"title":1}}}]},"sort":{"t":-1,"dimensions.x":1},"fields":["dimensions","t.y","t"]}"#
    )
    #expect(query.renamed(by: KeyMap()) == query)
  }

  @Test(
    "of an application are replaced in formats too",
    arguments: [
      ("title = 1 AND entityId = 'x'", #"{"t":1,"_id":"x"}"#),
      ("title > width.title", ##"{"$predicate":"#t > #dimensions.#title"}"##),
      (
        "SUBQUERY(title, $x, $x.title = width).@count = width[title]",
        ##"{"$predicate":"SUBQUERY(#t, $x, $x.#title == #dimensions).@count == #dimensions[#t]"}"##
      ),
      (
        "TERNARY(title = 1, abs(title), {title, 2}) = title.@sum.width",
        ##"{"$predicate":"TERNARY(#t == 1, abs(#t), {#t, 2}) == #t.@sum.#width"}"##
      ),
    ] as [(String, String)])
  func formats(format: String, filter: String) throws {
    #expect(try Query(format: format).renamed(by: keys).filterText == filter)
  }

  @Test("that are special are mapped in a format's order and fields as in the format")
  func specialNames() throws {
    let query = try Query(
      format: "acl.creator = 'u'",
      modifiers: #"{"sort":{"metadata.lastModifiedTime":-1},"fields":["acl.readers","a.acl"]}"#)
    #expect(
      query.text
        == #"{"filter":{"_acl.creator":"u"},"sort":{"_kmd.lmt":-1},"fields":["_acl.r","a.acl"]}"#)
  }
}

@Suite("Names that only look the same") struct LookalikeNamesTests {
  private static let composed = "\u{E9}"
  private static let decomposed = "e\u{301}"

  @Test(
    "make different queries",
    arguments: [
      #"{"@":1}"#, #"{"a":"@"}"#, #"{"a":{"$in":["@"]}}"#, #"{"a":{"$regex":"^@"}}"#,
      #"{"a":{"$elemMatch":{"@":1}}}"#, #"{"a":{"@":1}}"#, #"{"$text":{"$search":"@"}}"#,
      ##"{"$predicate":"#@.x > #b"}"##, ##"{"$predicate":"#b.@ > #c"}"##,
      #"{"$predicate":"SUBQUERY(b, $@, $@.x > c).@count == 1"}"#,
    ])
  func queries(_ pattern: String) throws {
    func query(_ name: String) throws -> Query {
      // Without the character that functions begin with.
      let parts = pattern.components(of: "@")
      return try Query(filter: parts.joined(separator: name))
    }
    let (first, second) = (try query(Self.composed), try query(Self.decomposed))
    #expect(first != second)
    #expect(first == (try query(Self.composed)))
    #expect(Array(first.text.utf8) != Array(second.text.utf8))
  }

  @Test("are replaced each by its own") func keyMap() throws {
    let keys: KeyMap = [Self.composed: "a", Self.decomposed: "b"]
    let query = try Query(
      filter: #"{"\#(Self.decomposed)":1,"\#(Self.composed)":2}"#,
      modifiers: #"{"sort":{"\#(Self.decomposed)":1}}"#)
    #expect(
      query.renamed(by: keys).text == #"{"filter":{"b":1,"a":2},"sort":{"b":1}}"#)
    let format = try Query(format: "#\(Self.decomposed) > #\(Self.composed)")
    #expect(format.renamed(by: keys).filterText == ##"{"$predicate":"#b > #a"}"##)
  }

  @Test("are two keys of groups, two fields and two sort keys") func members() throws {
    let entity = Array(#"{"_id":"1","\#(Self.composed)":1,"\#(Self.decomposed)":2}"#.utf8)
    let query = try Query(filter: nil, modifiers: #"{"fields":["\#(Self.decomposed)"]}"#)
    let kept = try #require(query.projection).apply(to: entity)
    #expect(Array(kept) == Array(#"{"_id":"1","\#(Self.decomposed)":2}"#.utf8))
    var groups = Groups(
      try Grouping(parsing: #"{"keys":["\#(Self.composed)","\#(Self.decomposed)"]}"#))
    groups.add(entity)
    #expect(groups.results == [[Self.composed: 1, Self.decomposed: 2]])
  }
}

extension String {
  /// The parts between a mark that is no part of a name such as `@count`.
  fileprivate func components(of mark: Character) -> [String] {
    var parts = [""]
    var rest = self[...]
    while let first = rest.popFirst() {
      if first == mark, !rest.hasPrefix("count") {
        parts.append("")
      } else {
        parts[parts.count - 1].append(first)
      }
    }
    return parts
  }
}
