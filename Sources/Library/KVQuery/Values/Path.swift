internal import KVBase

/// The way to a member: names separated by dots. A component that is a number also means an index of an
/// array.
package struct Path: Sendable, Hashable {
  package struct Component: Sendable, Hashable {
    /// The name as UTF-8.
    package let name: [UInt8]
    /// The array index that the name stands for, if it is a number without leading zeros.
    package let index: Int?

    init(_ name: Substring) {
      self.name = Array(name.utf8)
      let isNumber = !name.isEmpty && name.utf8.allSatisfy { $0 &- 0x30 <= 9 }
      index = isNumber && (name.utf8.count == 1 || name.utf8.first != 0x30) ? Int(name) : nil
    }
  }

  package let text: String
  /// The parts of the path: never empty.
  package let components: [Component]

  package init(_ text: String) {
    self.text = text
    let hasPoint = text.utf8.contains(UInt8(ascii: "."))
    components = hasPoint ? text.parts(between: ".").map(Component.init) : [Component(text[...])]
  }

  package static func == (left: Path, right: Path) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  package func hash(into hasher: inout Hasher) { RecordID(text).hash(into: &hasher) }

  /// The member at the top of the entity that this leads into.
  package var top: Path { Path(String(text.parts(between: ".")[0])) }

  package static let id = Path("_id")
}

/// Swift compares text by characters, where a mark belongs to the letter before it: a point with an accent
/// on it is no point, and two spellings of `é` are equal. Names are bytes here, as in MongoDB.
extension String {
  /// Splits at the separators, empty parts included. At least one part.
  func parts(between separator: Unicode.Scalar) -> [Substring] {
    utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false)
      .map { Substring($0) }
  }

  /// Whether the first byte is this ASCII character.
  func starts(with first: Unicode.Scalar) -> Bool { utf8.first == UInt8(ascii: first) }
}
