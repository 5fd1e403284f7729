internal import KVBase
internal import KVJSON

/// Two versions of an entity and what both started from, made into one.
///
/// Members that one side has changed are taken from there; objects are merged member by member. Where a side wins, lists
/// that both have changed are joined, and it has the other members that both have changed. The slices of the original
/// texts are copied, nothing is printed anew.
struct EntityMerge {
  enum Side { case ours, theirs }

  /// The side whose value is taken where both have changed it; nil: there is no merged entity then.
  private let winner: Side?
  /// Whether theirs is what a backend has made of ours and what it had: it has appended our lists to its own.
  private let isAppended: Bool
  /// Whether ours was made by operators: a number that both have changed to the same value was changed twice.
  private let isCounted: Bool
  private let rules: MergeRules
  /// Whether theirs may have what ours would add: an earlier attempt may have arrived.
  private let mayHaveArrived: Bool
  private let format: RecordFormat
  /// Whether something was given up of the side that does not win.
  private(set) var hasLost = false

  /// What operators make of theirs, where a backend that merges was sent what they had made of the base; nil: that is not known.
  private var operated: [UInt8]?

  /// Objects inside objects are merged to this depth; further down they are taken as a whole.
  private static let maxLevels = 64

  init(
    _ format: RecordFormat, winner: Side?, isAppended: Bool = false, isCounted: Bool = false,
    rules: MergeRules = MergeRules(), mayHaveArrived: Bool = false
  ) {
    (self.format, self.winner) = (format, winner)
    (self.isAppended, self.isCounted) = (isAppended, isCounted)
    (self.rules, self.mayHaveArrived) = (rules, mayHaveArrived)
  }

  /// What is left to send after a backend has merged an entity that operators had made of `base` with its own; nil: nothing.
  ///
  /// Such a backend keeps each value that it has, and appends lists. So the other members are as the operators make them of
  /// theirs, `operated`, and what was appended is taken away again.
  static func left(
    of operated: [UInt8], base: [UInt8]?, ours: [UInt8], theirs: [UInt8], _ format: RecordFormat,
    _ rules: MergeRules
  ) throws(StoreError) -> [UInt8]? {
    var merge = EntityMerge(
      format, winner: .theirs, isAppended: true, isCounted: true, rules: rules)
    merge.operated = operated
    guard let merged = try merge.merged(base: base, ours: ours, theirs: theirs),
      try !BackendEntity(theirs, format).isSame(as: merged, startedFrom: nil)
    else { return nil }
    return merged
  }

  /// Nil if both sides have changed the same member to different values and none wins. `base` nil: nothing was there. Throws
  /// `.storage` if there is no memory to compare them.
  mutating func merged(
    base: [UInt8]?, ours: [UInt8], theirs: [UInt8]
  ) throws(StoreError) -> [UInt8]? {
    var ours = Members(ours)
    let theirs = Members(theirs)
    for name in format.backendMembers.map({ Array($0.utf8) }) { ours[name] = theirs[name] }
    // Permissions are ours only where we say something about them.
    if let name = format.permissions.map({ Array($0.utf8) }), ours[name] == nil {
      ours[name] = theirs[name]
    }
    return try merged(
      base.map { Members($0) } ?? Members(), ours, theirs: theirs,
      operated: operated.map { Members($0) },
      at: [])
  }

  private mutating func merged(
    _ base: Members, _ ours: Members, theirs: Members, operated: Members?, at path: [[UInt8]]
  ) throws(StoreError) -> [UInt8]? {
    var merged = Members()
    for name in theirs.names + ours.names where merged[name] == nil {
      let other = operated.map { $0[name] }
      switch try choice(
        base[name], ours[name], theirs: theirs[name], operated: other, at: path + [name])
      {
      case .value(let value): merged[name] = value
      case .conflict: return nil
      }
    }
    return merged.text
  }

  private enum Choice {
    /// Nil: the member goes.
    case value([UInt8]?)
    case conflict
  }

