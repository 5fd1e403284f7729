internal import KVBase

/// The names that collections can have.
package enum CollectionName {
  /// What `remove-collection` takes for the accounts. Entities may have a collection of this name besides.
  package static let accounts = "user"

  /// What is wrong with a name; nil: nothing. Clients can name collections by 1 to 128 letters, digits, `-`, `_` and `.`,
  /// which start with a letter or a digit.
  package static func fault(in name: String) -> String? {
    let isName =
      name.utf8.count <= 128 && name.utf8.first?.isASCIILetterOrDigit == true
      && name.hasOnlyLettersDigits(and: "-_.")
    return isName
      ? nil
      : "a collection's name can have up to 128 letters, digits, -, _ and ., and must start with a letter or digit"
  }
}
