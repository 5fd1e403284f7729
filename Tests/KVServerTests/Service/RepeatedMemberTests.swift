import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("A member that comes twice") struct RepeatedMemberTests {
  @Test("is refused in an entity over HTTP, and nothing is stored") func refused() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    let path = "/appdata/kid/notes"
    let entity = #"{"a":{"b":[{"c":1,"d":2,"c":3}]}}"#
    for (method, target) in [("POST", path), ("PUT", path + "/x")] {
      let answer = try server.send(as: ana, method, target, body: entity)
      #expect(answer.status == 400)
      #expect(answer.text.contains("a.b[0].c occurs twice"), "\(answer.text)")
    }
    let some = try server.send(as: ana, "POST", path, body: #"[{"_id":"good"},\#(entity)]"#)
    #expect(some.status == 207 || some.status == 400)
    #expect(try server.send(as: ana, "GET", path).text.contains("occurs twice") == false)
    #expect(try server.send(as: ana, "GET", path).text.contains(#""c""#) == false)
  }
}
