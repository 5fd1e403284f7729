/// An expression of a reduce function over the group's members and the entity's fields. Names are UTF-8.
indirect enum JavaScriptExpression: Equatable {
  case number(Int)
  /// `out.a`, or a variable that stands for it.
  case member([UInt8])
  /// `doc.a.b`, as a path.
  case field([UInt8])
  case sum(JavaScriptExpression, JavaScriptExpression)
  case product(JavaScriptExpression, JavaScriptExpression)
  case quotient(JavaScriptExpression, JavaScriptExpression)
  /// `Math.min(a, b)`, or `max`.
  case extreme(JavaScriptExpression, JavaScriptExpression, isMinimum: Bool)
  /// `out.a = …`; `out.a += …` and `++out.a` in the same form. Its value is the new one.
  case assignment([UInt8], JavaScriptExpression)

  /// `+` and `*` of numbers give the same in either order: whether this adds these two.
  func adds(_ one: JavaScriptExpression, _ other: JavaScriptExpression) -> Bool {
    self == .sum(one, other) || self == .sum(other, one)
  }

  /// The summand added to another expression, on either side; nil if this is no such sum.
  func summand(besides other: JavaScriptExpression) -> JavaScriptExpression? {
    guard case .sum(let left, let right) = self else { return nil }
    return left == other ? right : right == other ? left : nil
  }
}

extension ReduceStatement {
  /// The steps that an expression takes when it stands as a statement; nil for what is not known.
  ///
  /// `condition`: the field whose being a number it depends on.
  static func steps(
    of expression: JavaScriptExpression, condition: [UInt8]?
  ) -> [ReduceStatement]? {
    guard case .assignment(let target, let value) = expression else { return nil }
    switch value {
    case .extreme(let left, let right, let isMinimum):
      guard let field = left.field(besides: target, right) else { return nil }
      return [.extreme(target, field: field, isMinimum: isMinimum)]
    case .quotient(.member(let sum), .member(let count)):
      return [.divide(target, sum: sum, count: count)]
    case .quotient(let total, let divisor): return mean(target, total, divisor: divisor)
    default:
      switch value.summand(besides: .member(target)) {
      case .number(1): return [.increment(target, of: condition)]
      case .field(let field): return [.add(target, field: field)]
      default: return nil
      }
    }
  }

  /// `out.a = (out.a * out.c + doc.f) / (out.c + 1)`, where the divisor may also be `(out.c += 1)`.
  private static func mean(
    _ target: [UInt8], _ total: JavaScriptExpression, divisor: JavaScriptExpression
  ) -> [ReduceStatement]? {
    var next = divisor
    var counter: [UInt8]?
    if case .assignment(let name, let value) = divisor { (counter, next) = (name, value) }
    guard case .member(let count)? = next.summand(besides: .number(1)),
      counter == nil || counter == count,
      let field = total.field(addedTo: .member(target), times: .member(count))
    else { return nil }
    let mean = ReduceStatement.mean(target, field: field, count: count)
    return counter == nil ? [mean] : [mean, .increment(count, of: field)]
  }
}

extension JavaScriptExpression {
  /// Returns the one of this and another that is a field, where the other one is the member.
  fileprivate func field(besides member: [UInt8], _ other: JavaScriptExpression) -> [UInt8]? {
    switch (self, other) {
    case (.member(member), .field(let field)), (.field(let field), .member(member)): field
    default: nil
    }
  }

  /// The field that is added to a product.
  fileprivate func field(
    addedTo one: JavaScriptExpression, times other: JavaScriptExpression
  ) -> [UInt8]? {
    for product in [JavaScriptExpression.product(one, other), .product(other, one)] {
      if case .field(let field)? = summand(besides: product) { return field }
    }
    return nil
  }
}
