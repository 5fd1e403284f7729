/// The header `Content-Range` of an upload: `bytes 0-9/10`, or `bytes */10` from one who asks where it stopped.
struct ContentRange: Equatable {
  /// Nil: none are sent.
  var bytes: Range<Int>?
  var size: Int

  init?(_ text: String) {
    guard text.hasPrefix("bytes ") else { return nil }
    let sides = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard sides.count == 2, let size = Self.number(sides[1]) else { return nil }
    self.size = size
    if sides[0] == "*" { return }
    let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
      first <= last, last < size
    else { return nil }
    bytes = first..<last + 1
  }

  static func number(_ text: Substring) -> Int? {
    let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    return isNumber ? Int(text) : nil
  }
}

/// The header `Range` of a download, as far as it is one part of the bytes.
enum ByteRange: Equatable {
  /// All bytes: there is no header, or one that a server may ignore, such as several parts.
  case all
  case part(Range<Int>)
  case outside

  init(_ text: String?, size: Int) {
    self = .all
    guard let text, text.hasPrefix("bytes="), !text.contains(",") else { return }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return }
    switch (ContentRange.number(ends[0]), ContentRange.number(ends[1])) {
    case (let first?, let last?) where first <= last:
      self = first < size ? .part(first..<min(last, size - 1) + 1) : .outside
    case (let first?, nil) where ends[1].isEmpty:
      self = first < size ? .part(first..<size) : .outside
    case (nil, let count?) where ends[0].isEmpty:
      self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .outside
    default: break
    }
  }
}
