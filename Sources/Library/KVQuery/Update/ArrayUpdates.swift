internal import KVJSON

/// `$push`: adds elements at a position, then sorts, then keeps some.
struct ArrayPush: Sendable {
  var elements: [JSONValue]
  /// The index they are inserted at: from the start, or from the end if it is negative; nil: after the last one.
  var position: Int?
  var order: Order?
  /// The number of elements that are kept: the first ones, or the last ones if it is negative.
  var slice: Int?

  enum Order: Sendable {
    /// Orders by the elements themselves.
    case elements(ascending: Bool)
    /// Orders by members of the elements.
    case members([Query.SortKey])
  }

  func apply(to stored: [EditableValue]) -> [EditableValue] {
    var result = stored
    result.insert(contentsOf: elements.map { EditableValue($0) }, at: index(in: stored.count))
    if let order { result = order.sorted(result) }
    guard let slice else { return result }
    return Array(slice < 0 ? result.suffix(-slice) : result.prefix(slice))
  }

  private func index(in count: Int) -> Int {
    guard let position else { return count }
    return position < 0 ? max(0, count + position) : min(count, position)
  }
}

extension ArrayPush.Order {
  /// Elements that the order leaves equal keep theirs.
  fileprivate func sorted(_ elements: [EditableValue]) -> [EditableValue] {
    let keys = elements.map(key)
    let indices = elements.indices.sorted { left, right in
      let order = ValueEncoding.compare(keys[left], keys[right])
      return order == 0 ? left < right : isDescending ? order > 0 : order < 0
    }
    return indices.map { elements[$0] }
  }

  private var isDescending: Bool {
    if case .elements(ascending: false) = self { true } else { false }
  }

  private func key(_ element: EditableValue) -> [UInt8] {
    switch self {
    case .elements: element.sortKey
    case .members(let keys): Sorter(keys).key(of: element.text)
    }
  }
}

/// `$pull`: removes the elements that are equal to a value, or meet a condition.
enum ArrayPull: Sendable {
  /// Elements equal to a value, which is given by its sort key.
  case equal([UInt8])
  /// Conditions of the element itself.
  case checks(Checks)
  /// A filter over the members of elements that are objects.
  case filter(Matcher)

  func apply(to stored: [EditableValue]) throws(UpdateError) -> [EditableValue] {
    var kept: [EditableValue] = []
    for element in stored where try !matches(element) { kept.append(element) }
    return kept
  }

  private func matches(_ element: EditableValue) throws(UpdateError) -> Bool {
    do throws(QueryError) {
      switch self {
      case .equal(let wanted): return element.sortKey == wanted
      case .filter(let matcher):
        guard element.kind == .object else { return false }
        return try element.withRawValue { (value) throws(QueryError) in try matcher.matches(value) }
      case .checks(let checks):
        return try element.withRawValue { (value) throws(QueryError) in
          try checks.hold(forElement: value)
        }
      }
    } catch {
      throw UpdateError(error.message)
    }
  }
}

extension [EditableValue] {
  /// Returns the array with each of these values that is not in it yet, once.
  func addingMissing(_ values: [JSONValue]) -> [EditableValue] {
    var known = Set(map(\.sortKey))
    var result = self
    for value in values.map({ EditableValue($0) }) where known.insert(value.sortKey).inserted {
      result.append(value)
    }
    return result
  }
}
