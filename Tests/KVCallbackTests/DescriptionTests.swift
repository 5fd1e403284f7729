import KVCallback
import KVJSON
import KVSync
import Testing

@Suite("What a backend says of itself") struct DescriptionTests {
  @Test("is nothing by default: an _id as text, and no version") func defaults() throws {
    let format = try BackendDescription([:]).format
    #expect(format == RecordFormat(id: [.init("_id")]))
    #expect(format.reservedNames == ["_id"])
  }

  @Test("names the members of the id and of the version") func format() throws {
    let simple = try BackendDescription(["id": "key", "version": "rev"]).format
    #expect(simple == RecordFormat(id: [.init("key")], version: ["rev"]))
    let description: JSONObject = [
      "id": ["tenant", ["name": "number", "kind": "integer"]],
      "version": ["path": ["meta", "rev"], "kind": "integer"], "backendMembers": ["by"],
      "permissions": "acl", "creator": "by",
    ]
    let rich = try BackendDescription(description).format
    #expect(
      rich
        == RecordFormat(
          id: [.init("tenant"), .init("number", .integer)], version: ["meta", "rev"],
          versionOrder: .integer, backendMembers: ["by"], permissions: "acl", creator: "by"))
    let times = try BackendDescription(["version": ["path": "at", "ordered": true]]).format
    #expect(times.versionOrder == .text)
  }

  @Test(
    "must be what it can be",
    arguments: [
      #"{"id":""}"#, #"{"id":[]}"#, #"{"id":3}"#, #"{"id":{"name":"a","kind":"real"}}"#,
      #"{"id":{"kind":"text"}}"#, #"{"version":7}"#, #"{"version":{"path":"a","ordered":1}}"#,
      #"{"id":"a","version":"a"}"#, #"{"id":["a","a"]}"#, #"{"backendMembers":"a"}"#,
      #"{"permissions":[]}"#, #"{"queries":1}"#, #"{"pageSize":0}"#, #"{"requestsAtOnce":65}"#,
      #"{"unknown":1}"#,
    ])
  func refusals(_ text: String) throws {
    let object = try #require(JSONValue(parsing: text).objectValue)
    #expect(throws: StoreError.self) { try BackendDescription(object) }
  }
}
