/// The names that collections can have.
package enum CollectionName {
  /// What `remove-collection` takes for the accounts. Entities may have a collection of this name besides.
  package static let accounts = "user"

  /// What is wrong with a name; nil: nothing. Clients can name collections by 1 to 128 letters, digits, `-`, `_` and `.`,
  /// which start with a letter or a digit.
  package static func fault(in name: String) -> String? {
    let isName =
      name.utf8.count <= 128 && name.utf8.first.map(isAlphanumeric) == true
      && name.utf8.allSatisfy { isAlphanumeric($0) || "-_.".utf8.contains($0) }
    return isName
      ? nil
      : "a collection's name can have up to 128 letters, digits, -, _ and ., and must start with a letter or digit"
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
