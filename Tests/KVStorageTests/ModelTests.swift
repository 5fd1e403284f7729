import KVStorage
import KVSync
import KVTestSupport
import Testing

/// Random steps on a store and on a simple model of it, which must agree after each.
@Suite("Model") struct ModelTests {
  @Test("the store does what the model does, through two connections", arguments: 0..<12)
  func agrees(run: UInt64) throws {
    let seed = Seed(Seed().value &+ run)
    let directory = TemporaryDirectory()
    let stores = [try openStorage(in: directory), try openStorage(in: directory)]
    var model = Model(random: seed)
    for step in 0..<400 {
      let store = stores[model.random.below(2)]
      let what = try model.step(on: store)
      let differences = try model.differences(from: stores[model.random.below(2)])
      #expect(differences == [], "\(seed), step \(step): \(what)")
      if !differences.isEmpty { return }
    }
  }
}

extension Seed {
  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &self) }
}

/// What a collection holds, kept in the plainest way.
struct Model {
  struct Row {
    var body: String
    var generation: Int
  }
  struct Write: Equatable {
    var operation: PendingWrite.Operation
    var attempts = 0
    var isSent = false
    var base: String?
    /// Counts local changes; stands for the revision.
    var version: Int
    var order: Int
  }

  var random: Seed
  var rows: [String: Row] = [:]
  var writes: [String: Write] = [:]
  var generation = 1
  private var purgedGeneration = 0
  private var clock = 0
  private var marks: [(mark: RefreshMark, generation: Int)] = []
  private var sendGate: [(write: PendingWrite, version: Int)] = []

  init(random: Seed) { self.random = random }

  private var someId: String { mutating get { "id\(random.below(12))" } }

  private mutating func body(_ id: String) -> String {
    clock += 1
    return #"{"_id":"\#(id)","n":\#(random.below(4)),"v":\#(clock)}"#
  }

