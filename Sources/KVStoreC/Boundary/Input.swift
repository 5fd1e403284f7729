internal import CKVStore
internal import Glibc
internal import KVSync

/// Text that comes in, ending with NUL.
public typealias CString = UnsafePointer<CChar>

/// A required text: a copy, proven to be UTF-8.
func text(_ start: CString?, named name: StaticString) throws(StoreError) -> String {
  guard let start else { throw missing(name) }
  guard let text = String(validatingCString: start) else {
    throw StoreError(.invalid, "\(name) is not valid UTF-8.")
  }
  return text
}

/// A text that may be left out.
func optionalText(_ start: CString?, named name: StaticString) throws(StoreError) -> String? {
  guard start != nil else { return nil }
  return try text(start, named: name)
}

/// Required JSON, borrowed until the entry point returns; not yet looked at.
func json(
  _ start: CString?, _ length: Int, named name: StaticString
) throws(StoreError) -> UnsafeRawBufferPointer {
  guard let start else { throw missing(name) }
  return UnsafeRawBufferPointer(start: start, count: try count(start, length, name))
}

/// JSON that may be left out. NULL with any length is nothing.
func optionalJSON(
  _ start: CString?, _ length: Int, named name: StaticString
) throws(StoreError) -> UnsafeRawBufferPointer? {
  guard start != nil else { return nil }
  return try json(start, length, named: name)
}

/// Small JSON that may be left out, as text; proven to be UTF-8, otherwise not yet looked at.
func optionalJSONText(
  _ start: CString?, _ length: Int, named name: StaticString
) throws(StoreError) -> String? {
  guard let bytes = try optionalJSON(start, length, named: name) else { return nil }
  guard bytes.count > 0 else { throw StoreError(.invalid, "\(name) is empty.") }
  guard bytes.count <= smallLimit else {
    throw StoreError(.tooLarge, "\(name) is larger than \(smallLimit) bytes.")
  }
  guard let text = String(validating: bytes, as: UTF8.self) else {
    throw StoreError(.invalid, "\(name) is not valid UTF-8.")
  }
  guard nesting(of: bytes) <= nestingLimit else {
    throw StoreError(.invalid, "\(name) is nested more than \(nestingLimit) levels deep.")
  }
  return text
}

/// Options, filters and users are parsed into values; they are not meant to carry data.
private let smallLimit = 16 << 20

/// Parsing such values is recursive, and the host's thread may have a small stack.
private let nestingLimit = 100

/// How deep arrays and objects go, if this is JSON; some number, if it is not.
private func nesting(of bytes: UnsafeRawBufferPointer) -> Int {
  var (depth, deepest) = (0, 0)
  var isInString = false
  var isEscaped = false
  for byte in bytes {
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString.toggle()
    } else if !isInString, byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
      depth += 1
      deepest = max(deepest, depth)
    } else if !isInString, byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
      depth -= 1
    }
  }
  return deepest
}

/// No text is longer: a larger length is a mistake, such as a variable that was never set.
private let longestText = 1 << 40

/// `size_t` comes as `Int`: `KV_NUL_TERMINATED` is -1, other negative numbers are no size of memory.
private func count(_ start: CString, _ length: Int, _ name: StaticString) throws(StoreError) -> Int
{
  if length == -1 { return strlen(start) }
  guard (0...longestText).contains(length) else {
    throw StoreError(.invalid, "The length of \(name) is impossible.")
  }
  return length
}

/// What a NULL gives where something is required.
func missing(_ name: StaticString) -> StoreError { StoreError(.misuse, "\(name) is NULL.") }
