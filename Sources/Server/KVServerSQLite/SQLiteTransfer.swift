internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVServerCore

/// Reads the data row by row, to move it to another store. One thread at a time.
final class SQLiteTransfer: TransferReader {
  /// How many rows, and about how many bytes, are read at once.
  private static let pageRows = 500
  private static let pageBytes = 4 << 20

  let epoch: String
  private let database: Database

  init(_ database: Database, epoch: String) {
    self.database = database
    self.epoch = epoch
  }

  /// Where the rows of a table stand. The columns are in the order of `TransferTable.kinds`.
  private struct Layout {
    var table: String
    var columns: String
    var body: String?
    var condition: SQLFragment = "true"

    init(_ table: TransferTable, app: Int64, collection: Int64?) {
      let access = "creator, gr, gw, readers, writers"
      let number = collection ?? 0
      (self.table, columns) =
        switch table {
        case .accounts:
          ("account", "id, name, password, disabled, generation, rights_since, identity, ended")
        case .formerUsers: ("former_user", "id")
        case .sessions:
          ("session", "token, user, expires, generation, began, device, address, used")
        case .groupMembers: ("group_member", "user, grp")
        case .listeners: ("live", "user, device, collection, session, seen")
        case .messages: ("live_message", "time, topic, about")
        case .streams: ("stream", "name, owner, acl")
        case .writeTokens: ("write_token", "high, low, owner, at, kind")
        case .entities: (EntityCollection.table(number), "id, n, ect, lmt, \(access)")
        case .deletions: (EntityCollection.tombstones(number), "at, id, \(access)")
        case .formerAccess: (EntityCollection.formerAccess(number), "at, id, \(access)")
        }
      body =
        switch table {
        case .entities: "body, checksum"
        case .deletions: "body"
        case .messages: "payload"
        default: nil
        }
      if collection == nil { condition = "app = \(bind: app)" }
    }

    /// The first rows after a key.
    func select(keys: Int, after key: [TransferValue]?, limit: Int) -> SQLFragment {
      let names = columns.split(separator: ",").prefix(keys).joined(separator: ",")
      var after: SQLFragment = ""
      if let key {
        var values: SQLFragment = ""
        for (index, value) in key.enumerated() {
          let comma: SQLFragment = index == 0 ? "" : ", "
          values = "\(values)\(comma)\(Self.bound(value))"
        }
        after = " AND (\(sql: names)) > (\(values))"
      }
      let all = [columns, body].compactMap { $0 }.joined(separator: ", ")
      return """
        SELECT \(sql: all) FROM \(sql: table) WHERE \(condition)\(after)
        ORDER BY \(sql: names) LIMIT \(bind: limit)
        """
    }

    private static func bound(_ key: TransferValue) -> SQLFragment {
      switch key {
      case .integer(let number): "\(bind: number)"
      case .bytes(let text): "\(bind: String(decoding: text, as: UTF8.self))"
      case .null, .flag, .texts: "NULL"
      }
    }
  }

  // MARK: Reading

  func apps() throws(TransferFailure) -> [String] {
    try read { (connection) throws(SQLiteError) in
      let select = try connection.prepare("SELECT key FROM app ORDER BY key")
      var keys: [String] = []
      while try select.step() { keys.append(select.text(0) ?? "") }
      return keys
    }
  }

  func collections(of app: String) throws(TransferFailure) -> [TransferCollection] {
    try read { (connection) throws(SQLiteError) in
      let select = try connection.prepare(
        """
        SELECT name, permissions, history_days, history_since, read_rule, rule_since,
          (SELECT json_group_array(spec) FROM
            (SELECT spec FROM indexes WHERE collection = c.number ORDER BY number))
        FROM collection AS c WHERE app = (SELECT number FROM app WHERE key = \(bind: app))
        ORDER BY name
        """ as SQLFragment)
      var found: [TransferCollection] = []
      while try select.step() {
        found.append(
          TransferCollection(
            name: select.text(0) ?? "", permissions: select.text(1),
            historyDays: select.isNull(2) ? nil : select.int64(2),
            historySince: select.isNull(3) ? nil : select.int64(3), readRule: select.text(4),
            ruleSince: select.int64(5), indexes: Self.texts(select, 6)))
      }
      return found
    }
  }

