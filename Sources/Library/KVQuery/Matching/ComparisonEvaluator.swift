internal import KVBase
internal import KVJSON

/// Whether two values stand in the relation that an operator names. Null and nil are the same.
///
/// A scalar is related to an array if it is to one of its elements, as everywhere in queries; to be
/// unequal, it has to be unequal to all.
struct ComparisonEvaluator {
  private let comparison: Comparison
  private let budget: WorkBudget

  init(_ comparison: Comparison, within budget: WorkBudget) {
    self.comparison = comparison
    self.budget = budget
  }

  func holds(_ left: JSONValue?, _ right: JSONValue?) throws(QueryError) -> Bool {
    let (left, right) = (present(left), present(right))
    switch comparison.operator {
    case .equal: return spread(left, right, relate: isEqual)
    case .notEqual: return !spread(left, right, relate: isEqual)
    case .less: return spread(left, right) { self.order($0, $1).map { $0 < 0 } ?? false }
    case .greater: return spread(left, right) { self.order($0, $1).map { $0 > 0 } ?? false }
    case .lessOrEqual:
      return spread(left, right) { self.order($0, $1).map { $0 <= 0 } ?? false }
    case .greaterOrEqual:
      return spread(left, right) { self.order($0, $1).map { $0 >= 0 } ?? false }
    case .between: return isBetween(left, right)
    case .isIn: return isIn(left, right)
    case .beginsWith, .endsWith, .contains: return isPart(right, of: left)
    case .like, .matches: return try isLike(left, right)
    }
  }

  private func present(_ value: JSONValue?) -> JSONValue? {
    value.flatMap { $0.isNull ? nil : $0 }
  }

  /// Relates elements if one side is an array and the other is not.
  private func spread(
    _ left: JSONValue?, _ right: JSONValue?, relate: (JSONValue?, JSONValue?) -> Bool
  ) -> Bool {
    switch (left, right) {
    case (.array(let elements)?, let other) where other?.arrayValue == nil:
      elements.contains { relate(present($0), other) }
    case (let other, .array(let elements)?) where other?.arrayValue == nil:
      elements.contains { relate(other, present($0)) }
    default: relate(left, right)
    }
  }

  private func isEqual(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
    order(left, right) == 0
  }

  /// Negative, 0 or positive; nil for values of two types. Nil equals nil only.
  private func order(_ left: JSONValue?, _ right: JSONValue?) -> Int? {
    guard let left, let right else { return left == nil && right == nil ? 0 : nil }
    guard left.kind == right.kind else { return nil }
    var (a, b): ([UInt8], [UInt8]) = ([], [])
    ValueEncoding.append(folded(left), to: &a, comparison.collation)
    ValueEncoding.append(folded(right), to: &b, comparison.collation)
    return ValueEncoding.compare(a, b)
  }

  private func folded(_ value: JSONValue) -> JSONValue {
    guard !comparison.options.isEmpty, case .string(let text) = value else { return value }
    return .string(comparison.options.fold(text))
  }

  private func isBetween(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
    guard let bounds = right?.arrayValue, bounds.count == 2 else { return false }
    return spread(left, nil) { value, _ in
      guard let low = order(value, present(bounds[0])), let high = order(value, present(bounds[1]))
      else { return false }
      return low >= 0 && high <= 0
    }
  }

  private func isIn(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
    switch right {
    case .array(let elements)?:
      spread(left, nil) { value, _ in elements.contains { isEqual(value, present($0)) } }
    case .object(let object)?: isIn(left, .array(object.members.map(\.value)))
    case .string?: isPart(left, of: right, as: .contains)
    case nil: false
    case .some(let other): isEqual(left, other)
    }
  }

  /// Beginning, end or part of a text; of an array, an element.
  private func isPart(
    _ part: JSONValue?, of whole: JSONValue?, as operation: Comparison.Operator? = nil
  ) -> Bool {
    guard let part, let whole else { return false }
    if case .array(let elements) = whole {
      return elements.contains { element in
        element.stringValue != nil && part.stringValue != nil
          ? isPart(part, of: element, as: operation) : isEqual(present(element), part)
      }
    }
    guard case .string(let text) = folded(whole), case .string(let wanted) = folded(part) else {
      return false
    }
    let (bytes, sought) = (Array(text.utf8), Array(wanted.utf8))
    switch operation ?? comparison.operator {
    case .beginsWith: return bytes.starts(with: sought)
    case .endsWith: return bytes.suffix(sought.count).elementsEqual(sought)
    default:
      return bytes.withUnsafeBufferPointer { bytes in
        sought.withUnsafeBytes { bytes.position(of: $0) } != nil
      }
    }
  }

  private func isLike(_ left: JSONValue?, _ right: JSONValue?) throws(QueryError) -> Bool {
    guard let left, case .string(let source)? = right else { return false }
    let pattern =
      comparison.pattern
      ?? (try? Comparison.pattern(comparison.operator, source, options: comparison.options))
    guard let pattern else { return false }
    for value in left.arrayValue ?? [left] {
      guard case .string(let text) = value else { continue }
      let marked =
        comparison.options.contains(.ignoreMarks) ? TextFolding.withoutMarks(text) : text
      if try pattern.regex.matches(marked, within: budget) { return true }
    }
    return false
  }
}

extension Comparison.Options {
  /// The text as `[c]` and `[d]` compare it.
  fileprivate func fold(_ text: String) -> String {
    let marked = contains(.ignoreMarks) ? TextFolding.withoutMarks(text) : text
    return contains(.ignoreCase) ? TextFolding.withoutCase(marked) : marked
  }
}
