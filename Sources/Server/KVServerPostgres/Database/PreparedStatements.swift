/// The statements that a connection's server has parsed, by their templates. One thread at a time.
///
/// They live as long as the connection does: a new connection, after a lost one, begins with none.
struct PreparedStatements {
  /// There are only so many texts of our own; those with the names of indexes could become many.
  private static let limit = 500

  enum Use {
    case known(name: String)
    /// It has to be prepared. `replacesAll`: after all others were forgotten on the server.
    case new(name: String, replacesAll: Bool)
  }

  private var numbers: [String: Int] = [:]
  /// How many were ever prepared.
  private(set) var count = 0

  /// The name of a statement, which counts as known from now on.
  mutating func use(_ sql: SQL) -> Use {
    if let number = numbers[sql.template] { return .known(name: "s\(number)") }
    let replacesAll = numbers.count == Self.limit
    if replacesAll { numbers = [:] }
    count += 1
    numbers[sql.template] = count
    return .new(name: "s\(count)", replacesAll: replacesAll)
  }

  /// Forgets those that came after the first so many: whether the server has prepared them is not known.
  mutating func forget(after count: Int) {
    numbers = numbers.filter { $0.value <= count }
  }
}
