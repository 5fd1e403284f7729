internal import KVBase
internal import KVJSON
internal import KVServerCore

/// What the servers of the same data agree on: the settings for collections without their own.
struct CollectionDefaults: Sendable {
  var permissions = Permissions()
  /// 0: no history.
  var historyDays = 0

  func permissions(of key: CollectionKey) -> Permissions {
    key.isOwn ? .sharedByACL : permissions
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
  /// The groups of the user it was read for.
  let groups: [String]
  let hasListeners: Bool
  let indexes: [EntityIndex]

  /// `user`: whose groups count.
  static func select(_ key: CollectionKey, user: String) -> SQL {
    """
    SELECT c.number, c.permissions, c.history_days, c.history_since, c.read_rule, c.rule_since, a.clock,
      ARRAY(SELECT grp FROM group_member WHERE app = a.number AND usr = \(bind: user)),
      EXISTS(SELECT 1 FROM live WHERE app = a.number AND collection = \(bind: key.name)),
      \(EntityIndex.selectAll(of: "c.number"))
    FROM app AS a LEFT JOIN collection AS c ON c.app = a.number AND c.name = \(bind: key.name)
    WHERE a.number = \(bind: key.app)
    """
  }

  /// Reads the first row of `select`.
  init(_ key: CollectionKey, _ rows: ResultRows, defaults: CollectionDefaults) {
    self.key = key
    number = rows.optionalInt64(0, 0)
    var permissions = defaults.permissions(of: key)
    if let text = rows.optionalText(0, 1), let value = try? JSONValue(parsing: text),
      let object = value.objectValue
    {
      // What an older version wrote and this one does not know falls back to the defaults.
      try? permissions.apply(object)
    }
    self.permissions = permissions
    ownDays = rows.optionalInt64(0, 2).map { Int($0) }
    historyDays = key.isOwn ? 0 : ownDays ?? defaults.historyDays(of: key)
    historySince = rows.optionalInt64(0, 3).map { Timestamp(milliseconds: $0) }
    readRule = rows.optionalText(0, 4).flatMap(Permissions.Rule.init)
    ruleSince = Timestamp(milliseconds: rows.int64(0, 5))
    clock = rows.int64(0, 6)
    groups = rows.texts(0, 7)
    hasListeners = rows.flag(0, 8)
    indexes = rows.texts(0, 9).compactMap { EntityIndex($0) }
  }

  /// The time of a read of the same moment: what it has not seen has this time or a later one.
  var readTime: Timestamp { Timestamp(milliseconds: clock + 1) }

  /// The earliest moment from which on all changes are known; nil without a history. A collection that does not exist
  /// yet has one if it will have one.
  var historyStart: Timestamp? {
    guard historyDays > 0 else { return nil }
    let oldest = Timestamp(
      milliseconds: Timestamp.now().milliseconds - Int64(historyDays) * 86_400_000)
    guard number != nil else { return oldest }
    return historySince.map { max($0, ruleSince, oldest) }
  }

  func viewer(for principal: Principal) -> Viewer {
    Viewer(principal: principal, permissions: permissions)
  }

  /// What a rule lets somebody do with this collection's entities.
  func access(_ rule: Permissions.Rule, for viewer: Viewer, isWriting: Bool = false) -> NamedAccess
  {
    NamedAccess(
      access: RowAccess(rule: rule, isWriting: isWriting, user: viewer.user), groups: groups)
  }
}
