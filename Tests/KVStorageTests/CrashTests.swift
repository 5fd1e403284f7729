import Glibc
import KVQuery
import KVSQLite
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// Kills a process that saves, again and again, and looks at what it leaves behind.
@Suite("Crash") struct CrashTests {
  private static let rounds = 50
  private static let threads = 4

  let directory = TemporaryDirectory()

  @Test("whatever was acknowledged before a kill is there after it, the queue included")
  func kills() throws {
    let path = directory.file("data.kvs")
    var expected: [String: String] = [:]
    var queued: [String: PendingWrite.Operation] = [:]
    for round in 0..<Self.rounds {
      let acknowledged = try runAndKill(path, round)
      let storage = try Storage(path: path, durability: .normal)
      let found = try contents(of: storage)
      let operations = try operations(of: storage)
      for thread in 0..<Self.threads {
        let name = "\(round)-\(thread)"
        let count = acknowledged[name] ?? 0
        // The step that was under way may have been done or not.
        let outcomes = [Outcome(after: count, of: name), Outcome(after: count + 1, of: name)]
        let outcome = outcomes.first { $0.isContained(in: found, operations, name) }
        let after = try #require(outcome, "\(name) after \(count) steps")
        expected.merge(after.entities) { $1 }
        queued.merge(after.operations) { $1 }
      }
      #expect(found == expected)
      #expect(operations == queued)
      storage.close()
    }
    #expect(queued.count > Self.rounds)
    #expect(try integrity(of: path) == "ok")
  }

  @Test("a forked child is refused everything, and its parent notices nothing") func forks() throws
  {
    let path = directory.file("data.kvs")
    #expect(try ChildProcess.run([ChildProcess.built("storage-saver"), path, "fork"]) == 0)
    #expect(try Storage(path: path).pendingCount(in: "c") == 2)
    #expect(try integrity(of: path) == "ok")
  }

  /// Lets a process save until some steps were acknowledged; gives how many by thread.
  private func runAndKill(_ path: String, _ round: Int) throws -> [String: Int] {
    let saver = try ChildProcess([
      ChildProcess.built("storage-saver"), path, "\(round)", "\(Self.threads)",
    ])
    var output = ""
    let wanted = (round * 37) % 600
    while output.utf8.count < wanted, case let more = saver.readPiece(), !more.isEmpty {
      output += more
    }
    saver.end()
    // What it had said before its end counts as well.
    while case let more = saver.readPiece(), !more.isEmpty { output += more }
    var steps: [String: Int] = [:]
    for line in output.split(separator: "\n") {
      steps[String(line.prefix { $0 != " " }), default: 0] += 1
    }
    return steps
  }

  private func contents(of storage: Storage) throws -> [String: String] {
    var entities: [String: String] = [:]
    for entity in try storage.find() { entities[try id(of: entity)] = entity }
    return entities
  }

  private func operations(of storage: Storage) throws -> [String: PendingWrite.Operation] {
    var operations: [String: PendingWrite.Operation] = [:]
    for write in try storage.queue() { operations[write.id] = write.operation }
    return operations
  }

  private func id(of entity: String) throws -> String {
    try #require(entity.split(separator: "\"").dropFirst(3).first.map(String.init))
  }

  private func integrity(of path: String) throws -> String? {
    let database = try Database(
      .init(path: path, applicationId: 0x4B56_5331), migrations: [.init(sql: "")])
    let rows = try database.rows(of: "PRAGMA integrity_check") { _ in }
    return try rows.next { $0.text(0) } ?? nil
  }
}

/// What so many steps of a thread leave behind: see storage-saver.
private struct Outcome {
  var entities: [String: String] = [:]
  var operations: [String: PendingWrite.Operation] = [:]

  init(after count: Int, of name: String) {
    for number in 0..<count {
      let id = "\(name)-\(number - number % 2)"
      let isRemoval = number % 4 == 3
      entities[id] = isRemoval ? nil : #"{"_id":"\#(id)","step":\#(number)}"#
      operations[id] = isRemoval ? .delete : .update
    }
  }

  func isContained(
    in entities: [String: String], _ operations: [String: PendingWrite.Operation], _ name: String
  ) -> Bool {
    entities.filter { $0.key.hasPrefix(name + "-") } == self.entities
      && operations.filter { $0.key.hasPrefix(name + "-") } == self.operations
  }
}