  private func isMatch(_ body: String, _ number: Int) -> Bool { body.contains(#""n":\#(number),"#) }

  private func matching(_ number: Int) -> [String] {
    rows.filter { isMatch($0.value.body, number) }.map(\.key)
  }

  // MARK: Steps

  /// Does one random step on both; tells which.
  mutating func step(on store: Storage) throws -> String {
    switch random.below(14) {
    case 0, 1: return try save(on: store)
    case 2: return try create(on: store)
    case 3: return try remove(on: store)
    case 4: return try removeMany(on: store)
    case 5, 6: return try pull(on: store)
    case 7: return try beginRefresh(on: store)
    case 8: return try finishRefresh(on: store)
    case 9: return try send(on: store)
    case 10: return try confirm(on: store)
    case 11: return try edit(on: store)
    case 12: return try drop(on: store)
    default: return random.below(4) == 0 ? try clear(on: store) : try forget(on: store)
    }
  }

  private mutating func change(_ id: String, by new: PendingWrite.Operation, to body: String?) {
    clock += 1
    let old = writes[id]
    let queued = old.map { ($0.operation, $0.isSent ? 1 : 0) }
    if let operation = PendingWrite.collapsing(queued, with: new) {
      var write = old ?? Write(operation: new, version: 0, order: clock)
      if old == nil { write.base = rows[id]?.body }
      (write.operation, write.version) = (operation, clock)
      writes[id] = write
    } else {
      writes[id] = nil
    }
    rows[id] = body.map { Row(body: $0, generation: generation) }
  }

  private mutating func save(on store: Storage) throws -> String {
    let id = someId
    let body = body(id)
    try store.save(body)
    change(id, by: .update, to: body)
    return "save \(id)"
  }

  private mutating func create(on store: Storage) throws -> String {
    let saved = try store.save(#"{"n":1,"v":0}"#)[0]
    change(saved.id, by: .create, to: String(saved.bytes))
    return "create \(saved.id)"
  }

  private mutating func remove(on store: Storage) throws -> String {
    let id = rows.keys.sorted().randomElement(using: &random) ?? someId
    let count = try store.remove(id, in: "c")
    #expect(count == (rows[id] == nil ? 0 : 1))
    if rows[id] != nil { change(id, by: .delete, to: nil) }
    return "remove \(id)"
  }

  private mutating func removeMany(on store: Storage) throws -> String {
    let number = random.below(4)
    // In the order of storage, which is also the order of the queue.
    let ids = try store.find(#"{"n":\#(number)}"#).compactMap { try? id(of: $0) }
    #expect(Set(ids) == Set(matching(number)))
    #expect(try store.remove(query(#"{"n":\#(number)}"#), in: "c") == ids.count)
    for id in ids { change(id, by: .delete, to: nil) }
    return "remove n = \(number)"
  }

  private mutating func pull(on store: Storage) throws -> String {
    let ids = Set((0..<random.below(5)).map { _ in someId }).sorted()
    let bodies = ids.map { ($0, body($0)) }
    let stored = try store.store(bodies.map(\.1))
    let free = bodies.filter { writes[$0.0] == nil }
    #expect(stored == free.count)
    for (id, body) in free { rows[id] = Row(body: body, generation: generation) }
    return "store \(ids)"
  }

  private mutating func beginRefresh(on store: Storage) throws -> String {
    generation += 1
    marks.append((try store.beginRefresh(of: "c"), generation))
    return "begin refresh"
  }

  private mutating func finishRefresh(on store: Storage) throws -> String {
    guard !marks.isEmpty else { return "nothing" }
    let (mark, begun) = marks.remove(at: random.below(marks.count))
    let number = random.below(5)
    let filter = number == 4 ? "{}" : #"{"n":\#(number)}"#
    let unseen = rows.filter { id, row in
      writes[id] == nil && row.generation < begun && purgedGeneration < begun
        && (number == 4 || isMatch(row.body, number))
    }
    let gone = try store.finishRefresh(
      of: "c", from: mark, deletingUnseen: query(filter), recording: nil)
    #expect(gone == unseen.count)
    for id in unseen.keys { rows[id] = nil }
    return "finish refresh \(filter)"
  }

  private mutating func send(on store: Storage) throws -> String {
    let queue = try store.queue()
    guard let write = queue.randomElement(using: &random) else { return "nothing" }
    for sent in try store.beginSending([write]) {
      writes[write.id]?.attempts += 1
      writes[write.id]?.isSent = true
      #expect(sent.body.map { String($0) } == rows[write.id]?.body)
      sendGate.append((sent.write, writes[write.id]?.version ?? 0))
    }
    return "send \(write.id)"
  }

  private mutating func confirm(on store: Storage) throws -> String {
    guard !sendGate.isEmpty else { return "nothing" }
    let (write, version) = sendGate.remove(at: random.below(sendGate.count))
    let stored = write.operation == .delete ? nil : body(write.id)
    try store.confirm([AcceptedWrite(write, stored: stored.map { Array($0.utf8) })])
    let answer = stored.map { Row(body: $0, generation: generation) }
    switch writes[write.id] {
    case let row? where row.version == version:
      writes[write.id] = nil
      if let answer { rows[write.id] = answer }
    case var row?:
      if row.operation == .create { row.operation = .update }
      row.base = stored
      writes[write.id] = row
    case nil: if rows[write.id] != nil { rows[write.id] = answer }
    }
    return "confirm \(write.operation) \(write.id)"
  }

  private mutating func edit(on store: Storage) throws -> String {
    let id = writes.keys.sorted().randomElement(using: &random) ?? someId
    let body = body(id)
    let isEdited = try store.edit(body, id)
    guard var write = writes[id], write.operation != .delete else {
      #expect(!isEdited)
      return "edit nothing"
    }
    #expect(isEdited)
    (write.attempts, write.version) = (0, clock)
    writes[id] = write
    rows[id] = Row(body: body, generation: generation)
    return "edit \(id)"
  }

  private mutating func drop(on store: Storage) throws -> String {
    if random.below(2) == 0 {
      let id = writes.keys.sorted().randomElement(using: &random) ?? someId
      #expect(try store.dropPending(id, in: "c") == (writes[id] != nil))
      // A refresh that is under way leaves the entity where it is.
      if writes[id] != nil { rows[id]?.generation = generation }
      writes[id] = nil
      return "drop \(id)"
    }
    let number = random.below(4)
    let purged = matching(number).filter { writes[$0] != nil }
    #expect(try store.purge(query(#"{"n":\#(number)}"#), in: "c") == purged.count)
    for id in purged { writes[id] = nil }
    // Refreshes that are under way delete nothing.
    purgedGeneration = generation
    return "purge n = \(number)"
  }

  private mutating func clear(on store: Storage) throws -> String {
    let number = random.below(4)
    let cleared = matching(number)
    #expect(try store.clear(query(#"{"n":\#(number)}"#), in: "c") == cleared.count)
    for id in cleared { (rows[id], writes[id]) = (nil, nil) }
    return "clear n = \(number)"
  }

  private mutating func forget(on store: Storage) throws -> String {
    let ids = Set((0..<3).map { _ in someId })
    let gone = ids.filter { rows[$0] != nil && writes[$0] == nil }
    #expect(try store.forget(Array(ids), in: "c") == gone.count)
    for id in gone { rows[id] = nil }
    return "forget \(ids)"
  }

  // MARK: Comparing

  /// How the store differs from the model; empty if it does not.
  func differences(from store: Storage) throws -> [String] {
    var found: [String] = []
    let entities = try store.find()
    if entities.sorted() != rows.values.map(\.body).sorted() {
      found.append("entities: \(entities.sorted()), expected \(rows.values.map(\.body).sorted())")
    }
    let queue = try store.queue()
    let expected = writes.sorted { $0.value.order < $1.value.order }
    if Set(queue.map(\.id)) != Set(expected.map(\.key)) {
      found.append("queue: \(queue.map(\.id)), expected \(expected.map(\.key))")
    }
    for write in queue {
      guard let mine = writes[write.id] else { continue }
      let base = try store.base(write.id)
      if (mine.operation, mine.attempts, mine.base) != (write.operation, write.attempts, base) {
        found.append("\(write) on \(base ?? "nothing"), expected \(mine)")
      }
    }
    return found
  }

  private func id(of body: String) throws -> String {
    try #require(body.split(separator: "\"").dropFirst(3).first.map(String.init))
  }
}
