internal import Glibc
internal import KVBase
internal import KVSync

/// `char **json_out`, `size_t *length_out`, `int64_t *count_out`.
public typealias TextOut = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
public typealias LengthOut = UnsafeMutablePointer<Int>
public typealias CountOut = UnsafeMutablePointer<Int64>

/// Where a text goes that the caller then owns: `char **json_out, size_t *length_out`.
///
/// Making one clears both, so that they are NULL and 0 if the call fails.
struct TextOutput {
  private let text: TextOut?
  private let length: LengthOut?
  private let name: StaticString

  init(_ text: TextOut?, _ length: LengthOut?, named name: StaticString = "json_out") {
    self.text = text
    self.name = name
    self.length = length
    text?.pointee = nil
    length?.pointee = 0
  }

  /// For operations that have nothing to tell.
  static var nowhere: TextOutput { TextOutput(nil, nil) }

  /// Whether anybody asked.
  var isWanted: Bool { text != nil }

  /// Fails where the caller has to take the text.
  func require() throws(StoreError) {
    if text == nil { throw missing(name) }
  }

  /// Copies a text to the heap of C, with a NUL at its end. Does nothing if it is not wanted.
  func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    guard copy(bytes) else { throw StoreError.noMemory }
  }

  /// The same; false if there is no memory.
  func copy(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let text else { return true }
    guard let copy = malloc(bytes.count + 1) else { return false }
    if let start = bytes.baseAddress { memcpy(copy, start, bytes.count) }
    copy.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    text.pointee = copy.assumingMemoryBound(to: CChar.self)
    length?.pointee = bytes.count
    return true
  }

  func write(_ bytes: [UInt8]) throws(StoreError) {
    try bytes.withBorrowedBytes { (buffer) throws(StoreError) in try write(buffer) }
  }
}

/// Where a number goes, if anybody asked. Making one clears it.
struct CountOutput {
  private let out: CountOut?
  private let name: StaticString

  init(_ out: CountOut?, named name: StaticString = "count_out") {
    self.out = out
    self.name = name
    out?.pointee = 0
  }

  func require() throws(StoreError) {
    if out == nil { throw missing(name) }
  }

  func write(_ count: Int) { out?.pointee = Int64(count) }
}

/// `int32_t *exists_out`.
public typealias FlagOut = UnsafeMutablePointer<Int32>

/// Where a yes or no goes, as 1 or 0. Making one clears it.
struct FlagOutput {
  private let out: FlagOut?
  private let name: StaticString

  init(_ out: FlagOut?, named name: StaticString) {
    self.out = out
    self.name = name
    out?.pointee = 0
  }

  func require() throws(StoreError) {
    if out == nil { throw missing(name) }
  }

  func write(_ flag: Bool) { out?.pointee = flag ? 1 : 0 }
}

/// `const char **json_out`: text that stays the library's.
public typealias LentOut = UnsafeMutablePointer<UnsafePointer<CChar>?>

/// Where a text goes that the library lends. Making one clears it.
struct LentOutput {
  private let text: LentOut?
  private let length: LengthOut?

  init(_ text: LentOut?, _ length: LengthOut?) {
    self.text = text
    self.length = length
    text?.pointee = nil
    length?.pointee = 0
  }

  func require() throws(StoreError) {
    if text == nil { throw missing("json_out") }
  }

  func lend(_ lent: UnsafeBufferPointer<CChar>) {
    text?.pointee = lent.baseAddress
    length?.pointee = lent.count
  }
}

/// `kv_x **x_out`, `kv_error **error_out`.
public typealias HandleOut = UnsafeMutablePointer<OpaquePointer?>

/// Where a new handle goes. Making one clears it.
struct HandleOutput {
  private let out: HandleOut?
  private let name: StaticString

  init(_ out: HandleOut?, named name: StaticString) {
    self.out = out
    self.name = name
    out?.pointee = nil
  }

  var isWanted: Bool { out != nil }

  func require() throws(StoreError) {
    if out == nil { throw missing(name) }
  }

  func write(_ handle: Handle) { out?.pointee = handle.pointer }

  func clear() { out?.pointee = nil }

  /// Closes the handle that was given, if any.
  func discard() {
    if let handle = out?.pointee { HandleTable.discard(Handle(handle)) }
    clear()
  }
}
