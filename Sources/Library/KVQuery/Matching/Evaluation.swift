internal import KVBase
internal import KVJSON

/// Evaluates comparisons that have no form in MongoDB's language, over one entity.
///
/// Values are decoded only as far as an expression needs them. The steps are counted, because nested
/// `SUBQUERY`s multiply.
struct Evaluation {
  /// A value in the entity's bytes, or one that was computed. Null is never one: it is nil.
  enum Item {
    case raw(RawValue)
    case value(JSONValue)

    var json: JSONValue {
      switch self {
      case .raw(let raw): raw.json
      case .value(let value): value
      }
    }
  }

  static let budget = 1_000_000

  private let root: RawValue?
  private let budget: WorkBudget
  private var bindings: [(name: RecordID, item: Item)] = []
  private var steps = 0

  /// `root` nil: there is no entity; only constants have values.
  init(_ root: RawValue?, within budget: WorkBudget = .unlimited) {
    self.root = root
    self.budget = budget
  }

  // MARK: Predicates

  mutating func holds(_ predicate: Predicate) throws(QueryError) -> Bool {
    try step()
    switch predicate {
    case .everything: return true
    case .nothing: return false
    case .and(let parts):
      for part in parts where try !holds(part) { return false }
      return true
    case .or(let parts):
      for part in parts where try holds(part) { return true }
      return false
    case .nor(let parts):
      for part in parts where try holds(part) { return false }
      return true
    case .field, .text:
      return try root.map { (root) throws(QueryError) in
        try Matcher(predicate, within: budget).matches(root)
      } ?? false
    case .comparison(let comparison): return try holds(comparison)
    }
  }

  mutating func holds(_ comparison: Comparison) throws(QueryError) -> Bool {
    let left = try value(of: comparison.left)
    let right = try value(of: comparison.right)?.json
    let evaluator = ComparisonEvaluator(comparison, within: budget)
    switch comparison.quantifier {
    case nil: return try evaluator.holds(left?.json, right)
    case .any?:
      for element in elements(of: left) where try evaluator.holds(element.json, right) {
        return true
      }
      return false
    case .all?:
      for element in elements(of: left) where try !evaluator.holds(element.json, right) {
        return false
      }
      return true
    }
  }

  private mutating func step() throws(QueryError) {
    steps += 1
    guard steps <= Evaluation.budget else {
      throw QueryError(.budget, "the predicate needs too many steps")
    }
    if budget.isExhausted { throw .exhausted }
  }

  // MARK: Expressions

  mutating func value(of expression: Expression) throws(QueryError) -> Item? {
    try step()
    switch expression {
    case .constant(let value): return value.isNull ? nil : .value(value)
    case .current: return root.map { .raw($0) }
    case .variable(let name): return bindings.last { $0.name == name }?.item
    case .member(let base, let name):
      return try value(of: base).flatMap { member(name.text, of: $0) }
    case .element(let base, let index): return try element(index, of: try value(of: base))
    case .aggregate(let aggregate, let base):
      return Evaluation.item(aggregate.apply(try value(of: base)?.json))
    case .function(let function, let arguments):
      var values: [JSONValue] = []
      for argument in arguments { values.append(try value(of: argument)?.json ?? .null) }
      return Evaluation.item(function.apply(values))
    case .list(let expressions):
      var values: [JSONValue] = []
      for element in expressions { values.append(try value(of: element)?.json ?? .null) }
      return .value(.array(values))
    case .subquery(let base, let name, let predicate):
      return try selection(from: try value(of: base), name, predicate: predicate)
    case .ternary(let condition, let first, let second):
      return try value(of: try holds(condition) ? first : second)
    }
  }

  private static func item(_ value: JSONValue?) -> Item? {
    value.flatMap { $0.isNull ? nil : .value($0) }
  }

  /// Returns a member; of an array the member of each element.
  private func member(_ name: String, of item: Item) -> Item? {
    switch item {
    case .raw(let raw) where raw.kind == .object:
      return raw.member(Array(name.utf8)).flatMap { $0.kind == .null ? nil : .raw($0) }
    case .value(.object(let object)): return Evaluation.item(object[name])
    case .raw(let raw) where raw.kind != .array: return nil
    case .value(let value) where value.arrayValue == nil: return nil
    case .raw, .value:
      return .value(.array(elements(of: item).map { member(name, of: $0)?.json ?? .null }))
    }
  }

  private mutating func element(
    _ selector: Expression.Index, of item: Item?
  ) throws(QueryError) -> Item? {
    guard let item else { return nil }
    var named: JSONValue?
    if case .number(let number) = selector { named = try value(of: number)?.json }
    if case .string(let name)? = named { return member(name, of: item) }
    guard item.isArray else { return nil }
    let elements = elements(of: item)
    let index: Int64
    switch selector {
    case .first: index = 0
    case .last: index = Int64(elements.count) - 1
    case .number:
      guard let number = named?.intValue else { return nil }
      index = number
    }
    guard index >= 0, index < elements.count else { return nil }
    return Evaluation.item(elements[Int(index)].json)
  }

  /// A collection's elements; none of nil, and what is no collection is one element.
  private func elements(of item: Item?) -> [Item] {
    guard let item else { return [] }
    guard item.isArray else { return [item] }
    switch item {
    case .value(let value): return (value.arrayValue ?? []).map { .value($0) }
    case .raw(let raw):
      var items: [Item] = []
      _ = raw.containsElement { element, _ in
        items.append(.raw(element))
        return false
      }
      return items
    }
  }

  private mutating func selection(
    from item: Item?, _ name: RecordID, predicate: Predicate
  ) throws(QueryError) -> Item? {
    guard let item else { return nil }
    var selected: [JSONValue] = []
    for element in elements(of: item) {
      bindings.append((name, element))
      let isSelected = try holds(predicate)
      bindings.removeLast()
      if isSelected { selected.append(element.json) }
    }
    return .value(.array(selected))
  }
}

extension Evaluation.Item {
  fileprivate var isArray: Bool {
    switch self {
    case .raw(let raw): raw.kind == .array
    case .value(let value): value.arrayValue != nil
    }
  }
}

extension RawValue {
  /// The value as decoded JSON.
  var json: JSONValue { json(levels: EntityScanner.maximumDepth) }

  /// `levels`: how deep it looks; entities are never deeper, unless the database was changed from outside.
  private func json(levels: Int) -> JSONValue {
    switch kind {
    case .object where levels == 0, .array where levels == 0: return .null
    case .null: return .null
    case .bool: return .bool(bool)
    case .number:
      switch number {
      case .int(let value): return .int(value)
      case .double(let value): return .double(value)
      }
    case .string: return .string(withText { String(decoding: $0, as: UTF8.self) })
    case .array:
      var elements: [JSONValue] = []
      _ = containsElement { element, _ in
        elements.append(element.json(levels: levels - 1))
        return false
      }
      return .array(elements)
    case .object:
      var object = JSONObject()
      var members = TrustedMembers(scanner, at: range.lowerBound)
      while let member = members.next() {
        object.members.append(
          .init(
            scanner.text(member.name), RawValue(scanner, member.value).json(levels: levels - 1)))
      }
      return .object(object)
    }
  }
}
