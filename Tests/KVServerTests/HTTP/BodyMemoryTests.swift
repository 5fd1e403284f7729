import KVBase
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("The memory for bodies") struct BodyMemoryTests {
  private let time = Monitor<Int64>(0)
  private let lost = Monitor<[String]>([])
  private let memory: BodyMemory

  init() {
    var limits = HTTPLimits()
    limits.bodyMemory = 16 << 20
    limits.bodyBytes = 4 << 20
    let time = time
    memory = BodyMemory(limits) { time.withLock { $0 } }
  }

  private func place(_ user: String, at address: String = "10.0.0.1", _ bytes: Int = 0)
    -> BodyPlace?
  {
    memory.place(of: .user(user, app: 1), at: .place(address), expecting: bytes) { [lost] in
      lost.withLock { $0.append(user) }
    }
  }

  private func pass(seconds: Int64) { time.withLock { $0 += seconds * 1_000_000_000 } }

  @Test("has a part for each user and each address")
  func parts() throws {
    let ana = try #require(place("ana"))
    #expect(ana.reserve(4 << 20))
    #expect(!ana.reserve(1) && place("ana", 1) == nil)
    #expect(place("ana", at: "10.0.0.2", 1) == nil, "a user has several addresses")
    let bob = try #require(place("bob"))
    #expect(bob.reserve(4 << 20) && place("eve", 1) == nil)
    let eve = try #require(place("eve", at: "10.0.0.2"))
    #expect(eve.reserve(4 << 20))
    ana.release(4 << 20)
    #expect(ana.reserve(4 << 20))
    #expect(memory.reserved == 12 << 20)
  }

  @Test("keeps a share for small bodies")
  func small() throws {
    var places: [BodyPlace] = []
    for number in 0..<4 {
      let taken = try #require(place("\(number)", at: "10.0.0.\(number / 2)"))
      places.append(taken)
      _ = taken.reserve(number < 3 ? 4 << 20 : 2 << 20)
    }
    #expect(memory.reserved == 14 << 20)
    #expect(place("eve", at: "10.0.0.9", 1 << 20) == nil)
    let eve = try #require(place("eve", at: "10.0.0.9", 64 << 10))
    #expect(eve.reserve(64 << 10) && !eve.reserve(1))
    eve.release(64 << 10)
    for place in places { place.release(2 << 20) }
    #expect(eve.reserve(1 << 20))
  }

  @Test("is taken from bodies that stand still, and not from those that move or are whole")
  func stalled() throws {
    let names = ["still", "slow", "whole"]
    let places = try names.map { try #require(place($0, at: $0)) }
    for place in places { #expect(place.reserve(4 << 20)) }
    places[2].end()
    let last = try #require(place("last", at: "last"))
    #expect(last.reserve(2 << 20))
    for _ in 0..<5 {
      pass(seconds: 1)
      places[1].arrived(1024)
      last.arrived(1024)
    }
    let eve = try #require(place("eve", at: "10.0.0.9", 3 << 20))
    #expect(lost.withLock { $0 } == ["still"])
    #expect(eve.reserve(3 << 20) && !places[0].reserve(1))
    places[0].release(4 << 20)
    #expect(memory.reserved == 13 << 20)
    #expect(place("zoe", at: "10.0.0.10", 4 << 20) == nil, "nothing else stands still")
    pass(seconds: 5)
    #expect(place("zoe", at: "10.0.0.10", 1) != nil)
  }

  @Test("lets small writes through while others stall with all that they may have, and cuts these")
  func uploads() throws {
    let server = try TestServer {
      $0.limits.bodyMemory = 2 << 20
      $0.limits.bodyBytes = 1 << 20
    }
    let users = try ["ana", "bob", "eve"].map { try server.user($0) }
    let connections = try users.prefix(2).map { user in
      let connection = try #require(RawConnection(port: server.port))
      connection.send(
        "POST /appdata/kid/notes HTTP/1.1\r\nHost: x\r\nAuthorization: \(user.authorization ?? "")\r\n"
          + "Content-Length: \(1 << 20)\r\n\r\n{\"a\":\"")
      connection.send(String(repeating: "x", count: 800 << 10))
      return connection
    }
    // Until the first has all that its user may have.
    _ = try server.metrics { $0.contains("\nkvstored_body_memory_bytes 1") }
    try server.send(as: users[2], "POST", "/appdata/kid/notes", body: #"{"n":1}"#).expect(201)
    _ = connections
  }
}
