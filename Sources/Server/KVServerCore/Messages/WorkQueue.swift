internal import KVBase

/// The client that a request is counted for: a user, or an address where there is no session.
package struct Asker: Hashable, Sendable {
  private let kind: UInt8
  private let app: Int64
  private let name: [UInt8]

  package static func user(_ id: String, app: Int64) -> Asker {
    Asker(kind: 0, app: app, name: Array(id.utf8))
  }

  /// The owner of a session that was not looked up yet.
  package static func session(_ token: String) -> Asker {
    Asker(kind: 2, app: 0, name: Array(token.utf8))
  }

  /// All who are at one address, with a session or without.
  package static func place(_ address: String) -> Asker {
    Asker(kind: 3, app: 0, name: ClientAddress(address).bytes)
  }

  package static func address(_ address: String) -> Asker {
    Asker(kind: 1, app: 0, name: Array(address.utf8))
  }
}

/// The jobs of a pool that wait, and how many run, by asker.
struct WorkQueue {
  private struct Line {
    var waiting = FIFO<WorkerPool.Job>()
    var running = 0
  }

  let threads: Int
  private let limit: Int
  private var lines: [Asker: Line] = [:]
  /// The askers with waiting jobs, in turn.
  private var turns = FIFO<Asker>()
  private(set) var waiting = 0
  private(set) var running = 0
  var isClosed = false

  init(threads: Int, limit: Int) {
    self.threads = threads
    self.limit = limit
  }

  var isEmpty: Bool { waiting == 0 }

  /// Whether `next` would return a job.
  var canStart: Bool {
    guard waiting > 0, running < threads else { return false }
    return lines.values.contains { !$0.waiting.isEmpty && mayStart($0) }
  }

  /// False if too many wait. One asker may fill as much of the room as it leaves to the others.
  mutating func add(_ job: @escaping WorkerPool.Job, for asker: Asker) -> Bool {
    var line = lines.removeValue(forKey: asker) ?? Line()
    defer { if line.running > 0 || !line.waiting.isEmpty { lines[asker] = line } }
    guard !isClosed, waiting < limit, line.waiting.count <= limit - waiting else { return false }
    if line.waiting.isEmpty { turns.append(asker) }
    line.waiting.append(job)
    waiting += 1
    return true
  }

  /// The next job that may start; nil if there is none.
  mutating func next() -> (WorkerPool.Job, Asker)? {
    guard running < threads else { return nil }
    for _ in 0..<turns.count {
      guard let asker = turns.popFirst() else { return nil }
      if let job = start(asker) { return (job, asker) }
      turns.append(asker)
    }
    return nil
  }

  private mutating func start(_ asker: Asker) -> WorkerPool.Job? {
    guard var line = lines[asker], mayStart(line) else { return nil }
    lines[asker] = nil
    let job = line.waiting.popFirst()
    if !line.waiting.isEmpty { turns.append(asker) }
    line.running += 1
    lines[asker] = line
    waiting -= 1
    running += 1
    return job
  }

  mutating func finish(_ asker: Asker) {
    running -= 1
    guard var line = lines.removeValue(forKey: asker) else { return }
    line.running -= 1
    if line.running > 0 || !line.waiting.isEmpty { lines[asker] = line }
  }

  private func mayStart(_ line: Line) -> Bool {
    line.running == 0 || line.running < 3 * (threads - running - 1)
  }
}
