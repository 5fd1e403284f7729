/// A statement of a reduce function; members are those of the group, fields those of the entity. Names are UTF-8.
enum ReduceStatement: Equatable {
  /// `out.a++`, `out.a += 1`, `out.a = out.a + 1`; `of`: only where that field is a number.
  case increment([UInt8], of: [UInt8]?)
  /// `out.a += doc.f`, `out.a = out.a + doc.f`
  case add([UInt8], field: [UInt8])
  /// `out.a = Math.min(out.a, doc.f)`, or `max`
  case extreme([UInt8], field: [UInt8], isMinimum: Bool)
  /// `out.a = out.s / out.c`
  case divide([UInt8], sum: [UInt8], count: [UInt8])
  /// `out.a = (out.a * out.c + doc.f) / (out.c + 1)`
  case mean([UInt8], field: [UInt8], count: [UInt8])

  /// The member that it changes.
  var target: [UInt8] {
    switch self {
    case .increment(let name, _), .add(let name, _), .extreme(let name, _, _),
      .divide(let name, _, _), .mean(let name, _, _):
      name
    }
  }

  /// The field that it reads, if any.
  var field: [UInt8]? {
    switch self {
    case .increment, .divide: nil
    case .add(_, let field), .extreme(_, let field, _), .mean(_, let field, _): field
    }
  }
}
