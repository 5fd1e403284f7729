extension Unicode.Scalar {
  /// Whether it does something else on a terminal or in a log than to stand there: control characters, line separators, and what turns
  /// the direction of the text around it. None is above U+FFFF.
  package var isInvisible: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension String {
  /// The text with U+FFFD in place of what is invisible: what others have written must not move the cursor of who reads it, nor forge a
  /// line of a log.
  package var visible: String {
    guard unicodeScalars.contains(where: \.isInvisible) else { return self }
    var view = UnicodeScalarView()
    view.append(contentsOf: unicodeScalars.lazy.map { $0.isInvisible ? "\u{FFFD}" : $0 })
    return String(view)
  }

  /// JSON text in which invisible characters are escapes: the value is the same.
  package var visibleJSON: String {
    guard unicodeScalars.contains(where: \.isInvisible) else { return self }
    var out = ""
    for scalar in unicodeScalars {
      if scalar.isInvisible {
        let digits = String(scalar.value, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      } else {
        out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}
