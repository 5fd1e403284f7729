internal import KVBase
internal import KVJSON
internal import KVServerCore

/// What the servers of the same data agree on: the settings for collections without their own.
struct CollectionDefaults: Sendable {
  var permissions = Permissions()
  /// 0: no history.
  var historyDays = 0

  func permissions(of key: CollectionKey) -> Permissions {
    key.isOwn ? key.ownPermissions : permissions
  }

  /// Days for which a collection keeps its history.
  func historyDays(of key: CollectionKey) -> Int { key.isOwn ? 0 : historyDays }
}

/// A collection as it is set at one moment, and what else a read or a write of it has to know: it is read in one
/// statement, in the same round trip as what depends on it.
struct CollectionState: Sendable {
  let key: CollectionKey
  /// Nil: it does not exist yet.
  var number: Int64?
  let permissions: Permissions
  let readRule: Permissions.Rule?
  /// Days that are set for it; nil: as the default says.
  let ownDays: Int?
  let historyDays: Int
  /// Deletions are kept since then; nil: they are not.
  var historySince: Timestamp?
  let ruleSince: Timestamp
  /// The time of the app's last commit.
  let clock: Int64
  /// Who it was read for; a failure if the session is none any more.
  let principal: Result<Principal, ServerError>
  /// The groups of the user it was read for.
  let groups: [String]
  /// When that user's rights changed last by joining or leaving a group: what was read earlier was read with other rights.
  let rightsSince: Timestamp
  let hasListeners: Bool
  let indexes: [EntityIndex]

  /// Parts that not everybody needs. What is not asked for is empty.
  struct Parts: OptionSet {
    let rawValue: Int
    static let indexes = Parts(rawValue: 1)
    static let listeners = Parts(rawValue: 2)
    static let rights = Parts(rawValue: 4)
    static let all: Parts = [.indexes, .listeners, .rights]
  }

  /// One row with one column, which `init` reads. `claim`: who it is read for.
  static func select(
    _ key: CollectionKey, for claim: Claim = .principal(.master), _ parts: Parts = .all
  ) -> SQL {
    """
    SELECT \(record(key, for: claim, parts)) FROM \(tables(key, for: claim))
    WHERE a.number = \(bind: key.app)
    """
  }

  /// The same with the row of an entity after it: what every get asks.
  static func select(_ key: CollectionKey, for claim: Claim, with id: String) -> SQL {
    let form: SQLForm
    let name: String
    switch claim {
    case .session(let token): (form, name) = (getBySession, SessionToken.hash(token))
    case .principal(.user(let user)): (form, name) = (getByUser, user)
    case .principal(.app), .principal(.master): (form, name) = (getByOthers, "")
    }
    return form.with(values(key, id: id, name: name))
  }

  private static let getBySession = getForm(
    for: .session(token: "who"), name: SessionToken.hash("who"))
  private static let getByUser = getForm(for: .principal(.user(id: "who")), name: "who")
  private static let getByOthers = getForm(for: .principal(.master), name: "who")

  private static func getForm(for claim: Claim, name: String) -> SQLForm {
    let key = CollectionKey(app: 1, name: "collection")
    return SQLForm(
      values(key, id: "entity", name: name), compose(key, for: claim, with: "entity"))
  }

  /// `name`: the hash of the session's token, or the user's id.
  private static func values(_ key: CollectionKey, id: String, name: String) -> [SQLValue] {
    [
      .integer(key.app), .bytes(Array(key.name.utf8)), .bytes(Array(id.utf8)),
      .bytes(Array(name.utf8)),
    ]
  }

  /// The same, made of its parts.
  static func compose(_ key: CollectionKey, for claim: Claim, with id: String) -> SQL {
    """
    SELECT \(record(key, for: claim, [])), \(StoredRow.columns(of: "e."))
    FROM \(tables(key, for: claim))
      LEFT JOIN entity AS e ON e.collection = c.number AND e.id = \(bind: id)
    WHERE a.number = \(bind: key.app)
    """
  }

  /// The same as a part of a statement, `state`: besides it, there are the user `usr`, and the `names` that access lists may
  /// have for that user.
  static func part(_ key: CollectionKey, for claim: Claim, _ parts: Parts) -> SQL {
    let user = user(of: claim)
    return """
      state AS MATERIALIZED (
        SELECT \(record(key, for: claim, parts)) AS record, \(user) AS usr,
          ARRAY[\(user)] || ARRAY(SELECT \(bind: ACL.groupMark) || grp FROM group_member
            WHERE app = a.number AND usr = \(user)) AS names
        FROM \(tables(key, for: claim)) WHERE a.number = \(bind: key.app))
      """
  }

