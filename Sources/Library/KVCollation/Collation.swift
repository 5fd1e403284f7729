internal import CCollation

/// How text is ordered: the root order of the Unicode collation algorithm as CLDR has it, or that of a language.
public struct Collation: Hashable, Sendable {
  /// Which differences count.
  public enum Strength: Int, Hashable, Sendable {
    /// Letters only: "a" = "Ä".
    case primary = 1
    /// Letters and accents: "a" = "A".
    case secondary = 2
    /// Case as well, after everything else: "a" < "A" < "ä".
    case tertiary = 3
  }

  /// The language as it was given: "sv", "de@phonebook".
  public let locale: String
  public let strength: Strength
  /// The differences from the root's order.
  let tailoring: Tailoring

  /// The order of a language; nil if the table does not know it. A region changes nothing: "sv-SE" is "sv".
  public init?(locale: String, strength: Strength = .tertiary) {
    guard let tailoring = Tailoring.of(locale) else { return nil }
    self.locale = locale
    self.strength = strength
    self.tailoring = tailoring
  }

  /// Whether texts have the same order in both: "en", "de" and "de-AT" have the root's.
  public func hasOrder(of other: Collation) -> Bool {
    strength == other.strength && tailoring == other.tailoring
  }

  /// Greater after every change of the weights: keys made by another version are in another order.
  public static var version: UInt32 { kvcollation_version }

  /// Bytes that compare as the texts do: equal bytes for texts without a difference that counts.
  public func key(of text: String) -> [UInt8] {
    var text = text
    return text.withUTF8 { key(of: $0) }
  }

  /// The same for a text in UTF-8.
  public func key(of text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    if tailoring.count == 0, text.allSatisfy({ $0 < 0x80 }) {
      return SortKey.bytes(of: text.lazy.map { ASCII.elements[Int($0)] }, strength: strength)
    }
    return wholeKey(of: String(decoding: text, as: UTF8.self))
  }

  /// The key as the algorithm makes it of any text.
  func wholeKey(of text: String) -> [UInt8] {
    var elements = ElementReader(tailoring: tailoring)
    return SortKey.bytes(
      of: elements.elements(of: text), strength: strength, upperFirst: tailoring.upperFirst)
  }

  /// Whether one text stands before another.
  public func orders(_ first: String, before second: String) -> Bool {
    key(of: first).lexicographicallyPrecedes(key(of: second))
  }
}
