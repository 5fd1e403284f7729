internal import Glibc
internal import KVBase
internal import KVTestSupport
import Testing

@testable import KVServerCore
@testable import KVServerPostgres

@Suite("Writing for many at once") final class SharedWriterTests: Sendable {
  private typealias Written = Result<WrittenEntity?, ServerError>

  private let storage: String
  private let store: PostgresStore
  private let app: Int64
  private let writer: SharedWriter

  init() throws {
    storage = try TestStorage.schema(for: Identifier.object())
    var settings = PostgresStore.Settings()
    settings.historyDays = 5
    store = try PostgresStore(storage, settings, log: Log(.error))
    app = try store.app("kid")
    writer = try #require(store.entities as? PostgresEntities).shared
  }

  deinit { store.close() }

  private func job(
    _ id: String, if condition: Precondition = .none, in collection: String = "notes",
    for claim: Claim = .principal(.master)
  ) throws -> SharedWriter.Job {
    let draft = try Service.draft(Payload(Array(#"{"n":1}"#.utf8)), id: id)
    return SharedWriter.Job(
      key: CollectionKey(app: app, name: collection), claim: claim,
      writes: [.success(.put(draft, if: condition))])
  }

  private struct Progress {
    var isHeld = false
    var done = 0
  }

  /// Performs jobs that have all come before one of them is carried out: another connection has the app's row until then.
  private func perform(_ jobs: [SharedWriter.Job]) throws -> [Written] {
    let progress = Monitor(Progress())
    let limit = Deadline.after(seconds: 120)
    let results = concurrentMap(jobs.count + 1, threads: jobs.count + 1) {
      [self] index -> Written? in
      if index == jobs.count {
        hold(while: progress, jobs.count, until: limit)
        return nil
      }
      defer { progress.withLock { $0.done += 1 } }
      _ = progress.wait(until: limit) { $0.isHeld ? true : nil }
      do throws(ServerError) { return try writer.perform(jobs[index])[0] } catch {
        return .failure(error)
      }
    }
    return results.compactMap { $0 }
  }

  /// Holds the app's row until so many jobs have come.
  private func hold(while progress: Monitor<Progress>, _ count: Int, until limit: Deadline) {
    let other = try? PostgresConnection(to: storage, setup: "BEGIN")
    _ = try? other?.run("SELECT 1 FROM app FOR UPDATE")
    progress.withLockNotifyingAll { $0.isHeld = true }
    while writer.count(of: app) + progress.withLock({ $0.done }) < count, !limit.hasPassed {
      sched_yield()
    }
    _ = try? other?.run("COMMIT")
  }

  private func count(_ sql: SQL) throws -> Int64 {
    try PostgresConnection(to: storage, setup: "SELECT 1").run(sql).int64(0, 0)
  }

  private func transactions() throws -> Int64 { try count("SELECT count(*) FROM write_mark") }

  @Test("Those who wait for the first one go together, at one time, with a message each")
  func together() throws {
    try PostgresConnection(to: storage, setup: "SELECT 1").run(
      """
      INSERT INTO live (app, collection, usr, device, session, seen)
      VALUES (\(bind: app), 'notes', 'u', 'd', 's', 0)
      """)
    let before = try transactions()
    let written = try perform((0..<9).map { try job("e\($0)") })
    let used = try transactions() - before
    #expect((1...2).contains(used))
    let times = try written.map { try #require(try $0.get()).modified }
    #expect(Set(times).count == Int(used))
    let last: SQL = "SELECT clock FROM app"
    #expect(try count(last) == times.max()?.milliseconds)
    let messages: SQL = "SELECT count(DISTINCT time) FROM live_message WHERE topic = 'notes'"
    #expect(try count(messages) == 9)
  }

  @Test("Of those who write the same entity each sees what the one before has stored")
  func sameEntity() throws {
    let written = try perform((0..<8).map { _ in try job("e", if: .isMissing) })
    #expect(written.count { (try? $0.get()) != nil } == 1)
    #expect(written.count { $0.failure?.code == .staleRequest } == 7)
    let replaced = try perform((0..<8).map { _ in try job("e") })
    #expect(Set(try replaced.map { try $0.get()?.modified }).count == 8)
    #expect(replaced.allSatisfy { (try? $0.get())??.isNew == false })
  }

  @Test("Those who make the same collection make it once")
  func newCollections() throws {
    let names = ["a", "b", "a", "b", "c", "a"]
    let written = try perform(names.enumerated().map { try job("e\($0)", in: $1) })
    #expect(written.allSatisfy { (try? $0.get())??.isNew == true })
    let rows: SQL = "SELECT count(*) FROM collection WHERE name IN ('a', 'b', 'c')"
    #expect(try count(rows) == 3)
  }

  @Test("One that PostgreSQL refuses takes no other along")
  func failure() throws {
    _ = try perform([try job("first")])
    _ = try PostgresConnection(
      to: storage, setup: "ALTER TABLE entity ADD CHECK (id <> 'e3')")
    let written = try perform((0..<8).map { try job("e\($0)") })
    for (number, result) in written.enumerated() {
      #expect((result.failure == nil) == (number != 3), "\(number)")
    }
    let rows: SQL = "SELECT count(*) FROM entity"
    #expect(try count(rows) == 8)
  }

  @Test("Somebody without a session among others is refused, and nothing of his is stored")
  func noSession() throws {
    let jobs = try (0..<6).map {
      try job("e\($0)", for: $0 % 3 == 1 ? .session(token: "none") : .principal(.master))
    }
    let written = try perform(jobs)
    for (number, result) in written.enumerated() {
      #expect(result.failure?.code == (number % 3 == 1 ? .invalidCredentials : nil), "\(number)")
    }
    let rows: SQL = "SELECT count(*) FROM entity"
    #expect(try count(rows) == 4)
  }

  @Test("While PostgreSQL does not answer, those who wait behind the first one are told with it")
  func outage() throws {
    let database = PostgresDatabase(storage, connections: 4, isDurable: true, silence: 5)
    defer { database.close() }
    let appWriter = AppWriter(database, AppClocks(database)) {}
    let writer = SharedWriter(appWriter, PostgresCollections(appWriter, CollectionDefaults()))
    let other = try PostgresConnection(to: storage, setup: "BEGIN")
    try other.run("SELECT 1 FROM app FOR UPDATE")
    let jobs = try (0..<12).map { try job("e\($0)") }
    let written = concurrentMap(jobs.count, threads: jobs.count) { index -> Written in
      do throws(ServerError) { return try writer.perform(jobs[index])[0] } catch {
        return .failure(error)
      }
    }
    #expect(written.allSatisfy { $0.failure?.status == 503 })
    #expect(database.status.roundTrips == 1)
    try other.run("COMMIT")
    #expect(try writer.perform(jobs[0])[0].get()?.isNew == true)
  }

  @Test("Nobody is left waiting, whoever writes what at the same time")
  func many() throws {
    let written = concurrentMap(400, threads: 16) { [self] number -> Bool in
      guard let job = try? job("e\(number % 37)", in: "c\(number % 3)") else { return false }
      return (try? writer.perform(job)[0].get()) != nil
    }
    #expect(written.allSatisfy { $0 })
    #expect(writer.count(of: app) == 0)
    #expect(try transactions() < 400)
    let rows: SQL = "SELECT count(*) FROM entity"
    #expect(try count(rows) == 111)
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
