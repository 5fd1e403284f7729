internal import KVBase

extension RecordFormat {
  /// The values of the id's members that a key is made of; nil for a text that is no key of this format.
  package func values(ofKey key: String) -> [JSONValue]? {
    let values: [JSONValue]
    switch (id.count, id[0].kind) {
    case (1, .text): values = [.string(key)]
    case (1, .integer):
      guard let number = Int64(key) else { return nil }
      values = [.int(number)]
    default: values = Self.elements(ofKey: key)
    }
    // There is one way to write a key.
    return self.key(of: values)?.hasSameBytes(as: key) == true ? values : nil
  }

  /// The texts and integers of an array; none if there is anything else. Read without jansson, which fails where there is
  /// no memory: a key that cannot be read is one of no record.
  private static func elements(ofKey key: String) -> [JSONValue] {
    let elements = key.withBorrowedBytes { bytes -> [JSONValue]? in
      let scanner = ByteScanner(bytes)
      guard var cursor = try? ElementCursor(scanner, at: 0) else { return nil }
      var elements: [JSONValue] = []
      while let range = try? cursor.next() {
        guard let element = scanner.element(range) else { return nil }
        elements.append(element)
      }
      return elements
    }
    return elements ?? []
  }

  /// The key that values of the id's members make; nil if one is none that the member can have.
  package func key(of values: [JSONValue]) -> String? {
    guard values.count == id.count, zip(values, id).allSatisfy({ $0.canBe($1) }) else { return nil }
    guard id.count == 1 else { return JSONValue.array(values).text }
    return values[0].stringValue ?? values[0].text
  }
}

extension ByteScanner {
  /// A text or an integer of 64 bits; nil for anything else.
  fileprivate func element(_ range: Range<Int>) -> JSONValue? {
    if isText(at: range) {
      return String(validating: unescaped(inside(range)), as: UTF8.self).map { .string($0) }
    }
    return Int64(digits(range)).map { .int($0) }
  }
}

extension JSONValue {
  fileprivate func canBe(_ member: RecordFormat.IDMember) -> Bool {
    switch (self, member.kind) {
    case (.string(let text), .text): !text.isEmpty && !text.withBorrowedBytes { $0.contains(0) }
    case (.int, .integer): true
    default: false
    }
  }
}
