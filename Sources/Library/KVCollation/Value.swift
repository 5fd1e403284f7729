internal import CCollation

/// What the table has for a character; the picture is in collation.h.
struct Value {
  enum Meaning {
    case ignored
    case element(Element)
    case computed
    case expansion(start: UInt32, count: UInt32)
    case decomposition(start: UInt32, count: UInt32)
    case contractions(start: UInt32)
  }

  let bits: UInt32

  init(_ bits: UInt32) { self.bits = bits }

  var meaning: Meaning {
    let start = bits >> 16
    let rest = bits & 0xFFFF
    switch rest {
    case 64...: return .element(Element(bits: bits))
    case 33...: return .decomposition(start: start, count: rest - 32)
    case 2...: return .expansion(start: start, count: rest)
    case 1: return .computed
    default: return start == 0 ? .ignored : .contractions(start: start)
    }
  }
}

/// The weights of a letter or of a part of it, one for each level; 0 where it has none.
struct Element {
  let bits: UInt32

  var primary: UInt32 { bits >> 16 }
  var secondary: UInt32 { bits >> 6 & 0x3FF }
  var tertiary: UInt32 { bits & 0x3F }

  /// The third level with upper case first, then what has both cases, then everything else.
  var upperFirstTertiary: UInt8 {
    let weight = UInt8(truncatingIfNeeded: tertiary)
    switch weight {
    // Of the root.
    case 16...24, 58: return weight
    // Of a tailoring; kana have these in the root, for other differences than case.
    case 30...40 where primary < Self.firstKana: return weight
    case 13, 15: return 0x40 + weight
    default: return 0x80 + weight
    }
  }

  private static let firstKana = Element(bits: kvcollation_value(0x3042)).primary

  /// What most letters have on the second and third level.
  static let common = (secondary: UInt32(32), tertiary: UInt32(4))
}
