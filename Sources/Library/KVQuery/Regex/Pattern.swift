internal import KVBase

/// A regular expression as `$regex` and `$options` give it, understood.
package struct Pattern: Sendable, Equatable {
  /// The largest length of an expression in bytes of UTF-8: what MongoDB allows.
  package static let maximumLength = 32_764

  package let source: String
  /// The options: some of `i`, `m`, `s`, `x`, in this order.
  package let options: String
  let regex: Regex

  /// Letters other than `i`, `m`, `s` and `x` are ignored.
  package init(_ source: String, options: String = "") throws(RegexError) {
    let sorted = String("imsx".filter { options.contains($0) })
    self.source = source
    self.options = sorted
    regex = try Regex(source, RegexFlags(sorted))
  }

  /// The end of the text; `$` alone would also accept a line feed after it.
  static let wholeEnd = #"$(?!\n)"#

  /// Throws for a text that is longer than an expression may be, before anything looks at it.
  static func checkLength(of source: String) throws(RegexError) {
    guard source.utf8.count <= maximumLength else {
      throw RegexError(
        message: "the expression is longer than \(maximumLength) bytes", position: 0)
    }
  }

  package static func == (left: Pattern, right: Pattern) -> Bool {
    left.source.hasSameBytes(as: right.source) && left.options == right.options
  }

  /// Text that stands for itself in an expression.
  package static func escaping(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      if "\\^$.|?*+()[]{}#".unicodeScalars.contains(scalar) { out.unicodeScalars.append("\\") }
      out.unicodeScalars.append(scalar)
    }
    return out
  }
}

/// Why a regular expression cannot be understood.
package struct RegexError: Error, Sendable, Equatable {
  package var message: String
  /// The position in the expression, counted in Unicode scalars.
  package var position: Int
  /// The expression may be right: there was no memory to compile it.
  var isNoMemory = false

  static let noMemory = RegexError(
    message: "there is no memory left", position: 0, isNoMemory: true)
}

/// The options of `$options`.
struct RegexFlags: OptionSet, Sendable {
  let rawValue: UInt8
  /// `i`: letters match in either case.
  static let ignoreCase = RegexFlags(rawValue: 1)
  /// `m`: `^` and `$` match at line ends too.
  static let multiline = RegexFlags(rawValue: 2)
  /// `s`: `.` matches line ends too.
  static let dotAll = RegexFlags(rawValue: 4)
  /// `x`: white space and comments in the expression are ignored.
  static let extended = RegexFlags(rawValue: 8)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ letters: String) {
    self = letters.unicodeScalars.reduce(into: []) { flags, letter in
      switch letter {
      case "i": flags.insert(.ignoreCase)
      case "m": flags.insert(.multiline)
      case "s": flags.insert(.dotAll)
      case "x": flags.insert(.extended)
      default: break
      }
    }
  }
}
