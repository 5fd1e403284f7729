internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVAppSync

@Suite("An item of the backend becomes a record") struct RecordCopierTests {
  private func copy(_ item: String) -> (record: String, isDeletion: Bool) {
    Array(item.utf8).withBorrowedBytes { bytes in
      var out: [UInt8] = []
      var copier = RecordCopier(ByteScanner(bytes))
      copier.copy(objectAt: 0, to: &out)
      return (String(decoding: out, as: UTF8.self), copier.isDeletion)
    }
  }

  @Test(
    "without what is null, the name of its type, and that it is not deleted",
    arguments: [
      (#"{"id":"a","n":1}"#, #"{"id":"a","n":1}"#),
      (#"{"id":"a","note":null,"n":1}"#, #"{"id":"a","n":1}"#),
      (#"{"note":null}"#, "{}"),
      ("{}", "{}"),
      (#"{ "a" : null , "b" : [ ] , "c" : { } }"#, #"{"b" : [],"c" : {}}"#),
      (#"{"__typename":"Task","id":"a","_deleted":null}"#, #"{"id":"a"}"#),
      (#"{"id":"a","_deleted":false,"_version":2}"#, #"{"id":"a","_version":2}"#),
      (#"{"at":{"lat":1,"alt":null,"in":{"x":null}}}"#, #"{"at":{"lat":1,"in":{}}}"#),
      (
        #"{"all":[{"a":null,"b":2},null,[{"c":null}],3]}"#,
        #"{"all":[{"b":2},null,[{"c":null}],3]}"#
      ),
      (#"{"text":"null, {\"a\":null}","n":null}"#, #"{"text":"null, {\"a\":null}"}"#),
      (
        #"{"inner":{"__typename":"Place","_deleted":false}}"#,
        #"{"inner":{"__typename":"Place","_deleted":false}}"#
      ),
    ]) func copies(_ item: String, _ record: String)
  {
    #expect(copy(item) == (record, false))
  }

  @Test("and a deletion says so") func deletion() {
    #expect(copy(#"{"id":"a","_deleted":true,"n":null}"#) == (#"{"id":"a","_deleted":true}"#, true))
  }

  @Test("as a tree of values says, whatever is in it") func random() throws {
    var random = Seed()
    let seed = "\(random)"
    for _ in 0..<2_000 {
      let item = Self.object(depth: 3, &random)
      let record = try JSONValue(parsing: copy(JSONValue.object(item).text).record)
      #expect(record == .object(Self.stripped(item)), "\(seed): \(JSONValue.object(item).text)")
    }
  }

  private static func object(depth: Int, _ random: inout Seed) -> JSONObject {
    let names = ["a", "b", "_c", "_deleteD", "é\"", "d"].shuffled(using: &random)
    return JSONObject(
      names.prefix(Int.random(in: 0...6, using: &random)).map {
        JSONObject.Member($0, value(depth: depth, &random))
      })
  }

  private static func value(depth: Int, _ random: inout Seed) -> JSONValue {
    switch Int.random(in: depth > 0 ? 0...7 : 2...7, using: &random) {
    case 0: .object(object(depth: depth - 1, &random))
    case 1:
      .array(
        (0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: depth - 1, &random) })
    case 2, 3: .null
    case 4: .int(.random(in: -9...9, using: &random))
    case 5: .double(0.5)
    case 6: .string(["", "null", "\\\"}", "[n"].randomElement(using: &random) ?? "")
    default: .bool(.random(using: &random))
    }
  }

  /// What a copy has, by its definition.
  private static func stripped(_ object: JSONObject) -> JSONObject {
    JSONObject(
      object.members.filter { !$0.value.isNull }.map { member in
        switch member.value {
        case .object(let inner): JSONObject.Member(member.name, .object(stripped(inner)))
        case .array(let elements):
          JSONObject.Member(
            member.name, .array(elements.map { $0.objectValue.map { .object(stripped($0)) } ?? $0 })
          )
        default: member
        }
      })
  }
}
