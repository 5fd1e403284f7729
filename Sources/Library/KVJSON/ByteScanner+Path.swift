extension ByteScanner {
  /// The path to the value at `position` from the start of the text, such as `a.b[2]`, for messages: of a long path the
  /// last 200 characters. What stands before the position must be valid. One pass, for errors only.
  func path(to position: Int) -> String {
    var levels: [Level] = []
    var at = 0
    while at < position {
      let byte = base[at]
      let start = at
      at = byte == UInt8(ascii: "\"") ? passString(at) : at &+ 1
      switch byte {
      case UInt8(ascii: "{"): levels.append(.object(member: nil))
      case UInt8(ascii: "["): levels.append(.array(index: 0))
      case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = levels.popLast()
      case UInt8(ascii: ","): if let level = levels.popLast() { levels.append(level.next) }
      case UInt8(ascii: "\""):
        guard case .object(member: nil) = levels.last else { continue }
        levels[levels.count - 1] = .object(member: start &+ 1..<at &- 1)
      default: break
      }
    }
    return text(of: levels)
  }

  private func text(of levels: [Level]) -> String {
    var path = ""
    for level in levels {
      switch level {
      case .object(let member):
        let name = member.map { text($0) }
        path += (path.isEmpty ? "" : ".") + (name == "" ? "\"\"" : name ?? "")
      case .array(let index): path += "[\(index)]"
      }
    }
    let end = path.unicodeScalars.suffix(200)
    return end.startIndex == path.startIndex ? path : "…" + String(end)
  }
}

/// A container that is open, and what is being read in it.
private enum Level {
  /// The name, without its quotes; nil before it.
  case object(member: Range<Int>?)
  case array(index: Int)

  /// The level after a comma.
  var next: Level {
    switch self {
    case .object: .object(member: nil)
    case .array(let index): .array(index: index + 1)
    }
  }
}
