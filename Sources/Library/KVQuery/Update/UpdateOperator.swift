internal import KVBase
internal import KVJSON

/// A change of the value at one path: an operator with its operand, checked.
enum UpdateOperator: Sendable {
  case set(JSONValue)
  case unset
  case increment(Number)
  case multiply(Number)
  case minimum(JSONValue)
  case maximum(JSONValue)
  /// The value of the member at this path, which goes from there.
  case rename(from: Path)
  case push(ArrayPush)
  case addToSet([JSONValue])
  case popFirst
  case popLast
  case pull(ArrayPull)
  /// The time of the update.
  case currentDate

  /// Whether what leads to the value is made where it is missing.
  var creates: Bool {
    switch self {
    case .unset, .popFirst, .popLast, .pull: false
    default: true
    }
  }

  /// Changes the value at the path; nil stands for "nothing there".
  func apply(to value: inout EditableValue?, now: Timestamp) throws(UpdateError) {
    switch self {
    case .set(let operand): value = EditableValue(operand)
    case .unset: value = nil
    case .increment(let amount): value = try amount.added(to: Self.number(value, "$inc"))
    case .multiply(let factor): value = try factor.multiplied(with: Self.number(value, "$mul"))
    case .minimum(let operand): Self.replace(&value, with: operand) { $0 < 0 }
    case .maximum(let operand): Self.replace(&value, with: operand) { $0 > 0 }
    case .rename: break
    case .push(let push): value = .array(try push.apply(to: Self.array(value, "$push")))
    case .addToSet(let operands):
      value = .array(try Self.array(value, "$addToSet").addingMissing(operands))
    case .popFirst, .popLast:
      guard value != nil else { return }
      var elements = try Self.array(value, "$pop")
      guard !elements.isEmpty else { return }
      if case .popFirst = self { elements.removeFirst() } else { elements.removeLast() }
      value = .array(elements)
    case .pull(let pull):
      guard value != nil else { return }
      value = .array(try pull.apply(to: Self.array(value, "$pull")))
    case .currentDate: value = EditableValue(.string(now.description))
    }
  }

  /// The stored number; nil if there is nothing.
  private static func number(
    _ value: EditableValue?, _ name: String
  ) throws(UpdateError) -> Number? {
    guard let value else { return nil }
    guard value.kind == .number else {
      throw UpdateError("\(name) needs a number, but there is \(value.kind.article)")
    }
    return value.withRawValue { $0.number }
  }

  /// The stored elements; none if there is nothing.
  private static func array(
    _ value: EditableValue?, _ name: String
  ) throws(UpdateError) -> [EditableValue] {
    guard let value else { return [] }
    guard let elements = value.elements else {
      throw UpdateError("\(name) needs an array, but there is \(value.kind.article)")
    }
    return elements
  }

  /// Stores the operand where there is no value, or where it compares with the stored one as wanted.
  private static func replace(
    _ value: inout EditableValue?, with operand: JSONValue, if isWanted: (Int) -> Bool
  ) {
    let new = EditableValue(operand)
    if let value, !isWanted(ValueEncoding.compare(new.sortKey, value.sortKey)) { return }
    value = new
  }
}

extension Number {
  /// The sum; an integer if both are.
  fileprivate func added(to stored: Number?) throws(UpdateError) -> EditableValue {
    guard let stored else { return EditableValue(json) }
    if case .int(let a) = stored, case .int(let b) = self {
      let (sum, overflow) = a.addingReportingOverflow(b)
      guard !overflow else { throw UpdateError("the sum does not fit 64 bits") }
      return EditableValue(.int(sum))
    }
    return try Self.finite(stored.double + double)
  }

  /// The product; an integer if both are. Nothing counts as 0.
  fileprivate func multiplied(with stored: Number?) throws(UpdateError) -> EditableValue {
    if case .int(let a) = stored ?? .int(0), case .int(let b) = self {
      let (product, overflow) = a.multipliedReportingOverflow(by: b)
      guard !overflow else { throw UpdateError("the product does not fit 64 bits") }
      return EditableValue(.int(product))
    }
    return try Self.finite((stored?.double ?? 0) * double)
  }

  private static func finite(_ value: Double) throws(UpdateError) -> EditableValue {
    guard value.isFinite else { throw UpdateError("the result is too large for a number") }
    return EditableValue(.double(value))
  }

  private var json: JSONValue {
    switch self {
    case .int(let value): .int(value)
    case .double(let value): .double(value)
    }
  }
}
