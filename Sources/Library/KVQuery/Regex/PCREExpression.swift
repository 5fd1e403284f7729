internal import CPCRE2
internal import KVBase

/// An expression compiled by PCRE2. Safe from any thread.
///
/// Without its JIT compiler: that wants memory which is both writable and executable, in a process that is not ours,
/// and its limits count something else than those of the interpreter.
///
/// `@unchecked Sendable`: PCRE2 only reads the code once it is compiled.
final class PCREExpression: @unchecked Sendable {
  private let code: OpaquePointer
  private let hasBackreferences: Bool
  /// The memory of a search, kept for the next one.
  private let spare = Monitor<PCREMemory?>(nil)
  /// Searches in longer texts give their memory back: it grows with what there is to go back to.
  private static let longestForSpare = 4096

  init(_ source: String, _ flags: RegexFlags) throws(RegexError) {
    let text = try PCRESource(source)
    guard let context = pcre2_compile_context_create_8(nil) else { throw RegexError.noMemory }
    defer { pcre2_compile_context_free_8(context) }
    pcre2_set_newline_8(context, UInt32(PCRE2_NEWLINE_LF))
    pcre2_set_bsr_8(context, UInt32(PCRE2_BSR_UNICODE))
    var (status, offset): (Int32, Int) = (0, 0)
    guard
      let code = pcre2_compile_8(
        text.bytes, text.bytes.count, PCREExpression.options(flags), &status, &offset, context)
    else {
      if status == PCRE2_ERROR_HEAP_FAILED { throw RegexError.noMemory }
      throw RegexError(
        message: PCREExpression.message(status), position: text.position(ofByte: offset, in: source)
      )
    }
    self.code = code
    var highest: UInt32 = 0
    pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_BACKREFMAX), &highest)
    hasBackreferences = highest > 0
  }

  deinit { pcre2_code_free_8(code) }

  /// The compile options: a callout before each item counts the steps; `\C` would match parts of characters.
  private static func options(_ flags: RegexFlags) -> UInt32 {
    var options = PCRE2_UTF | PCRE2_AUTO_CALLOUT | PCRE2_NEVER_BACKSLASH_C
    if flags.contains(.ignoreCase) { options |= PCRE2_CASELESS }
    if flags.contains(.multiline) { options |= PCRE2_MULTILINE }
    if flags.contains(.dotAll) { options |= PCRE2_DOTALL }
    if flags.contains(.extended) { options |= PCRE2_EXTENDED }
    return options
  }

  private static func message(_ status: Int32) -> String {
    let text = [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
      let length = pcre2_get_error_message_8(status, buffer.baseAddress, buffer.count)
      count = max(0, Int(length))
    }
    return String(decoding: text, as: UTF8.self)
  }

  func matches(
    _ text: UnsafeBufferPointer<UInt8>, within budget: WorkBudget
  ) throws(QueryError) -> Bool {
    guard let memory = spare.withLock({ $0.take() }) ?? PCREMemory(for: code) else {
      throw QueryError.noMemory
    }
    var search = PCRESearch(text, within: budget, weighsCaptures: hasBackreferences)
    let isMatch = try search.run(code, memory)
    if text.count <= PCREExpression.longestForSpare { spare.withLock { $0 = memory } }
    return isMatch
  }
}

/// The memory that PCRE2 uses during a search. One thread at a time.
final class PCREMemory {
  /// The limit of the memory for backtracking, in KiB.
  private static let limit: UInt32 = 32 << 10

  let results: OpaquePointer
  let settings: OpaquePointer

  /// Allocates the memory of a search; nil if there is none.
  init?(for code: OpaquePointer) {
    // One pair of positions: the place of a match is not needed.
    guard let results = pcre2_match_data_create_8(1, nil) else { return nil }
    guard let settings = pcre2_match_context_create_8(nil) else {
      pcre2_match_data_free_8(results)
      return nil
    }
    pcre2_set_heap_limit_8(settings, PCREMemory.limit)
    self.results = results
    self.settings = settings
  }

  deinit {
    pcre2_match_data_free_8(results)
    pcre2_match_context_free_8(settings)
  }
}
