internal import Glibc
internal import KVJSON
internal import KVSync

/// JSON that comes in, `const char *x_json, size_t length`, as an entry point got it: not yet looked at.
struct JSONArgument {
  private let start: CString?
  private let length: Int
  private let name: StaticString
  private let lifetime: JSONInput.Lifetime

  init(
    _ start: CString?, _ length: Int, named name: StaticString,
    for lifetime: JSONInput.Lifetime = .call
  ) {
    (self.start, self.length, self.name, self.lifetime) = (start, length, name, lifetime)
  }

  // MARK: Large: entities

  /// The bytes, borrowed until the entry point returns.
  func bytes() throws(StoreError) -> UnsafeRawBufferPointer {
    guard let start else { throw missing(name) }
    return UnsafeRawBufferPointer(start: start, count: try count(start, length, name))
  }

  /// The same; nil for NULL, with any length.
  func optionalBytes() throws(StoreError) -> UnsafeRawBufferPointer? {
    start == nil ? nil : try bytes()
  }

  /// The bytes for as long as the operation needs them.
  func input() throws(StoreError) -> JSONInput { JSONInput(try bytes(), for: lifetime) }

  // MARK: Small: options, filters, users

  /// A text that is UTF-8 and small enough to be parsed into values; nil for NULL.
  func optionalText() throws(StoreError) -> String? {
    guard let bytes = try optionalBytes() else { return nil }
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

  /// The same, where there must be one.
  func text() throws(StoreError) -> String {
    guard let text = try optionalText() else { throw missing(name) }
    return text
  }

  /// A JSON array of texts.
  func texts() throws(StoreError) -> [String] {
    guard case .array(let values) = try value(of: try text()) else {
      throw StoreError(.invalid, "\(name) is not a JSON array.")
    }
    var texts: [String] = []
    texts.reserveCapacity(values.count)
    for (index, value) in values.enumerated() {
      guard let text = value.stringValue else {
        var error = StoreError(.invalid, "\(name) has an element that is not a text.")
        error.index = index
        throw error
      }
      texts.append(text)
    }
    return texts
  }

  /// Any JSON value; nil for NULL.
  func optionalValue() throws(StoreError) -> JSONValue? {
    guard let text = try optionalText() else { return nil }
    return try value(of: text)
  }

  private func value(of text: String) throws(StoreError) -> JSONValue {
    do throws(JSONError) { return try JSONValue(parsing: text) } catch {
      throw StoreError(.invalid, "\(name) is not valid JSON: \(error.message).", cause: error)
    }
  }

  /// A JSON object; nil for NULL.
  func optionalObject() throws(StoreError) -> JSONObject? {
    guard let text = try optionalText() else { return nil }
    guard let object = try value(of: text).objectValue else {
      throw StoreError(.invalid, "\(name) is not a JSON object.")
    }
    return object
  }

  /// The same, where there must be one.
  func object() throws(StoreError) -> JSONObject {
    guard let object = try optionalObject() else { throw missing(name) }
    return object
  }
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
    throw StoreError(.invalid, "The length of \(name) is out of range.")
  }
  return length
}
