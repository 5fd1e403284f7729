internal import KVBase
internal import KVJSON
internal import KVTestSupport
internal import Synchronization
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("A collection that is given another name") struct RenameTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let old = "/appdata/kid/notes"
  private let new = "/appdata/kid/letters"

  init() throws {
    server = try TestServer { $0.historyDays = 15 }
    ana = try server.user("ana")
  }

  private func put(_ path: String, _ body: String = "{}") throws {
    let answer = try server.send(as: ana, "PUT", path, body: body)
    #expect([200, 201].contains(answer.status), "\(answer.text)")
  }

  private func rename(_ path: String, to name: String) throws -> HTTPAnswer {
    try server.send(as: .master, "POST", path + "/_rename", body: "{\"name\":\"\(name)\"}")
  }

  @Test("has its entities as they were, and its indexes, under that name, also after a restart")
  func entities() throws {
    try put(old + "/a", #"{"n":1.50,"_acl":{"gr":false}}"#)
    for number in 0..<20 { try put(old + "/e\(number)", "{\"kind\":\"k\(number)\"}") }
    try server.send(as: .master, "PUT", old + "/_indexes", body: #"{"keys":{"kind":1}}"#)
      .expect(200)
    let before = try server.send(as: .master, "GET", old).expect(200).text
    #expect(try rename(old, to: "letters").expect(200).text == #"{"name":"letters"}"#)
    #expect(try server.send(as: .master, "GET", new).text == before)
    #expect(try server.send(as: .master, "GET", old).text == "[]")
    #expect(try server.send(as: ana, "GET", old + "/a").error == "EntityNotFound")
    try put(old + "/a")
    server.stop()
    let again = try TestServer(in: server.directory) { $0.historyDays = 15 }
    #expect(try again.send(as: .master, "GET", new).text == before)
    #expect(try again.send(as: .master, "GET", old).ids == ["a"])
    let one = try again.send(
      as: .master, "GET", query(new, #"{"kind":"k7"}"#), headers: [("X-Kvstored-Explain", "true")])
    #expect(one.ids == ["e7"])
    #expect(one.headers["x-kvstored-explain"]?.contains("kind_1") == true)
    #expect(try again.send(as: .master, "GET", old + "/_indexes").text == "[]")
  }

  @Test("has its permissions under both names")
  func permissions() throws {
    let bob = try server.user("bob")
    try put(old + "/a")
    let never = #"{"read":"creator"}"#
    try server.send(as: .master, "PUT", old + "/_permissions", body: never).expect(200)
    // One without entities takes the settings of the one whose name it gets.
    try server.send(as: .master, "PUT", new + "/_permissions", body: #"{"read":"always"}"#)
      .expect(200)
    try rename(old, to: "letters").expect(200)
    try put(old + "/b")
    for path in [old, new] {
      let rules = try server.send(as: .master, "GET", path + "/_permissions").expect(200)
      #expect(rules.json["read"] == "creator")
      #expect(try server.send(as: bob, "GET", path).ids == [])
      #expect(try server.send(as: ana, "GET", path).ids.count == 1)
    }
  }

  @Test("has no changes to tell from before, under either name, and all from then on")
  func changes() throws {
    try put(old + "/a")
    try put(new + "/gone")
    try server.send(as: ana, "DELETE", new + "/gone").expect(200)
    let starts = try [old, new].map { path in
      try #require(
        try server.send(as: ana, "GET", path).expect(200).headers["x-kinvey-request-start"])
    }
    try rename(old, to: "letters").expect(200)
    for (path, start) in zip([old, new], starts) {
      let delta = target(path + "/_deltaset", [("since", start)])
      #expect(try server.send(as: ana, "GET", delta).error == "ParameterValueOutOfRange")
    }
    let later = try [old, new].map { path in
      try #require(
        try server.send(as: ana, "GET", path).expect(200).headers["x-kinvey-request-start"])
    }
    try put(old + "/b")
    try server.send(as: ana, "DELETE", new + "/a").expect(200)
    let ofOld = try server.send(
      as: ana, "GET", target(old + "/_deltaset", [("since", later[0])]))
    #expect(ofOld.expect(200).json["changed"]?.arrayValue?.map { $0["_id"] } == ["b"])
    #expect(ofOld.json["deleted"] == [])
    let ofNew = try server.send(
      as: ana, "GET", target(new + "/_deltaset", [("since", later[1])]))
    #expect(ofNew.expect(200).json["changed"] == [])
    #expect(ofNew.json["deleted"]?.arrayValue?.map { $0["_id"] } == ["a"])
  }

  @Test("has the subscribers of the name that it has")
  func subscribers() throws {
    try put(old + "/a")
    let bob = try server.user("bob")
    let (ofOld, ofNew) = (try LiveDevice(server, ana), try LiveDevice(server, bob))
    try ofOld.subscribe("notes").expect(200)
    try ofNew.subscribe("letters").expect(200)
    let (first, second) = (try ofOld.poll(nil).json["t"], try ofNew.poll(nil).json["t"])
    try rename(old, to: "letters").expect(200)
    try put(new + "/renamed", #"{"in":"letters"}"#)
    try put(old + "/begun", #"{"in":"notes"}"#)
    for (device, position, name) in [(ofOld, first, "notes"), (ofNew, second, "letters")] {
      let answer = try device.poll(position, count: 1)
      let bodies = answer.json["m"]?.arrayValue?.map { $0["d"]?["in"] }
      #expect(bodies == [.string(name)], "\(answer.text)")
    }
  }

  @Test("is refused a name with entities, one that is none, and whoever has no master secret")
  func refusals() throws {
    try put(old + "/a")
    try put(new + "/b")
    let used = try rename(old, to: "letters")
    #expect(used.error == "InputValidationFailed" && used.text.contains("letters"), "\(used.text)")
    #expect(try rename("/appdata/kid/nothing", to: "x").error == "CollectionNotFound")
    let all = try server.send(as: .master, "GET", "/appdata/kid/_collections").text
    #expect(!all.contains("\"x\""))
    for name in ["", "_x", "a b", "user", String(repeating: "x", count: 129)] {
      #expect(try rename(old, to: name).status == 400, "\(name)")
    }
    for body in ["{}", "[]", #"{"name":7}"#, ""] {
      let answer = try server.send(as: .master, "POST", old + "/_rename", body: body)
      #expect(answer.status == 400, "\(body)")
    }
    for who in [ana, .app, .nobody] {
      let answer = try server.send(as: who, "POST", old + "/_rename", body: #"{"name":"x"}"#)
      #expect(answer.status == 401)
    }
    #expect(try rename(old, to: "notes").expect(200).text == #"{"name":"notes"}"#)
    #expect(try server.send(as: ana, "GET", old).ids == ["a"])
    #expect(try server.send(as: ana, "GET", new).ids == ["b"])
    // Once it is empty, its name can be had.
    try server.send(as: ana, "DELETE", new + "/b").expect(200)
    try rename(old, to: "letters").expect(200)
    #expect(try server.send(as: ana, "GET", new).ids == ["a"])
  }

  @Test(
    "loses nothing that is written meanwhile, and has nothing of what others write to its new name")
  func concurrentWrites() throws {
    let rounds = 15
    let isOver = Atomic(false)
    let (server, ana) = (server, ana)
    try put(old + "/first")
    let written = Monitor<[String]>([])
    let writers = (0..<2).map { writer in
      Worker("writer") {
        var number = 0
        while !isOver.load(ordering: .relaxed) {
          let id = "w\(writer)-\(number)"
          number += 1
          let answer = try? server.send(as: ana, "PUT", "/appdata/kid/notes/\(id)", body: "{}")
          if answer?.status == 201 { written.withLock { $0.append(id) } }
        }
      }
    }
    var names = ["notes"]
    for round in 0..<rounds {
      let name = "n\(round)"
      let path = "/appdata/kid/\(name)"
      let other = Worker("other") {
        _ = try? server.send(as: ana, "PUT", "\(path)/own", body: "{}")
      }
      let answer = try rename(old, to: name)
      other?.join()
      #expect([200, 400, 404].contains(answer.status), "\(answer.text)")
      #expect(try server.send(as: ana, "GET", "\(path)/own").status == 200, "\(answer.status)")
      names.append(name)
    }
    isOver.store(true, ordering: .relaxed)
    for writer in writers { writer?.join() }
    var found: [String] = []
    for name in names {
      found += try server.send(as: ana, "GET", "/appdata/kid/\(name)").expect(200).ids
    }
    let expected = written.withLock { $0 } + ["first"] + names.dropFirst().map { _ in "own" }
    #expect(found.sorted() == expected.sorted())
  }
}
