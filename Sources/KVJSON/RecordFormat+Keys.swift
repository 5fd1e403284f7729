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
    default: values = (try? JSONValue(parsing: key))?.arrayValue ?? []
    }
    // There is one way to write a key.
    return self.key(of: values)?.hasSameBytes(as: key) == true ? values : nil
  }

  /// The key that values of the id's members make; nil if one is none that the member can have.
  package func key(of values: [JSONValue]) -> String? {
    guard values.count == id.count, zip(values, id).allSatisfy({ $0.canBe($1) }) else { return nil }
    guard id.count == 1 else { return JSONValue.array(values).text }
    return values[0].stringValue ?? values[0].text
  }
}

extension JSONValue {
  fileprivate func canBe(_ member: RecordFormat.IDMember) -> Bool {
    switch (self, member.kind) {
    case (.string(let text), .text): !text.isEmpty && !text.utf8.contains(0)
    case (.int, .integer): true
    default: false
    }
  }
}
