internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Access lists") struct ACLTests {
  @Test("keep what they were told, groups, roles and unknown members included")
  func roundTrip() throws {
    let acl = try read(
      #"{"r":["a"],"w":["b","c"],"gr":false,"gw":true,"groups":{"r":["g"]},"roles":{},"creator":"u"}"#
    )
    #expect(acl.readers == ["a"] && acl.writers == ["b", "c"])
    #expect(acl.everybodyReads == false && acl.everybodyWrites == true)
    #expect(acl.groupReaders == ["g"] && acl.groupWriters.isEmpty)
    #expect(
      String(decoding: acl.json, as: UTF8.self)
        == #"{"creator":"u","gr":false,"gw":true,"r":["a"],"w":["b","c"],"groups":{"r":["g"]},"roles":{}}"#
    )
  }

  @Test("have at most 1,000 names in all, and 64 KiB")
  func limit() throws {
    func list(_ count: Int) -> String {
      "[" + (0..<count).map { "\"\($0)\"" }.joined(separator: ",") + "]"
    }
    let most =
      "{\"r\":\(list(500)),\"w\":\(list(400)),\"groups\":{\"r\":\(list(60)),\"w\":\(list(40))}}"
    #expect(try read(most).readers.count == 500)
    let long = String(repeating: "x", count: ACL.maxBytes)
    for text in [
      "{\"r\":\(list(1001))}", "{\"w\":\(list(501)),\"groups\":{\"w\":\(list(500))}}",
      "{\"r\":[\"\(long)\"]}", "{\"roles\":\"\(long)\"}",
    ] {
      #expect(throws: ServerError.self) { try read(text) }
      // What an earlier version has stored stays in force.
      let stored = try Payload(text).withBytes { try ACL(parsing: $0, isStored: true) }
      #expect(stored.readers.count + stored.writers.count > 0 || text.contains("roles"))
    }
  }

  @Test("take null as if the member were missing")
  func null() throws {
    let acl = try read(#"{"r":null,"gr":null}"#)
    #expect(acl.readers.isEmpty && acl.everybodyReads == nil)
  }

  @Test(
    "are refused with members of the wrong type",
    arguments: [
      #"{"r":"a"}"#, #"{"w":[1]}"#, #"{"gr":1}"#, #"{"gw":"true"}"#, #"{"creator":7}"#, "[]",
      #"{"groups":["g"]}"#, #"{"groups":{"w":"g"}}"#,
    ])
  func misuse(text: String) throws {
    do {
      _ = try read(text)
      Issue.record("accepted \(text)")
    } catch {
      #expect(error.code == .inputValidationFailed)
    }
  }

  @Test("name the member that they are refused for", arguments: ["r", "w"])
  func messages(list: String) {
    for (text, path) in [
      ("{\"\(list)\":1}", "_acl.\(list)"), ("{\"groups\":{\"\(list)\":1}}", "_acl.groups.\(list)"),
    ] {
      do {
        _ = try read(text)
        Issue.record("accepted \(text)")
      } catch {
        #expect(error.debug == "\(path) must be an array of ids")
      }
    }
  }

  private func read(_ text: String) throws(ServerError) -> ACL {
    try Payload(text).withBytes { (bytes) throws(ServerError) in try ACL(parsing: bytes) }
  }
}

@Suite("Permissions") struct PermissionsTests {
  @Test("are by default: all create and read, the creator changes and deletes")
  func defaults() {
    #expect(
      Permissions().json.text
        == #"{"create":"always","read":"shared","update":"acl","delete":"acl"}"#)
  }

  @Test("change only what is named")
  func applying() throws {
    var permissions = Permissions()
    try permissions.apply(["read": "never", "delete": "creator"])
    #expect(permissions.read == .never && permissions.delete == .creator)
    #expect(permissions.create == .always && permissions.update == .acl)
  }

  @Test("refuse rules that make no sense for an operation")
  func misuse() {
    for object: JSONObject in [
      ["create": "acl"], ["update": "shared"], ["read": "sometimes"], ["read": 1],
      ["fly": "always"],
    ] {
      var permissions = Permissions()
      #expect(throws: ServerError.self) { try permissions.apply(object) }
    }
  }
}
