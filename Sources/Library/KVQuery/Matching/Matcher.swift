internal import CScan
package import KVBase
package import KVJSON

/// A predicate, prepared to be held against many entities. Immutable; safe from any thread.
package final class Matcher: Sendable {
  private indirect enum Node: Sendable {
    case constant(Bool)
    case and([Node])
    case or([Node])
    case nor([Node])
    /// Checks of what is after the top-level member number `slot`.
    case field(slot: Int, rest: [Path.Component], checks: Checks)
    case text(TextSearch)
    case comparison(Comparison)
  }

  /// The range of a top-level member.
  private typealias Slot = kv_span

  private let root: Node
  private let budget: WorkBudget
  private let format: RecordFormat
  /// The top-level members that are looked at.
  private let members: MemberFinder
  /// The array index that each member's name may also mean; nil if it is no number.
  private let elementIndexes: [Int?]
  /// The predicate in the form that most have; nil if this one has not.
  private let quick: FastPath?
  /// The text that every matching entity contains; nil: nothing in particular.
  private let required: RequiredText?

  /// `budget`: the caller's; it is checked for each entity, and inside of an entity where a long predicate
  /// or a long array makes that take long. `format`: of the entities; it says where texts are not searched.
  package init(
    _ predicate: Predicate, within budget: WorkBudget = .unlimited,
    of format: RecordFormat = .default
  ) {
    var slots = Slots()
    root = Matcher.prepare(predicate, &slots, within: budget)
    self.budget = budget
    self.format = format
    members = MemberFinder(slots.names)
    quick = FastPath(predicate, slots.numbers)
    required = RequiredText(predicate)
    elementIndexes = slots.indexes
  }

  /// The top-level members that a predicate looks at, each with a number.
  private struct Slots {
    private(set) var names: [[UInt8]] = []
    private(set) var numbers: [[UInt8]: Int] = [:]
    /// The array index that each name may also mean; nil if it is no number.
    private(set) var indexes: [Int?] = []

    mutating func number(of member: Path.Component) -> Int {
      if let known = numbers[member.name] { return known }
      numbers[member.name] = names.count
      names.append(member.name)
      indexes.append(member.index)
      return names.count - 1
    }
  }

  private static func prepare(
    _ predicate: Predicate, _ slots: inout Slots, within budget: WorkBudget
  ) -> Node {
    switch predicate {
    case .everything: return .constant(true)
    case .nothing: return .constant(false)
    case .and(let parts): return .and(parts.map { prepare($0, &slots, within: budget) })
    case .or(let parts): return .or(alternatives(parts, &slots, within: budget))
    case .nor(let parts): return .nor(alternatives(parts, &slots, within: budget))
    case .field(let path, let tests):
      return .field(
        slot: slots.number(of: path.components[0]), rest: Array(path.components.dropFirst()),
        checks: Checks(tests, within: budget))
    case .text(let search): return .text(search)
    case .comparison(let comparison): return .comparison(comparison)
    }
  }

  private static func alternatives(
    _ parts: [Predicate], _ slots: inout Slots, within budget: WorkBudget
  ) -> [Node] {
    Predicate.merged(alternatives: parts).map { prepare($0, &slots, within: budget) }
  }

  /// Bytes that every entity has that matches, unless it has a backslash: for a store that can leave out the others before
  /// they are matched. Nil: nothing in particular.
  package var requiredText: [UInt8]? { required?.text }

  /// Whether a stored entity is what the predicate asks for. At most one pass over its bytes, which ends
  /// when all that is asked for was seen. Throws when a regular expression takes too long, with the entity's id,
  /// and when the budget is exhausted.
  package func matches(_ entity: UnsafeRawBufferPointer) throws(QueryError) -> Bool {
    if let required, !required.mayBe(in: entity) {
      if budget.isExhausted { throw .exhausted }
      return false
    }
    let scanner = ByteScanner(entity)
    let start = scanner.skipSpace(0)
    guard start < scanner.end, scanner.base[start] == UInt8(ascii: "{") else { return false }
    do throws(QueryError) {
      return try matches(RawValue(scanner, start..<scanner.end))
    } catch {
      throw error.naming(entity, format)
    }
  }

  package func matches(_ entity: [UInt8]) throws(QueryError) -> Bool {
    try entity.withUnsafeBufferPointer { (bytes) throws(QueryError) in
      try matches(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Matches an object, or an array whose indexes serve as names, inside an entity.
  func matches(_ value: RawValue) throws(QueryError) -> Bool {
    if budget.isExhausted { throw .exhausted }
    let kind = value.kind
    guard kind == .object || kind == .array else { return false }
    return try withTemporaryMemory(of: Slot.self, capacity: members.names.count) {
      (slots) throws(QueryError) in
      if kind == .object {
        members.find(in: value.scanner, at: value.range.lowerBound, into: slots)
        if let verdict = quick?.verdict(value.scanner, UnsafeBufferPointer(slots)) {
          return verdict
        }
      } else {
        collectElements(value, slots)
      }
      return try holds(root, value, slots: UnsafeBufferPointer(slots))
    }
  }

  private func collectElements(_ value: RawValue, _ slots: UnsafeMutableBufferPointer<Slot>) {
    for slot in slots.indices { slots[slot] = Slot() }
    _ = value.containsElement { element, index in
      for slot in 0..<elementIndexes.count where elementIndexes[slot] == index {
        slots[slot] = Slot(start: element.range.lowerBound, end: element.range.upperBound)
      }
      return false
    }
  }

  private func holds(
    _ node: Node, _ entity: RawValue, slots: UnsafeBufferPointer<Slot>
  ) throws(QueryError) -> Bool {
    switch node {
    case .constant(let value): return value
    case .and(let parts):
      for part in parts where try !holds(part, entity, slots: slots) { return false }
      return true
    case .or(let parts):
      for part in parts where try holds(part, entity, slots: slots) { return true }
      return false
    case .nor(let parts):
      for part in parts where try holds(part, entity, slots: slots) { return false }
      return true
    case .field(let slot, let rest, let checks):
      let found = slots[slot]
      let value = found.end == 0 ? nil : RawValue(entity.scanner, found.start..<found.end)
      return try checks.hold(for: value, at: rest[...])
    case .text(let search): return search.holds(entity: entity, format)
    case .comparison(let comparison):
      var evaluation = Evaluation(entity, within: budget)
      return try evaluation.holds(comparison)
    }
  }
}

extension Query {
  /// The matcher of the filter; nil: everything matches.
  package var matcher: Matcher? { matcher(within: .unlimited) }

  /// The matcher of the filter, which throws when the budget is exhausted.
  package func matcher(within budget: WorkBudget) -> Matcher? {
    filter == .everything ? nil : Matcher(filter, within: budget, of: format)
  }
}
