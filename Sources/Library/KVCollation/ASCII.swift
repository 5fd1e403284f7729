internal import CCollation

/// ASCII in the order of the root: each character has one element, whatever stands beside it, or none.
enum ASCII {
  static let elements: [Element] = (0..<0x80).map { element(of: Value(kvcollation_value($0))) }

  private static func element(of value: Value) -> Element {
    switch value.meaning {
    case .element(let element): element
    // What continues it is not in ASCII.
    case .contractions(let start): element(of: Value(kvcollation_weight(start)))
    case .ignored, .computed, .expansion, .decomposition: Element(bits: 0)
    }
  }
}
