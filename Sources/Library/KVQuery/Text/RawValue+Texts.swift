internal import KVJSON

extension RawValue {
  /// Runs `body` with the text of each string in a value, names of members left out.
  ///
  /// `levels`: how deep it looks; entities are never deeper, unless the database was changed from outside.
  func eachText(
    levels: Int = EntityScanner.maximumDepth, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) {
    switch kind {
    case .string: withText(body)
    case .array where levels > 0:
      _ = containsElement { element, _ in
        element.eachText(levels: levels - 1, body)
        return false
      }
    case .object where levels > 0:
      var members = TrustedMembers(scanner, at: range.lowerBound)
      while let member = members.next() {
        RawValue(scanner, member.value).eachText(levels: levels - 1, body)
      }
    case .null, .bool, .number, .array, .object: break
    }
  }

  /// Visits the texts of an entity, whose reserved members are not searched.
  func eachTextOfEntity(_ format: RecordFormat, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    guard kind == .object else { return }
    var members = TrustedMembers(scanner, at: range.lowerBound)
    while let member = members.next() {
      guard !format.isReserved(member.name, in: scanner) else { continue }
      RawValue(scanner, member.value).eachText(body)
    }
  }

  /// Runs `body` with the text of each string at a path, elements of arrays included.
  static func eachText(
    of root: RawValue?, at path: Components, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) {
    _ = try? any(root, at: path, expanding: true) { value in
      if let value, value.kind == .string { value.withText(body) }
      return false
    }
  }
}
