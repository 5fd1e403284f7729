internal import CSystem
internal import Glibc

/// A search for one text: anywhere, at the beginning, at the end, or both. It touches no reference count.
///
/// `@unchecked Sendable`: the bytes are written once, before anybody else has them.
final class LiteralSearch: @unchecked Sendable {
  private let wanted: UnsafeMutableBufferPointer<UInt8>
  private let isAnchored: Bool
  private let end: WildcardPattern.End

  /// Prepares a pattern; nil for one with wildcards.
  init?(_ pattern: WildcardPattern) {
    guard let literal = pattern.literal else { return nil }
    wanted = .allocate(capacity: literal.count)
    _ = wanted.initialize(from: literal)
    isAnchored = pattern.isAnchored
    end = pattern.end
  }

  deinit { wanted.deallocate() }

  func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    switch end {
    case .anywhere: return isAnchored ? isThere(in: text, at: 0) : text.position(of: wanted) != nil
    case .end: return isAtEnd(of: text)
    case .endOrLastLineFeed:
      if isAtEnd(of: text) { return true }
      return text.last == UInt8(ascii: "\n") && isAtEnd(of: .init(rebasing: text.dropLast()))
    }
  }

  private func isAtEnd(of text: UnsafeBufferPointer<UInt8>) -> Bool {
    let start = text.count - wanted.count
    return (start == 0 || !isAnchored) && isThere(in: text, at: start)
  }

  private func isThere(in text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
    guard start >= 0, text.count - start >= wanted.count else { return false }
    guard let base = text.baseAddress, let other = wanted.baseAddress else { return wanted.isEmpty }
    return memcmp(base + start, other, wanted.count) == 0
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Returns the offset of the first occurrence of a text; nil if there is none. Linear, whatever it is: glibc sees
  /// to that.
  func position(of wanted: UnsafeMutableBufferPointer<UInt8>) -> Int? {
    position(of: UnsafeRawBufferPointer(wanted))
  }

  func position(of wanted: UnsafeRawBufferPointer) -> Int? {
    guard let other = wanted.baseAddress, !wanted.isEmpty else { return 0 }
    guard let base = baseAddress else { return nil }
    return memmem(base, count, other, wanted.count).map {
      UnsafeRawPointer($0) - UnsafeRawPointer(base)
    }
  }
}
