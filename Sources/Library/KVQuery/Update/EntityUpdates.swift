package import KVBase
package import KVJSON

/// Updates of one entity that are carried out one after the other, as a client keeps and sends them.
///
/// A client keeps updates that say what to do with what is there, so that those of several clients may follow each other.
/// `$set` is not among them: it replaces what others have written by a value that was decided without them.
package struct EntityUpdates: Sendable {
  /// So many bytes of JSON, and so many updates, at the most.
  package static let maxBytes = 64 << 10
  package static let maxCount = 100

  private let updates: [EntityUpdate]

  /// No update.
  package init() { updates = [] }

  private init(_ updates: [EntityUpdate]) { self.updates = updates }

  /// Reads `[{"$inc":{"a":1}},…]`. Throws `.json` or `.syntax` if it is none, or has too many.
  package init(_ json: JSONValue, _ format: RecordFormat = .default) throws(QueryError) {
    guard let elements = json.arrayValue, elements.count <= Self.maxCount else {
      throw QueryError(
        .syntax, "The updates must be an array of at most \(Self.maxCount) objects.")
    }
    updates = try elements.map { (element) throws(QueryError) in
      try EntityUpdate(element.text, format)
    }
  }

  package var isEmpty: Bool { updates.isEmpty }

  /// Whether carrying them out takes little time and memory, whatever the entity: on a server, other writers wait.
  package var isBounded: Bool {
    updates.allSatisfy(\.isBounded)
      && updates.reduce(0) { $0 + $1.largestPadding } <= EditableValue.maximumPadding
  }

  /// The lists that `$push` adds to.
  package var pushedPaths: [Path] { updates.flatMap(\.pushedPaths) }

  /// `[{"$inc":{"a":1}},…]`, in the backend's names.
  package var text: String { "[" + updates.map(\.text).joined(separator: ",") + "]" }

  /// The bytes of `text`, of one update at least.
  private var bytes: Int { updates.reduce(1) { $0 + $1.text.utf8.count + 1 } }

  /// These and then another one, joined where that makes the same of every entity: two `$inc` of a member are one. Nil if
  /// it is not relative, or if they become too many.
  package func adding(_ update: EntityUpdate, _ format: RecordFormat) -> EntityUpdates? {
    guard update.isRelative, update.isBounded else { return nil }
    var updates = updates
    if let joined = updates.last?.joined(with: update, format) {
      updates[updates.count - 1] = joined
    } else {
      updates.append(update)
    }
    let all = EntityUpdates(updates)
    guard updates.count <= Self.maxCount, all.bytes <= Self.maxBytes, all.isBounded
    else { return nil }
    return all
  }

  /// The same with several.
  package func adding(_ others: EntityUpdates, _ format: RecordFormat) -> EntityUpdates? {
    var all: EntityUpdates? = self
    for update in others.updates { all = all?.adding(update, format) }
    return all
  }

  /// The entity after all of them; nil if it stays as it is. Throws like `EntityUpdate.apply`.
  package func apply(to entity: [UInt8], now: Timestamp) throws(QueryError) -> [UInt8]? {
    var changed: [UInt8]?
    for update in updates { changed = try update.apply(to: changed ?? entity, now: now) ?? changed }
    return changed
  }
}

extension EntityUpdate {
  /// Whether none of its operators sets a value.
  package var isRelative: Bool { steps.allSatisfy(\.operation.isRelative) }

  /// How many nulls it may add to arrays at the most.
  fileprivate var largestPadding: Int {
    steps.reduce(0) { sum, step in
      step.path.components.reduce(sum) { $0 + min($1.index ?? 0, 2 * EditableValue.maximumPadding) }
    }
  }

  /// Whether the conditions of its `$pull` are short comparisons.
  fileprivate var isBounded: Bool {
    guard steps.contains(where: { if case .pull = $0.operation { true } else { false } }),
      let pulls = (try? JSONValue(parsing: text))?["$pull"]?.objectValue
    else { return true }
    return pulls.members.allSatisfy { pull in
      pull.value.objectValue == nil
        || pull.value.text.utf8.count <= 1_024 && Self.compares(pull.value)
    }
  }

  private static let comparisons = [
    "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$and", "$or", "$nor",
    "$not",
  ]

  private static func compares(_ value: JSONValue) -> Bool {
    if let elements = value.arrayValue { return elements.allSatisfy(compares) }
    return value.objectValue?.members.allSatisfy { member in
      (!member.name.hasPrefix("$") || comparisons.contains(member.name)) && compares(member.value)
    } ?? true
  }

  /// One update that makes what this and then the other one make of any entity; nil if there is none, or it is not looked for.
  fileprivate func joined(with next: EntityUpdate, _ format: RecordFormat) -> EntityUpdate? {
    guard var operators = (try? JSONValue(parsing: text))?.objectValue,
      let added = (try? JSONValue(parsing: next.text))?.objectValue
    else { return nil }
    for one in added.members {
      guard let targets = one.value.objectValue else { return nil }
      var all = operators[one.name]?.objectValue ?? JSONObject()
      for target in targets.members {
        guard let known = all[target.name] else {
          all[target.name] = target.value
          continue
        }
        guard let joined = Self.joined(known, target.value, of: one.name) else { return nil }
        all[target.name] = joined
      }
      operators[one.name] = .object(all)
    }
    // Two operators of one member, or of what is inside of it, are not one update.
    return try? EntityUpdate(JSONValue.object(operators).text, format)
  }

  /// The operand that does what two do, one after the other.
  private static func joined(
    _ first: JSONValue, _ second: JSONValue, of name: String
  ) -> JSONValue? {
    switch (name, first, second) {
    case ("$inc", .int(let first), .int(let second)):
      // Sums of doubles depend on their order.
      let (sum, overflow) = first.addingReportingOverflow(second)
      return overflow ? nil : .int(sum)
    case ("$min", _, _), ("$max", _, _):
      let order = ValueEncoding.compare(
        EditableValue(second).sortKey, EditableValue(first).sortKey)
      return (name == "$min" ? order < 0 : order > 0) ? second : first
    case ("$unset", _, _): return first
    case ("$currentDate", _, _): return second
    case ("$push", _, _), ("$addToSet", _, _):
      guard let first = elements(first), let second = elements(second) else { return nil }
      return ["$each": .array(first + second)]
    default: return nil
    }
  }

  /// The elements of an operand that says nothing of their place.
  private static func elements(_ operand: JSONValue) -> [JSONValue]? {
    guard let object = operand.objectValue, FilterParser.isOperators(object) else {
      return [operand]
    }
    return object.count == 1 ? object["$each"]?.arrayValue : nil
  }
}

extension UpdateOperator {
  fileprivate var isRelative: Bool {
    switch self {
    case .increment, .multiply, .minimum, .maximum, .push, .addToSet, .popFirst, .popLast, .pull,
      .unset, .rename, .currentDate:
      true
    case .set: false
    }
  }
}