  func clock(of app: String) throws(TransferFailure) -> TransferClock {
    let epoch = epoch
    return try read { (connection) throws(SQLiteError) in
      let select = try connection.prepare(
        """
        SELECT max(latest, ifnull((SELECT max(time) / 10000 + 1 FROM live_message), 0)),
          ifnull((SELECT floor FROM live_floor WHERE epoch = \(bind: epoch)
            AND app = (SELECT number FROM app WHERE key = \(bind: app))), 0)
        FROM clock
        """ as SQLFragment)
      guard try select.step() else { return TransferClock(latest: 0, liveFloor: 0) }
      // Positions of live data were given out by the clock of the wall.
      return TransferClock(
        latest: max(select.int64(0), Timestamp.now().milliseconds), liveFloor: select.int64(1))
    }
  }

  func lastWrite(to app: String) throws(TransferFailure) -> Int64 {
    try read { (connection) throws(SQLiteError) in
      let tables = try connection.prepare(
        """
        SELECT number, history_since IS NOT NULL FROM collection
        WHERE app = (SELECT number FROM app WHERE key = \(bind: app))
        """ as SQLFragment)
      var latest: Int64 = 0
      while try tables.step() {
        let number = tables.int64(0)
        var columns = [("lmt", EntityCollection.table(number))]
        if tables.int64(1) != 0 { columns.append(("at", EntityCollection.tombstones(number))) }
        for (column, table) in columns {
          let select = try connection.prepare("SELECT max(\(sql: column)) FROM \(sql: table)")
          if try select.step() { latest = max(latest, select.int64(0)) }
        }
      }
      return latest
    }
  }

  func rows(
    of table: TransferTable, in place: TransferPlace, after key: [TransferValue]?
  ) throws(TransferFailure) -> [TransferRow] {
    let found = try read {
      (connection) throws(SQLiteError) -> Result<[TransferRow], TransferFailure> in
      let app = try Self.number(of: place.app, on: connection)
      var collection: Int64?
      if let name = place.collection {
        collection = try Self.number(of: name, app: app, on: connection)
      }
      let layout = Layout(table, app: app, collection: collection)
      // Collections without a history have no table of it.
      guard try Self.exists(layout.table, on: connection) else { return .success([]) }
      let select = try connection.prepare(
        layout.select(keys: table.keyCount, after: key, limit: Self.pageRows))
      var (rows, bytes): ([TransferRow], Int) = ([], 0)
      while bytes < Self.pageBytes, try select.step() {
        guard let row = try Self.row(select, table) else {
          let id = select.text(0) ?? ""
          return .failure(
            TransferFailure(
              "the entity \(id) of \(place.collection ?? "") is damaged: save it anew or delete it")
          )
        }
        rows.append(row)
        bytes += row.body?.count ?? 0
      }
      return .success(rows)
    }
    return try found.get()
  }

  // MARK: Parts

  /// Nil: the body is not what was stored.
  private static func row(
    _ select: borrowing Statement, _ table: TransferTable
  ) throws(SQLiteError) -> TransferRow? {
    var values: [TransferValue] = []
    for (index, kind) in table.kinds.enumerated() {
      let column = Int32(index)
      switch kind {
      // None is as good as an empty list.
      case .texts: values.append(.texts(texts(select, column).map { Array($0.utf8) }))
      case _ where select.isNull(column): values.append(.null)
      case .integer: values.append(.integer(select.int64(column)))
      case .flag: values.append(.flag(select.int64(column) != 0))
      case .bytes: values.append(.bytes(try select.copy(column)))
      }
    }
    guard table.hasBody else { return TransferRow(values, body: nil, digest: []) }
    let column = Int32(values.count)
    if table == .entities, !select.isIntact(column) { return nil }
    let body = try select.copy(column)
    return TransferRow(values, body: body, digest: SHA256.hash(body))
  }

  /// A JSON array of texts; NULL has none.
  private static func texts(_ select: borrowing Statement, _ column: Int32) -> [String] {
    let value = select.text(column).flatMap { try? JSONValue(parsing: $0) }
    return value?.arrayValue?.compactMap(\.stringValue) ?? []
  }

  private static func number(
    of app: String, on connection: borrowing Connection
  ) throws(SQLiteError) -> Int64 {
    let select = try connection.statement(
      "SELECT number FROM app WHERE key = \(bind: app)" as SQLFragment)
    return try select.step() ? select.int64(0) : 0
  }

  private static func number(
    of collection: String, app: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) -> Int64 {
    let select = try connection.statement(
      "SELECT number FROM collection WHERE app = \(bind: app) AND name = \(bind: collection)"
        as SQLFragment)
    return try select.step() ? select.int64(0) : 0
  }

  private static func exists(
    _ table: String, on connection: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let select = try connection.statement(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = \(bind: table)" as SQLFragment)
    return try select.step()
  }

  private func read<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(TransferFailure) -> R {
    do { return try database.withReader(body) } catch {
      throw TransferFailure("cannot read the data: \(error)")
    }
  }
}
