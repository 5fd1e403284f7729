internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite

/// The answer to a find, made piece by piece: a JSON array.
///
/// Between pieces nothing is held but the position it has got to: no snapshot, no connection. A client that
/// reads slowly keeps nobody waiting and lets no log grow. Within a piece all entities are of one
/// moment; from one piece to the next, an entity is sent as it is then, and left out if it has gone or
/// does not match any more. None is sent twice, none that stays is missed.
///
/// `@unchecked Sendable`: one thread at a time asks for pieces.
final class Finding: BodySource, @unchecked Sendable {
  /// What one answer holds at the most; the rest is silently left out, as the protocol has it.
  static let maxEntities = 10_000
  static let maxBytes = 100 << 20

  private enum Plan {
    /// In the order of storage, after a row.
    case scan(after: Int64)
    /// In the order of ids, after one, up to another.
    case walk(after: String, last: String?)
    /// These rows, from an index on.
    case rows([Int64], next: Int)
    /// By a sort key; the rows are not known yet.
    case sort(Sorter)
    case done
  }

  private let database: Database
  let collection: EntityCollection
  private let selection: RowSelection
  private let projection: Projection?
  private let pieceBytes: Int
  /// The text before the entities; `tail` is the text after them.
  private let head: String
  private let tail: String
  private var plan: Plan
  private var skip: Int
  /// How many entities may still be sent.
  private var left: Int
  private var sentEntities = 0
  /// Called with the id of an entity that is damaged, and therefore left out.
  var reportDamage: @Sendable (String) -> Void = { _ in }
  private var sentBytes = 0

  init(
    _ query: Query, in collection: EntityCollection, of database: Database, for viewer: Viewer,
    within budget: WorkBudget, pieceBytes: Int = 256 << 10
  ) throws(ServerError) {
    (head, tail) = ("[", "]")
    self.database = database
    self.collection = collection
    self.pieceBytes = pieceBytes
    let walk = query.walk
    selection = try RowSelection(
      walk.map { Query($0.rest) } ?? query, for: viewer, operation: .read, within: budget)
    projection = query.projection
    skip = query.skip
    left = min(query.limit ?? Self.maxEntities, Self.maxEntities)
    plan =
      walk.map { .walk(after: $0.after ?? "", last: $0.last) } ?? query.sorter.map { .sort($0) }
      ?? .scan(after: -1)
  }

  /// Sends given rows, those of them that still are what the selection asks for.
  init(
    _ rows: [Int64], _ selection: RowSelection, projection: Projection?,
    in collection: EntityCollection, of database: Database, head: String, tail: String,
    pieceBytes: Int = 256 << 10
  ) {
    (self.head, self.tail) = (head, tail)
    self.database = database
    self.collection = collection
    self.selection = selection
    self.projection = projection
    self.pieceBytes = pieceBytes
    (skip, left) = (0, rows.count)
    plan = .rows(rows, next: 0)
  }

  /// Whether the last piece has been made.
  var isDone: Bool { if case .done = plan { true } else { false } }

  func nextPiece() throws(ServerError) -> Payload? {
    if isDone { return nil }
    let piece = Payload(capacity: sentBytes == 0 ? 16 << 10 : pieceBytes &+ 16 << 10)
    if sentBytes == 0 { piece.append(head) }
    try Entities.storage { () throws(SQLiteError) in
      try database.read(within: selection.budget) {
        (connection: borrowing Connection) throws(SQLiteError) in
        try fill(piece, connection)
      }
    }
    sentBytes += piece.count
    if isDone { piece.append(tail) }
    return piece
  }

  private func fill(
    _ piece: Payload, _ connection: borrowing Connection
  ) throws(SQLiteError) {
    if case .sort(let sorter) = plan {
      plan = .rows(try order(by: sorter, connection), next: 0)
    }
    switch plan {
    case .scan(let row): try scan(after: row, piece, on: connection)
    case .walk(let id, let last): try walk(after: id, to: last, piece: piece, on: connection)
    case .rows(let rows, let next): try collect(rows, from: next, piece: piece, on: connection)
    case .sort, .done: break
    }
  }

  private func scan(
    after row: Int64, _ piece: Payload, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let select = try connection.statement(
      collection.scan(selection, after: row, limit: left, offset: skip))
    var last = row
    while piece.count < pieceBytes {
      guard try select.step(), add(select.bytes(1), id: select.text(2), to: piece) else {
        plan = .done
        return
      }
      last = select.int64(0)
    }
    skip = 0
    plan = left > 0 ? .scan(after: last) : .done
  }

  private func walk(
    after id: String, to last: String?, piece: Payload, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let select = try connection.statement(
      collection.walk(selection, after: id, to: last, limit: left, offset: skip))
    while piece.count < pieceBytes {
      guard try select.step(), add(select.bytes(1), id: select.text(0), to: piece) else {
        plan = .done
        return
      }
    }
    skip = 0
    plan = left > 0 ? .walk(after: select.text(0) ?? id, last: last) : .done
  }

  private func order(
    by sorter: Sorter, _ connection: borrowing Connection
  ) throws(SQLiteError) -> [Int64] {
    let select = try connection.statement(
      collection.order(selection, by: sorter, limit: left, offset: skip))
    var rows: [Int64] = []
    while try select.step() { rows.append(select.int64(0)) }
    return rows
  }

  private func collect(
    _ rows: [Int64], from start: Int, piece: Payload, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let bodies = BoundSQL(collection.body(selection.ofKnownRows))
    let select = try connection.statement(bodies)
    var next = start
    while next < rows.count, piece.count < pieceBytes {
      try select.bind(rows[next], at: bodies.openIndex)
      next += 1
      if try select.step(), !add(select.bytes(0), id: select.text(1), to: piece) {
        plan = .done
        return
      }
      select.reset()
    }
    plan = next < rows.count ? .rows(rows, next: next) : .done
  }

  /// Adds an entity; false if the answer is full. One that is no JSON any more would make the whole answer unreadable:
  /// it is left out.
  private func add(
    _ entity: UnsafeRawBufferPointer, id: @autoclosure () -> String?, to piece: Payload
  ) -> Bool {
    guard EntityScanner.isEntity(entity) else {
      reportDamage(id() ?? "")
      return true
    }
    guard sentBytes + piece.count + entity.count < Self.maxBytes, left > 0 else { return false }
    if sentEntities > 0 { piece.append(byte: UInt8(ascii: ",")) }
    sentEntities += 1
    left -= 1
    if let projection {
      piece.append(projection.apply(to: entity))
    } else {
      piece.append(entity)
    }
    return true
  }
}

/// A body whose first piece is made already.
final class Continued: BodySource, @unchecked Sendable {
  // `@unchecked`: one thread at a time asks for pieces.
  private var first: Payload?
  private let rest: any BodySource

  init(_ first: Payload, _ rest: any BodySource) {
    self.first = first
    self.rest = rest
  }

  func nextPiece() throws -> Payload? {
    defer { first = nil }
    if let first { return first }
    return try rest.nextPiece()
  }
}
