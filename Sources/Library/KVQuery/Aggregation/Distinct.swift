package import KVJSON

/// The different values at a path, as MongoDB's `distinct` has them: the elements of an array count one by
/// one, what is missing does not count, null does. One thread at a time. Memory: the values.
package struct Distinct: Sendable {
  private let path: Path
  /// The values by their encodings, so that 1 and 1.0 are one value.
  private var values: [[UInt8]: JSONValue] = [:]

  package init(_ path: Path) { self.path = path }

  /// Adds what an entity has.
  package mutating func add(_ entity: UnsafeRawBufferPointer) {
    let scanner = ByteScanner(entity)
    let start = scanner.skipSpace(0)
    guard start < scanner.end else { return }
    RawValue.visit(RawValue(scanner, start..<scanner.end), at: path.components[...]) { found in
      guard case .value(let value) = found else { return }
      var encoded: [UInt8] = []
      ValueEncoding.append(value, to: &encoded)
      if values[encoded] == nil { values[encoded] = value.json.plain }
    }
  }

  package mutating func add(_ entity: [UInt8]) { entity.withUnsafeBytes { add($0) } }

  /// The values, in the order of a sort.
  package var results: [JSONValue] {
    values.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }
}
