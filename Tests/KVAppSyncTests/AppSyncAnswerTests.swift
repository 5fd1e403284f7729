internal import KVBase
internal import KVJSON
internal import KVSync
import Testing

@testable import KVAppSync

@Suite("An answer of the backend") struct AppSyncAnswerTests {
  private static let format = RecordFormat(version: ["_version"], versionOrder: .integer)

  private func page(_ answer: String) throws -> SyncPage? {
    let answer = try AppSyncAnswer(Array(answer.utf8))
    return try answer.withObject(of: "syncTasks") { (scanner, members) throws(StoreError) in
      try SyncPage(
        members, of: scanner, format: Self.format, hasErrors: !answer.errors.isEmpty)
    } ?? nil
  }

  @Test(
    "is refused if it is none",
    arguments: [
      "", "null", "[]", "1", "{}", #"{"data":null}"#, #"{"data":1}"#, #"{"data":{}"#,
      #"{"data":{}} x"#, #"{"data":{"a":}}"#, "{\"data\":{}}\0", #"{"errors":[]}"#,
    ])
  func refuses(_ text: String) {
    #expect { try AppSyncAnswer(Array(text.utf8)) } throws: { ($0 as? StoreError)?.kind == .proto }
  }

  @Test("may have errors beside data, or in place of it") func errors() throws {
    let both = try AppSyncAnswer(
      Array(#"{"errors":[{"message":"no"}],"data":{"a":null,"b":null}}"#.utf8))
    #expect(both.isEmpty)
    #expect(both.errors == [["message": "no"]])
    #expect(try both.data() == ["a": .null, "b": .null])
    #expect(try !AppSyncAnswer(Array(#"{"data":{"a":null,"b":0}}"#.utf8)).isEmpty)
  }

  @Test("to a sync query is a page: records, deletions, the next page, and when it began")
  func pages() throws {
    let page = try #require(
      try page(
        #"""
        {"data":{"syncTasks":{"nextToken":"t\u0031","startedAt":1716292800000,"items":[
          {"id":"a","_version":1,"note":null},{"id":"b","_version":2,"_deleted":true}]}}}
        """#))
    #expect(page.next == PageToken("t1"))
    #expect(page.moment == BackendMoment("1716292800000"))
    #expect(page.items.items.map(\.key) == ["a", "b"])
    #expect(page.items.items.map(\.version) == [1, 2])
    #expect(page.items.items.map(\.isDeleted) == [false, true])
    let records = try page.items.withRecords { (batch) throws(StoreError) in
      batch.outlines.map { String(decoding: batch.record($0), as: UTF8.self) }
    }
    #expect(records == [#"{"id":"a","_version":1}"#])
  }

  @Test(
    "leaves out what cannot be read, and says so",
    arguments: [
      "null", "1", "[]", "{}", #"{"id":"b"}"#, #"{"_version":1}"#, #"{"id":"","_version":1}"#,
      #"{"id":1,"_version":1}"#, #"{"id":"b","_version":"1"}"#, #"{"id":"b","_version":1.5}"#,
    ])
  func unreadable(_ item: String) throws {
    let page = try #require(
      try page(
        #"{"data":{"syncTasks":{"items":[{"id":"a","_version":1},"# + item
          + #",{"id":"c","_version":1}],"startedAt":1}}}"#))
    #expect(page.items.items.map(\.key) == ["a", "c"])
    #expect(page.isCut)
    #expect(page.moment == nil)
  }

  @Test("is no page without items, a start, or with a token that is no text") func noPage() throws {
    for text in ["null", "[]", "{}", #"{"items":null,"startedAt":1}"#] {
      #expect(try page(#"{"data":{"syncTasks":"# + text + "}}") == nil, "\(text)")
    }
    for text in [
      #"{"items":[]}"#, #"{"items":[],"startedAt":"1"}"#,
      #"{"items":[],"startedAt":1,"nextToken":1}"#, #"{"items":[],"startedAt":1,"nextToken":""}"#,
    ] {
      #expect(throws: StoreError.self, "\(text)") {
        try page(#"{"data":{"syncTasks":"# + text + "}}")
      }
    }
  }
}
