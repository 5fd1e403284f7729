import KVQuery
import Testing

@Suite("Names") struct NamesTests {
  private let keys = KeyMap(["title": "t", "width": "dimensions"])

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
