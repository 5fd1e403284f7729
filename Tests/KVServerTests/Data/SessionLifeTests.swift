internal import KVBase
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

/// When sessions end by themselves, on both storages.
@Suite("Sessions that are used") struct SessionLifeTests {
  private let server: TestServer
  private let store: any ServerStore
  private let app: Int64
  private let life = SessionLife(idleSeconds: 1000, longestSeconds: 3000)

  init() throws {
    server = try TestServer()
    store = server.server.service.store
    app = try store.app("kid")
  }

  private func begin(at time: Timestamp) throws -> NewSession {
    let account = try #require(try store.accounts.find(name: "ana", of: app))
    let session = NewSession(life, at: time)
    #expect(try store.accounts.begin(session, of: account, app: app) != nil)
    return session
  }

  private func end(of session: NewSession) throws -> Int64? {
    try store.sessions.find(session.token)?.expires
  }

  @Test(
    "go on for as long after the last use as they may rest, and end when they have lasted long enough"
  )
  func extended() throws {
    _ = try server.user("ana")
    let start = Timestamp.now()
    func later(_ seconds: Int64) -> Timestamp {
      Timestamp(milliseconds: start.milliseconds + seconds * 1000)
    }
    let session = try begin(at: start)
    #expect(try end(of: session) == later(1000).milliseconds)
    for (use, expected) in [(500, 1500), (400, 1500), (1400, 2400), (2300, 3000), (2900, 3000)]
      as [(Int64, Int64)]
    {
      try store.sessions.extend(session.token, life, at: later(use))
      #expect(try end(of: session) == later(expected).milliseconds, "\(use)")
    }
  }

  @Test("are not brought back by a use that comes too late")
  func tooLate() throws {
    _ = try server.user("ana")
    let session = try begin(at: Timestamp(milliseconds: Timestamp.now().milliseconds - 999_000))
    let end = try #require(try end(of: session))
    try store.sessions.extend(session.token, life, at: Timestamp(milliseconds: end + 1))
    #expect(try self.end(of: session) == end)
    try store.sessions.end(session.token)
    try store.sessions.extend(session.token, life, at: .now())
    #expect(try self.end(of: session) == nil)
  }

  @Test("are noted once in a while only")
  func noted() {
    let uses = SessionUses()
    let day = SessionLife(idleSeconds: 86_400, longestSeconds: 864_000)
    let start = Timestamp(milliseconds: 1_000_000)
    #expect(uses.isDue("a", day, at: start))
    #expect(!uses.isDue("a", day, at: Timestamp(milliseconds: 1_000_000 + 3_599_999)))
    #expect(uses.isDue("b", day, at: start))
    #expect(uses.isDue("a", day, at: Timestamp(milliseconds: 1_000_000 + 3_600_000)))
  }
}
