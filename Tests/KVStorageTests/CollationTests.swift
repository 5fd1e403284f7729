import KVBase
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Order by language") struct CollationTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws {
    storage = try openStorage(in: directory)
    let names = ["Zoe", "Ärger", "anna", "ärger", "Öl", "zon"]
    try storage.store(
      names.enumerated().map { #"{"_id":"\#($0.offset + 1)","name":"\#($0.element)","n":1}"# })
  }

  @Test(
    "is the same with an index and without",
    arguments: [
      ("{}", #"{"sort":{"name":1}}"#, "Zoe anna zon Ärger Öl ärger"),
      ("{}", #"{"sort":{"name":1},"collation":"de"}"#, "anna ärger Ärger Öl Zoe zon"),
      ("{}", #"{"sort":{"name":-1},"collation":"sv"}"#, "Öl Ärger ärger zon Zoe anna"),
      ("{}", #"{"sort":{"name":1},"collation":"de","skip":1,"limit":3}"#, "ärger Ärger Öl"),
      (
        #"{"name":{"$gte":"b","$lt":"za"}}"#,
        #"{"sort":{"name":1},"collation":{"locale":"de","ignoreCase":true}}"#, "Öl"
      ),
      (
        #"{"name":"ARGER"}"#,
        #"{"collation":{"locale":"de","ignoreCase":true,"ignoreAccents":true}}"#, "Ärger ärger"
      ),
      (#"{"n":1}"#, #"{"sort":{"n":1,"name":1},"limit":2,"collation":"sv"}"#, "anna Zoe"),
    ])
  func answers(filter: String, modifiers: String, expected: String) throws {
    for keys in ["", #"{"name":1}"#, #"{"n":1,"name":1}"#, #"{"name":-1}"#] {
      if !keys.isEmpty { try storage.createIndex(keys) }
      let found = try storage.find(filter, modifiers)
      #expect(found.map { name(of: $0) }.joined(separator: " ") == expected, "\(keys)")
    }
  }

  private func name(of entity: String) -> String {
    entity.split(separator: "\"").drop { $0 != "name" }.dropFirst(2).first.map(String.init) ?? ""
  }

  @Test("rows of groups are ordered by it") func groups() throws {
    let filter = #"{"name":{"$gte":"ö","$collation":"de"}}"#
    let groups = try storage.group(
      Grouping(parsing: #"{"keys":["name"],"aggregates":{"x":"count"}}"#), of: query(filter),
      in: "c", writtenSince: nil)
    #expect(groups.count == 3)
    #expect(try storage.count(query(filter), in: "c", writtenSince: nil) == 3)
  }
}
