/// An expression's text as PCRE2 is given it.
///
/// PCRE2 knows all of the syntax but `\uhhhh` and `\Uhhhhhhhh`, which ICU, and so `MATCHES`, has for a character: it
/// calls that `\x{hhhh}`.
struct PCRESource {
  /// The largest number of repetitions. PCRE2 looks at so much without a step that could be counted.
  private static let maxRepetitions = 1000

  private(set) var bytes: [UInt8] = []
  /// The offsets in `bytes` after which the source lies two more bytes further on.
  private var growths: [Int] = []

  /// Throws for a repetition that is too long. Other errors are left for PCRE2 to find.
  init(_ source: String) throws(RegexError) {
    let text = Array(source.utf8)
    bytes.reserveCapacity(text.count)
    var at = 0
    var isInClass = false
    while at < text.count {
      let next: Int
      switch text[at] {
      case UInt8(ascii: "\\"): next = escape(text, at)
      case UInt8(ascii: "["):
        next = isInClass ? at + 1 : PCRESource.classStart(text, at)
        isInClass = true
        copy(text[at..<next])
      case UInt8(ascii: "]"):
        isInClass = false
        next = at + 1
        copy(text[at..<next])
      case UInt8(ascii: "{") where !isInClass:
        try PCRESource.checkRepetition(text, at)
        next = at + 1
        copy(text[at..<next])
      default:
        next = at + 1
        bytes.append(text[at])
      }
      at = next
    }
  }

  private mutating func copy(_ part: ArraySlice<UInt8>) { bytes += part }

  /// The position in the source, in Unicode scalars, of what is in `bytes` at an offset.
  func position(ofByte offset: Int, in source: String) -> Int {
    let grown = growths.prefix { $0 <= offset }.count
    let utf8 = source.utf8.prefix(max(0, offset - 2 * grown))
    return utf8.reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
  }

  /// Copies what a backslash introduces and returns the offset after it.
  private mutating func escape(_ text: [UInt8], _ at: Int) -> Int {
    guard at + 1 < text.count else {
      copy(text[at...])
      return text.count
    }
    switch text[at + 1] {
    case UInt8(ascii: "u"): return scalar(text, at, digits: 4)
    case UInt8(ascii: "U"): return scalar(text, at, digits: 8)
    case UInt8(ascii: "Q"): return quotation(text, at)
    default:
      // The brace of `\x{…}`, `\p{…}` and their kind repeats nothing.
      let mayHaveBraces = "xopPkgN".utf8.contains(text[at + 1])
      let hasBrace = mayHaveBraces && at + 2 < text.count && text[at + 2] == UInt8(ascii: "{")
      let next = at + (hasBrace ? 3 : 2)
      copy(text[at..<next])
      return next
    }
  }

  private mutating func scalar(_ text: [UInt8], _ at: Int, digits: Int) -> Int {
    let end = at + 2 + digits
    guard end <= text.count, text[at + 2..<end].allSatisfy(PCRESource.isHexDigit) else {
      copy(text[at..<at + 2])
      return at + 2
    }
    bytes += Array(#"\x{"#.utf8)
    copy(text[at + 2..<end])
    bytes.append(UInt8(ascii: "}"))
    growths.append(bytes.count)
    return end
  }

  /// `\Q…\E`: nothing in it means anything.
  private mutating func quotation(_ text: [UInt8], _ at: Int) -> Int {
    var end = at + 2
    while end < text.count, text[end - 1] != UInt8(ascii: "\\") || text[end] != UInt8(ascii: "E") {
      end += 1
    }
    copy(text[at..<end])
    return end
  }

  /// The offset after the opening bracket, and after the bracket that closes nothing if it comes first.
  private static func classStart(_ text: [UInt8], _ at: Int) -> Int {
    var next = at + 1
    if next < text.count, text[next] == UInt8(ascii: "^") { next += 1 }
    if next < text.count, text[next] == UInt8(ascii: "]") { next += 1 }
    return next
  }

  private static func checkRepetition(_ text: [UInt8], _ at: Int) throws(RegexError) {
    var number = 0
    for byte in text[(at + 1)...] {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number * 10 + Int(byte & 0x0F)
      case UInt8(ascii: ","): number = 0
      default: return
      }
      guard number <= maxRepetitions else {
        let scalars = text[..<at].count { $0 & 0xC0 != 0x80 }
        throw RegexError(message: "more than \(maxRepetitions) repetitions", position: scalars)
      }
    }
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
