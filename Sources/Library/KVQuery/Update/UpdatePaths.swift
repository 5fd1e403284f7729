/// The paths of one update. No two of them may be the same, or one inside the other: the result would
/// depend on which comes first.
struct UpdatePaths {
  /// The paths that were added, and those that lead to one, with which of the two they are.
  private var known: [[[UInt8]]: IsWhole] = [:]
  private enum IsWhole { case whole, beginning }

  mutating func insert(_ path: Path, _ trail: UpdateParser.Trail) throws(QueryDecodingError) {
    let names = path.components.map(\.name)
    for count in 1..<names.count where known[Array(names.prefix(count))] == .whole {
      throw conflict(names.prefix(count), trail)
    }
    guard known[names] == nil else { throw conflict(names[...], trail) }
    for count in 1..<names.count { known[Array(names.prefix(count))] = .beginning }
    known[names] = .whole
  }

  private func conflict(_ names: ArraySlice<[UInt8]>, _ trail: UpdateParser.Trail)
    -> QueryDecodingError
  {
    let text = names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
    return QueryDecodingError("two operators change the member \"\(text)\"", trail)
  }

  /// The order in which members are made: numbers by value, names by their bytes.
  static func precedes(_ left: Path, _ right: Path) -> Bool {
    for (a, b) in zip(left.components, right.components) where a.name != b.name {
      if let i = a.index, let j = b.index { return i < j }
      return ValueEncoding.compare(a.name, b.name) < 0
    }
    return left.components.count < right.components.count
  }
}
