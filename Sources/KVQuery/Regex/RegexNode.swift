/// A regular expression as a tree, between its text and its program.
indirect enum RegexNode: Sendable {
  case empty
  case scalar(Unicode.Scalar, ignoreCase: Bool)
  case set(ScalarSet)
  case sequence([RegexNode])
  case choice([RegexNode])
  case capture(Int, RegexNode)
  case atomic(RegexNode)
  case look(RegexNode, ahead: Bool, negative: Bool)
  case repeated(RegexNode, from: Int, upTo: Int?, Greed)
  case backreference(Int, ignoreCase: Bool)
  case assertion(Assertion)

  enum Greed: Sendable { case greedy, lazy, possessive }

  enum Assertion: Sendable {
    case textStart, textEnd, textEndOrLastLineEnd, lineStart, lineEnd, wordEdge, noWordEdge
  }
}

/// A set of characters: what `.`, `\d` and `[…]` stand for.
struct ScalarSet: Sendable {
  indirect enum Item: Sendable {
    case range(UInt32, UInt32)
    case digit, word, space, horizontalSpace, lineEnd
    case property(UnicodeProperty)
    case set(ScalarSet)
    case not(Item)
  }

  var items: [Item] = []
  var isInverted = false
  var ignoreCase = false

  init(_ items: [Item] = [], inverted: Bool = false, ignoreCase: Bool = false) {
    self.items = items
    isInverted = inverted
    self.ignoreCase = ignoreCase
  }

  /// Everything.
  static let all = ScalarSet([.range(0, 0x10FFFF)])
  /// Everything but a line feed.
  static let noLineFeed = ScalarSet([.range(0x0A, 0x0A)], inverted: true)

  func contains(_ scalar: UInt32) -> Bool {
    var isIn = items.contains { $0.contains(scalar) }
    if !isIn, ignoreCase {
      isIn = CaseFolding.others(scalar).contains { other in items.contains { $0.contains(other) } }
    }
    return isIn != isInverted
  }
}

extension ScalarSet.Item {
  func contains(_ scalar: UInt32) -> Bool {
    switch self {
    case .range(let low, let high): low <= scalar && scalar <= high
    case .digit: scalar &- 0x30 <= 9
    case .word: ScalarSet.isWord(scalar)
    case .space: scalar == 0x20 || (scalar >= 0x09 && scalar <= 0x0D)
    case .horizontalSpace:
      [0x09, 0x20, 0xA0, 0x1680, 0x180E, 0x202F, 0x205F, 0x3000].contains(scalar)
        || (scalar >= 0x2000 && scalar <= 0x200A)
    case .lineEnd: (0x0A...0x0D).contains(scalar) || [0x85, 0x2028, 0x2029].contains(scalar)
    case .property(let property): property.holds(scalar)
    case .set(let set): set.contains(scalar)
    case .not(let item): !item.contains(scalar)
    }
  }
}

extension ScalarSet {
  /// ASCII letters, digits and the underscore, as PCRE has it.
  @inline(__always)
  static func isWord(_ scalar: UInt32) -> Bool {
    (scalar | 0x20) &- 0x61 < 26 || scalar &- 0x30 <= 9 || scalar == 0x5F
  }
}

/// Characters that differ in case only.
enum CaseFolding {
  /// The other forms of a character: lower, upper and title case, where these are one character.
  static func others(_ scalar: UInt32) -> [UInt32] {
    if scalar < 0x80 {
      guard (scalar | 0x20) &- 0x61 < 26 else { return [] }
      switch scalar | 0x20 {
      case 0x6B: return [scalar ^ 0x20, 0x212A]
      case 0x73: return [scalar ^ 0x20, 0x17F]
      default: return [scalar ^ 0x20]
      }
    }
    guard let properties = Unicode.Scalar(scalar)?.properties else { return [] }
    let lower = single(properties.lowercaseMapping)
    let upper = single(properties.uppercaseMapping)
    var found = [lower, upper, single(properties.titlecaseMapping)].compactMap { $0 }
    // Sigma and its kind: two lower-case forms share one upper-case form.
    for other in found {
      guard let properties = Unicode.Scalar(other)?.properties else { continue }
      found += [single(properties.lowercaseMapping), single(properties.uppercaseMapping)]
        .compactMap { $0 }
    }
    return found.filter { $0 != scalar }
  }

  /// One form for all characters that differ in case only.
  static func folded(_ scalar: UInt32) -> UInt32 {
    if scalar < 0x80 { return scalar &- 0x41 < 26 ? scalar | 0x20 : scalar }
    guard let properties = Unicode.Scalar(scalar)?.properties else { return scalar }
    let upper = single(properties.uppercaseMapping) ?? scalar
    return Unicode.Scalar(upper).flatMap { single($0.properties.lowercaseMapping) } ?? upper
  }

  private static func single(_ text: String) -> UInt32? {
    let scalars = text.unicodeScalars
    return scalars.count == 1 ? scalars.first?.value : nil
  }
}

/// A general category of Unicode, by its short name, or one of a few groups.
struct UnicodeProperty: Sendable {
  let name: String

  /// Nil for a name that is not known.
  init?(_ name: String) {
    guard UnicodeProperty.known.contains(name) else { return nil }
    self.name = name
  }

  private static let known: Set<String> = [
    "Any", "L", "L&", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No",
    "P",
    "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp",
    "C",
    "Cc", "Cf", "Cs", "Co", "Cn",
  ]

  func holds(_ scalar: UInt32) -> Bool {
    guard name != "Any" else { return true }
    guard let properties = Unicode.Scalar(scalar)?.properties else { return false }
    let category = UnicodeProperty.shortName(properties.generalCategory)
    if name == "L&" { return ["Lu", "Ll", "Lt"].contains(category) }
    return category == name || (name.utf8.count == 1 && category.hasPrefix(name))
  }

  private static func shortName(_ category: Unicode.GeneralCategory) -> String {
    switch category {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .surrogate: "Cs"
    case .privateUse: "Co"
    case .unassigned: "Cn"
    @unknown default: "Cn"
    }
  }
}