  /// `operated` nil: it is not known what operators make of theirs.
  private mutating func choice(
    _ base: [UInt8]?, _ ours: [UInt8]?, theirs: [UInt8]?, operated: [UInt8]??,
    at path: [[UInt8]]
  ) throws(StoreError) -> Choice {
    if let ours, let theirs, let list = try list(base, ours, theirs: theirs, at: path) {
      return .value(list)
    }
    if try Self.isSame(ours, theirs) {
      guard isCounted, Self.isNumber(ours), try !Self.isSame(ours, base) else {
        return .value(theirs)
      }
      // Where it has no value, a backend that merges takes the one that it gets.
      if let operated { return .value(Self.isMissing(base) ? theirs : operated) }
      guard winner != nil else { return .conflict }
      hasLost = true
      return .value(theirs)
    }
    if try Self.isSame(ours, base) { return .value(operated ?? theirs) }
    let theirs = try isAppended ? MergedList.before(theirs, appended: ours) : theirs
    if try Self.isSame(theirs, base) { return .value(ours) }
    if let ours, let theirs,
      let joined = try joined(base, ours, theirs: theirs, operated: operated, at: path)
    {
      return .value(joined)
    }
    if let operated { return .value(operated) }
    guard let winner else { return .conflict }
    hasLost = true
    return .value(winner == .ours ? ours : theirs)
  }

  /// A list that a rule is for; nil for others, and where only one side has changed it.
  private func list(
    _ base: [UInt8]?, _ ours: [UInt8], theirs: [UInt8], at path: [[UInt8]]
  ) throws(StoreError) -> [UInt8]? {
    guard !rules.isEmpty, var rule = rules[path] else { return nil }
    if mayHaveArrived { rule = .union }
    let theirs = try isAppended ? MergedList.before(theirs, appended: ours) ?? theirs : theirs
    guard try !Self.isSame(ours, base), try !Self.isSame(theirs, base) else { return nil }
    return try MergedList.joined(base, ours, theirs: theirs, by: rule)
  }

  /// Objects, or lists where a side wins; nil for other values.
  private mutating func joined(
    _ base: [UInt8]?, _ ours: [UInt8], theirs: [UInt8], operated: [UInt8]??, at path: [[UInt8]]
  ) throws(StoreError) -> [UInt8]? {
    if let ours = Members(ours, isObject: true), let theirs = Members(theirs, isObject: true) {
      guard path.count <= Self.maxLevels,
        let base = Members(base ?? Array("{}".utf8), isObject: true)
      else { return nil }
      let operated = operated.map { $0.flatMap { Members($0, isObject: true) } ?? Members() }
      return try merged(base, ours, theirs: theirs, operated: operated, at: path)
    }
    return winner == nil ? nil : try MergedList.joined(base, ours, theirs: theirs)
  }

  private static func isMissing(_ text: [UInt8]?) -> Bool {
    text.map { $0.elementsEqual("null".utf8) } ?? true
  }

  private static func isNumber(_ text: [UInt8]?) -> Bool {
    guard let first = text?.first else { return false }
    return first == UInt8(ascii: "-") || first &- UInt8(ascii: "0") <= 9
  }

  private static func isSame(_ left: [UInt8]?, _ right: [UInt8]?) throws(StoreError) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    if left == right { return true }
    guard let left = try JSONValue.ifValid(left) else { return false }
    return try JSONValue.ifValid(right) == left
  }

  /// The members of one object: names and the texts of their values, in their order.
  private struct Members {
    private var members: [(name: [UInt8], value: [UInt8])] = []
    private var indices: [[UInt8]: Int] = [:]

    init() {}

    /// Reads the members of an entity; a text that is not an object has none.
    init(_ bytes: [UInt8]) { self = Members(bytes, isObject: true) ?? Members() }

    /// Nil for what is no object.
    init?(_ bytes: [UInt8], isObject: Bool) {
      let read = bytes.withBorrowedBytes { bytes -> [(name: [UInt8], value: [UInt8])]? in
        let scanner = ByteScanner(bytes)
        guard var cursor = try? MemberCursor(scanner, at: scanner.skipSpace(0)) else { return nil }
        var members: [(name: [UInt8], value: [UInt8])] = []
        while let member = try? cursor.next() {
          members.append((scanner.unescaped(member.name), Array(bytes[member.value])))
        }
        return members
      }
      guard let read else { return nil }
      for member in read { self[member.name] = member.value }
    }

    var names: [[UInt8]] { members.map(\.name) }

    /// Setting nil does not remove what is there: nothing here needs that.
    subscript(_ name: [UInt8]) -> [UInt8]? {
      get { indices[name].map { members[$0].value } }
      set {
        guard let newValue else { return }
        if let index = indices[name] {
          members[index].value = newValue
        } else {
          indices[name] = members.count
          members.append((name, newValue))
        }
      }
    }

    var text: [UInt8] {
      var object = JSONObjectWriter()
      for member in members {
        object.add(String(decoding: member.name, as: UTF8.self), json: member.value)
      }
      return object.bytes
    }
  }
}
