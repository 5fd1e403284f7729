internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVQuery
@testable import KVServer
@testable import KVServerCore

@Suite("Indexes that nobody has asked for") struct AutomaticIndexTests {
  private static let rows = 1_000
  private let path = "/appdata/kid/cities"
  private let filter = #"{"n":7}"#
  private let name = "automatic: n"

  /// A server with entities, of which few match the filter.
  private func serving(isOn: Bool = true) throws -> TestServer {
    let server = try TestServer { $0.makesIndexes = isOn }
    for first in stride(from: 0, to: Self.rows, by: 100) {
      let bodies = (first..<first + 100).map { #"{"_id":"c\#($0)","n":\#($0)}"# }
      let body = "[\(bodies.joined(separator: ","))]"
      try server.send(as: .master, "POST", path, body: body).expect(207)
    }
    return server
  }

  private func ask(_ server: TestServer, times: Int) throws {
    for _ in 0..<times {
      let answer = try server.send(as: .master, "GET", query(path, filter)).expect(200)
      #expect(answer.ids == ["c7"])
    }
  }

  /// The automatic indexes, once their number is what is expected and none is being filled; nil: that does not come.
  private func indexes(_ server: TestServer, count: Int) throws -> [JSONValue]? {
    let limit = Deadline.after(seconds: 60)
    while !limit.hasPassed {
      let list = try server.send(as: .master, "GET", path + "/_indexes").json.arrayValue ?? []
      if list.count == count, list.allSatisfy({ $0["state"] == "ready" }) { return list }
    }
    return nil
  }

  @Test("are made for conditions that are scanned for again and again, and say why")
  func made() throws {
    let server = try serving()
    try ask(server, times: 17)
    let index = try #require(try indexes(server, count: 1)?.first)
    #expect(index["name"]?.stringValue == name && index["keys"] == ["n": 1])
    let reason = try #require(index["automatic"]?.objectValue)
    #expect(reason["scans"] == 17 && reason["returned"] == 17)
    #expect((reason["examined"]?.intValue ?? 0) >= 17 * Int64(Self.rows))
    #expect((reason["bytes"]?.intValue ?? 0) > 0)
    try ask(server, times: 1)
    server.stop()
    let again = try TestServer(in: server.directory) { $0.makesIndexes = true }
    #expect(try indexes(again, count: 1)?.first == index)
  }

  @Test("are not made unless the server was told to")
  func off() throws {
    let server = try serving(isOn: false)
    try ask(server, times: 40)
    #expect(try indexes(server, count: 0) != nil)
  }

  @Test("are not made again when the administrator has removed them")
  func removed() throws {
    let server = try serving()
    try ask(server, times: 17)
    #expect(try indexes(server, count: 1) != nil)
    try server.send(as: .master, "DELETE", target(path + "/_indexes", [("name", name)])).expect(200)
    try ask(server, times: 40)
    try server.send(as: .master, "PUT", path + "/_indexes", body: #"{"keys":{"m":1}}"#).expect(200)
    let left = try #require(try indexes(server, count: 1)?.first)
    #expect(left["name"]?.stringValue == "m_1" && left["automatic"] == nil)
  }

  @Test("take no place of those that the administrator may add, and none twice")
  func places() throws {
    let rules = IndexLedger.Rules()
    let wanted = try (0..<rules.maxIndexes).map { try Self.automatic("a\($0)") }
    let own = try (1..<CollectionIndex.maxCount).map {
      try IndexSpec(parsing: "{\"keys\":{\"m\($0)\":1}}")
    }
    let one = try IndexSpec(parsing: #"{"keys":{"x":1}}"#)
    #expect(try CollectionIndex.addition(of: one, beside: own + wanted).get() == .make)
    func isNew(_ member: String, beside known: [IndexSpec]) throws -> Bool? {
      CollectionIndex.isNew(automatic: try Self.automatic(member), beside: known, within: rules)
    }
    #expect(try isNew("a7", beside: own + wanted.prefix(7)) == true)
    #expect(try isNew("a7", beside: own + wanted) == nil)
    #expect(try isNew("b", beside: wanted) == false)
    #expect(try isNew("m1", beside: own) == false)
  }

  @Test("become the administrator's when he asks for the same keys, and are never dropped then")
  func takenOver() throws {
    let server = try serving()
    try ask(server, times: 17)
    #expect(try indexes(server, count: 1) != nil)
    let body = #"{"keys":{"n":1},"name":"own"}"#
    for _ in 0..<2 {
      let own = try server.send(as: .master, "PUT", path + "/_indexes", body: body).expect(200)
      #expect(own.json["state"] == "ready" && own.json["automatic"] == nil)
    }
    #expect(try indexes(server, count: 1)?.first?["name"] == "own")
    try ask(server, times: 20)
    try write(server, times: 41)
    #expect(try indexes(server, count: 1)?.first?["name"] == "own")
    let explain = [("X-Kvstored-Explain", "true")]
    let answer = try server.send(as: .master, "GET", query(path, filter), headers: explain)
    #expect(answer.headers["x-kvstored-explain"]?.contains(#""access":"index""#) == true)
  }

  @Test("become the administrator's under the same name as well")
  func takenOverByName() throws {
    let known = try Self.automatic("n")
    let own = try IndexSpec(parsing: #"{"keys":{"n":1},"name":"automatic: n"}"#)
    #expect(try CollectionIndex.addition(of: own, beside: [known]).get() == .takeOver(known.name))
    let other = try IndexSpec(parsing: #"{"keys":{"m":1},"name":"automatic: n"}"#)
    #expect(throws: ServerError.self) {
      try CollectionIndex.addition(of: other, beside: [known]).get()
    }
    #expect(try CollectionIndex.addition(of: own, beside: [own, known]).get() == .nothing)
  }

  private static func automatic(_ member: String) throws -> IndexSpec {
    try #require(IndexSpec(automatic: [.init(path: Path(member), ascending: true)]))
  }

  @Test("are dropped when they cost writes more than they save")
  func dropped() throws {
    let server = try serving()
    try ask(server, times: 17)
    #expect(try indexes(server, count: 1) != nil)
    try write(server, times: 41)
    #expect(try indexes(server, count: 0) != nil)
  }

  /// Writes 100 entities, so many times, and has what that costs looked at.
  private func write(_ server: TestServer, times: Int) throws {
    let body = "[\((0..<100).map { "{\"m\":\($0)}" }.joined(separator: ","))]"
    for _ in 0..<times { try server.send(as: .master, "POST", path, body: body).expect(207) }
    // A scan has what was noted looked at.
    try server.send(as: .master, "GET", query(path, #"{"other":1}"#)).expect(200)
  }
}
