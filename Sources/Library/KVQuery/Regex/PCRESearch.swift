internal import CPCRE2
internal import KVBase

/// One search of a compiled expression in one text.
///
/// PCRE2's own limit counts the choices it makes, each of which may look at the whole text. So a function that it
/// calls before each item of the expression counts how far the search has moved, and ends it in time.
struct PCRESearch {
  private let text: UnsafeBufferPointer<UInt8>
  private var effort: SearchEffort
  /// Whether what the groups have matched may be compared anew at each step.
  private let weighsCaptures: Bool
  private var position = 0

  init(_ text: UnsafeBufferPointer<UInt8>, within budget: WorkBudget, weighsCaptures: Bool) {
    self.text = text
    self.weighsCaptures = weighsCaptures
    effort = SearchEffort(forTextOf: text.count, within: budget)
  }

  /// Whether there is a match. Bytes that are not UTF-8 match nothing.
  mutating func run(_ code: OpaquePointer, _ memory: PCREMemory) throws(QueryError) -> Bool {
    // PCRE2 checks UTF-8 byte by byte; plain ASCII needs no check.
    let options = text.isASCII ? PCRE2_NO_UTF_CHECK : 0
    let choices = UInt32(clamping: SearchEffort.allowed(forTextOf: text.count))
    pcre2_set_match_limit_8(memory.settings, choices)
    let status = withUnsafeMutablePointer(to: &self) { search in
      pcre2_set_callout_8(memory.settings, PCRESearch.callout, search)
      let text = search.pointee.text
      return pcre2_match_8(
        code, text.baseAddress, text.count, 0, options, memory.results, memory.settings)
    }
    switch status {
    case 0...: return true
    case PCRE2_ERROR_NOMATCH, PCRE2_ERROR_UTF8_ERR21...PCRE2_ERROR_UTF8_ERR1: return false
    case PCRE2_ERROR_NOMEMORY: throw QueryError.noMemory
    case PCRE2_ERROR_HEAPLIMIT:
      throw QueryError(.budget, "a regular expression needs too much memory")
    default:
      throw effort.error ?? QueryError(.budget, "a regular expression needs too many steps")
    }
  }

  /// Called by PCRE2 before each item; anything but 0 ends the search.
  private static let callout:
    @convention(c) (UnsafeMutablePointer<pcre2_callout_block_8>?, UnsafeMutableRawPointer?) -> Int32 =
      { block, search in
        guard let block, let search = search?.assumingMemoryBound(to: PCRESearch.self) else {
          return PCRE2_ERROR_CALLOUT
        }
        return search.pointee.move(to: block) ? 0 : PCRE2_ERROR_CALLOUT
      }

  @inline(__always)
  private mutating func move(to block: UnsafeMutablePointer<pcre2_callout_block_8>) -> Bool {
    let next = Int(block.pointee.current_position)
    var steps = (next &- position).magnitude &+ 1
    position = next
    if weighsCaptures { steps &+= PCRESearch.comparisons(block) }
    return effort.spend(Int(steps))
  }

  /// Steps that a comparison with what a group has matched takes at the most.
  private static func comparisons(_ block: UnsafeMutablePointer<pcre2_callout_block_8>) -> UInt {
    guard let positions = block.pointee.offset_vector else { return 0 }
    var longest = 0
    for group in 1..<max(1, Int(block.pointee.capture_top)) {
      let (start, end) = (positions[2 * group], positions[2 * group + 1])
      if start != .max, end > start { longest = max(longest, end - start) }
    }
    return UInt(longest / 8)
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether all bytes are below 0x80.
  var isASCII: Bool {
    var seen: UInt8 = 0
    for byte in self { seen |= byte }
    return seen < 0x80
  }
}
