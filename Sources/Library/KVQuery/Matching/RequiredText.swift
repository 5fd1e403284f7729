internal import CScan
internal import KVJSON

/// A text that stands in every entity that a predicate selects, because the predicate compares some member with it.
///
/// Most entities of a scan do not have it. To look for its bytes takes less than to find the members: those that have
/// neither these nor an escape need not be looked at any further.
///
/// `@unchecked Sendable`: what the pointer leads to is written once, before anybody else has it.
final class RequiredText: @unchecked Sendable {
  /// More bytes say little more, and are searched for more slowly at the end of an entity.
  private static let maxCount = 32

  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Nil if there is no such text, or none that says much.
  init?(_ predicate: Predicate) {
    guard let text = Self.longest(in: predicate), text.count > 1 else { return nil }
    bytes = .allocate(capacity: min(text.count, Self.maxCount))
    _ = bytes.initialize(from: text.prefix(Self.maxCount))
  }

  deinit { bytes.deallocate() }

  private static func longest(in predicate: Predicate) -> [UInt8]? {
    switch predicate {
    case .and(let parts): parts.compactMap(longest).max { $0.count < $1.count }
    case .field(_, let tests):
      tests.compactMap { test in
        guard case .equal(.string(let text)) = test else { return nil }
        return Array(text.utf8)
      }.max { $0.count < $1.count }
    case .everything, .nothing, .or, .nor, .text, .comparison: nil
    }
  }

  /// The text, or its beginning.
  var text: [UInt8] { Array(bytes) }

  /// False only if the text is not in the entity.
  @inline(__always)
  func mayBe(in entity: UnsafeRawBufferPointer) -> Bool {
    guard let start = entity.baseAddress, let needle = bytes.baseAddress else { return true }
    return kv_may_contain(
      start.assumingMemoryBound(to: UInt8.self), entity.count, needle, bytes.count) != 0
  }
}
