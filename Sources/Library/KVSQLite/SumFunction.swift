internal import CSQLite
internal import KVQuery

/// `kv_sum(sum, value, sign)`: a sum as an index keeps it (`ExactSum.kept`), with a value of an index added, or taken
/// away if `sign` is negative. What is no number changes nothing.
enum SumFunction {
  static func register(on connection: OpaquePointer) throws(SQLiteError) {
    try IndexFunctions.register("kv_sum", parameters: 3, on: connection) {
      SumFunction.call($0, $2)
    }
  }

  private static func call(_ context: OpaquePointer?, _ values: IndexFunctions.Values?) {
    guard let values, let sum = values[0], let value = values[1] else { return }
    let isAdded = sqlite3_value_int(values[2]) >= 0
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER:
      let integer = sqlite3_value_int64(value)
      if let result = small(sum, integer, isAdded: isAdded) {
        return sqlite3_result_int64(context, result)
      }
      change(sum, context) { isAdded ? $0.add(integer) : $0.subtract(integer) }
    case SQLITE_FLOAT where sqlite3_value_double(value).isFinite:
      let double = sqlite3_value_double(value)
      change(sum, context) { isAdded ? $0.add(double) : $0.subtract(double) }
    default: sqlite3_result_value(context, sum)
    }
  }

  /// The sum if it was an integer and still is one.
  private static func small(_ sum: OpaquePointer, _ value: Int64, isAdded: Bool) -> Int64? {
    guard sqlite3_value_type(sum) == SQLITE_INTEGER else { return nil }
    let old = sqlite3_value_int64(sum)
    let (result, isOver) =
      isAdded ? old.addingReportingOverflow(value) : old.subtractingReportingOverflow(value)
    return isOver ? nil : result
  }

  private static func change(
    _ kept: OpaquePointer, _ context: OpaquePointer?, body: (inout ExactSum) -> Void
  ) {
    guard var sum = ExactSum(kept: value(kept)) else {
      return sqlite3_result_error(context, "the sum of an index is missing", -1)
    }
    body(&sum)
    IndexFunctions.setResult(sum.kept, to: context)
  }

  private static func value(_ value: OpaquePointer) -> IndexValue {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: .int(sqlite3_value_int64(value))
    case SQLITE_FLOAT: .double(sqlite3_value_double(value))
    case SQLITE_BLOB: .blob(Array(IndexFunctions.bytes(value)))
    default: .null
    }
  }
}