  private static func record(_ key: CollectionKey, for claim: Claim, _ parts: Parts) -> SQL {
    let user = user(of: claim)
    let rights: SQL = "(SELECT rights_since FROM account WHERE app = a.number AND id = \(user))"
    let listens: SQL = """
      EXISTS(SELECT 1 FROM live WHERE app = a.number AND collection = \(bind: key.name))
      """
    return """
      record_send(ROW(
        c.number, c.permissions, c.history_days, c.history_since, c.read_rule, c.rule_since, a.clock,
        \(session(of: claim)),
        ARRAY(SELECT grp FROM group_member WHERE app = a.number AND usr = \(user)),
        \(parts.contains(.rights) ? rights : "0::int8"),
        \(parts.contains(.listeners) ? listens : "false"),
        \(parts.contains(.indexes) ? EntityIndex.selectAll(of: "c.number") : "'{}'::bytea[]")))
      """
  }

  private static func tables(_ key: CollectionKey, for claim: Claim) -> SQL {
    let tables: SQL = """
      app AS a LEFT JOIN collection AS c ON c.app = a.number AND c.name = \(bind: key.name)
      """
    guard case .session(let token) = claim else { return tables }
    return "\(tables) LEFT JOIN (\(SessionStatements.find(token) as SQL)) AS who ON true"
  }

  private static func session(of claim: Claim) -> SQL {
    if case .session = claim {
      "who.app, who.usr, who.expires"
    } else {
      "NULL::int8, NULL::bytea, NULL::int8"
    }
  }

  private static func user(of claim: Claim) -> SQL {
    switch claim {
    case .session: "who.usr"
    case .principal(.user(let id)): "\(bind: id)"
    case .principal: "''::bytea"
    }
  }

  /// Reads what `select` gives.
  init(_ key: CollectionKey, _ record: Record, for claim: Claim, defaults: CollectionDefaults) {
    self.key = key
    number = record.optionalInt64(0)
    var permissions = defaults.permissions(of: key)
    if let text = record.optionalText(1), let value = try? JSONValue(parsing: text),
      let object = value.objectValue
    {
      // What an older version wrote and this one does not know falls back to the defaults.
      try? permissions.apply(object)
    }
    self.permissions = permissions
    ownDays = record.optionalInt64(2).map { Int($0) }
    historyDays = key.isOwn ? 0 : ownDays ?? defaults.historyDays(of: key)
    historySince = record.optionalInt64(3).map { Timestamp(milliseconds: $0) }
    readRule = record.optionalText(4).flatMap(Permissions.Rule.init)
    ruleSince = Timestamp(milliseconds: record.int64(5))
    clock = record.int64(6)
    principal = Result { () throws(ServerError) in
      let session = record.optionalInt64(7).map {
        Session(
          app: $0, user: record.text(8), generation: 0, expires: record.optionalInt64(9))
      }
      return try claim.principal(session, in: key.app)
    }
    groups = record.texts(10)
    rightsSince = Timestamp(milliseconds: record.int64(11))
    hasListeners = record.flag(12)
    indexes = record.texts(13).compactMap { EntityIndex($0) }
  }

  /// The time of a read of the same moment: what it has not seen has this time or a later one.
  var readTime: Timestamp { Timestamp(milliseconds: clock + 1) }

  /// The earliest moment from which on all changes are known; nil without a history. A collection that does not exist
  /// yet has one if it will have one.
  var historyStart: Timestamp? {
    guard historyDays > 0 else { return nil }
    guard number != nil else { return KnownHistory.start(days: historyDays) }
    return historySince.map {
      KnownHistory.start(days: historyDays, began: $0, ruleSince: ruleSince)
    }
  }

  /// Throws if the caller that it was read for has no session any more.
  func viewer() throws(ServerError) -> Viewer {
    Viewer(principal: try principal.get(), permissions: permissions)
  }

  /// What a rule allows with this collection's entities.
  func access(_ rule: Permissions.Rule, for viewer: Viewer, isWriting: Bool = false) -> NamedAccess
  {
    NamedAccess(
      access: RowAccess(rule: rule, isWriting: isWriting, user: viewer.user), groups: groups)
  }
}
