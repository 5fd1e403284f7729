internal import CPostgres

/// The rows that a statement gave, in binary format. Pointers into it live as long as it does.
final class ResultRows {
  private let result: OpaquePointer

  /// Takes the result over.
  init(_ result: OpaquePointer) { self.result = result }

  deinit { PQclear(result) }

  var count: Int { Int(PQntuples(result)) }
  var isEmpty: Bool { count == 0 }
  /// How many bytes the values have.
  var size: Int {
    let columns = Int(PQnfields(result))
    return (0..<count).reduce(0) { size, row in
      (0..<columns).reduce(size) { $0 + bytes(row, $1).count }
    }
  }
  /// How many rows a write has changed.
  var changes: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(result, Int32(row), Int32(column)) != 0
  }

  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    let count = Int(PQgetlength(result, Int32(row), Int32(column)))
    return UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(row), Int32(column)), count: count)
  }

  func copy(_ row: Int, _ column: Int) -> [UInt8] { Array(bytes(row, column)) }

  func text(_ row: Int, _ column: Int) -> String {
    String(decoding: bytes(row, column), as: UTF8.self)
  }

  func optionalText(_ row: Int, _ column: Int) -> String? {
    isNull(row, column) ? nil : text(row, column)
  }

  func int64(_ row: Int, _ column: Int) -> Int64 {
    BinaryValue.integer(bytes(row, column)[...])
  }

  func optionalInt64(_ row: Int, _ column: Int) -> Int64? {
    isNull(row, column) ? nil : int64(row, column)
  }

  func flag(_ row: Int, _ column: Int) -> Bool { bytes(row, column).first == 1 }

  func optionalFlag(_ row: Int, _ column: Int) -> Bool? {
    isNull(row, column) ? nil : flag(row, column)
  }

  /// An array of texts; NULL has none.
  func texts(_ row: Int, _ column: Int) -> [String] {
    BinaryValue.texts(bytes(row, column))
  }
}
