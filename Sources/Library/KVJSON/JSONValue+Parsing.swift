internal import CJansson

extension JSONValue {
  /// Parses one JSON text of any type. At most 2,048 levels; a repeated member is an error, and so is a number beyond
  /// the range of 64-bit floating point. An integer of more than 64 bits becomes the nearest such number.
  package init(parsing text: String) throws(JSONError) {
    var text = text
    let result = text.withUTF8 { utf8 -> Result<JSONValue, JSONError> in
      JSONValue.parse(UnsafeRawBufferPointer(utf8))
    }
    self = try result.get()
  }

  /// Parses one JSON text in UTF-8. The bytes are borrowed.
  package init(parsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
    self = try JSONValue.parse(bytes).get()
  }

  package init(parsing bytes: [UInt8]) throws(JSONError) {
    self = try bytes.withUnsafeBytes { JSONValue.parse($0) }.get()
  }

  /// Parses a JSON text in UTF-8; nil: it is none. Throws `.noMemory` alone: then it may be JSON or not.
  package static func ifJSON(_ bytes: [UInt8]) throws(JSONError) -> JSONValue? {
    do throws(JSONError) { return try JSONValue(parsing: bytes) } catch {
      guard error.reason == .noMemory else { return nil }
      throw error
    }
  }

  private static func parse(_ bytes: UnsafeRawBufferPointer) -> Result<JSONValue, JSONError> {
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      return .failure(JSONError(.truncated, at: 0))
    }
    // Jansson takes a NUL between tokens for the end and would ignore what follows.
    if let nul = bytes.firstIndex(of: 0) {
      return .failure(JSONError(.syntax("NUL in JSON"), at: nul))
    }
    var error = json_error_t()
    if let value = load(base, count: bytes.count, error: &error) { return .success(value) }
    if kv_json_error_code(&error) == json_error_numeric_overflow { return parseLargeNumbers(bytes) }
    return .failure(failure(error, of: bytes))
  }

  /// Jansson has integers of 64 bits only: larger ones are given to it as the reals that they become.
  private static func parseLargeNumbers(
    _ bytes: UnsafeRawBufferPointer
  ) -> Result<JSONValue, JSONError> {
    let marked = ByteScanner(bytes).markingLargeIntegers()
    var error = json_error_t()
    let value = marked.withUnsafeBytes { text in
      text.baseAddress.flatMap { load($0, count: text.count, error: &error) }
    }
    if let value { return .success(value) }
    if kv_json_error_code(&error) == json_error_numeric_overflow {
      do throws(JSONError) { try EntityScanner.validate(bytes, numbers: .finite) } catch {
        return .failure(error)
      }
    }
    return .failure(failure(error, of: bytes))
  }

  /// Parses a text with jansson; nil, with the error, if it is not JSON.
  private static func load(
    _ base: UnsafeRawPointer, count: Int, error: inout json_error_t
  ) -> JSONValue? {
    let flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL
    let text = base.assumingMemoryBound(to: CChar.self)
    guard let parsed = kv_json_load(text, count, Int(flags), &error) else { return nil }
    defer { kv_json_release(parsed) }
    return JSONValue(parsed)
  }

  private static func failure(_ error: json_error_t, of bytes: UnsafeRawBufferPointer) -> JSONError
  {
    let message = withUnsafeBytes(of: error.text) { text in
      String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }
    let position = min(max(Int(error.position), 0), bytes.count)
    let code = withUnsafePointer(to: error) { kv_json_error_code($0) }
    // Where an allocation fails, jansson mostly says nothing, or finds a token invalid.
    guard refusedByJansson.contains(code) || !isValid(bytes) else {
      return JSONError(.noMemory, at: 0)
    }
    return switch code {
    case json_error_premature_end_of_input: JSONError(.truncated, at: position)
    default: JSONError(.syntax(message), at: position)
    }
  }

  /// What jansson refuses, although it is JSON.
  private static let refusedByJansson = [
    json_error_duplicate_key, json_error_null_byte_in_key, json_error_null_character,
  ]

  /// Whether it is JSON, found out without memory.
  private static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
    (try? EntityScanner.validate(bytes, numbers: .finite)) != nil
  }

  /// Copies a jansson value. The recursion is bounded by the parser's own limit.
  private init(_ value: UnsafeMutablePointer<json_t>) {
    switch value.pointee.type {
    case JSON_OBJECT: self = .object(JSONObject(copying: value))
    case JSON_ARRAY:
      self = .array(
        (0..<json_array_size(value)).compactMap { index in
          json_array_get(value, index).map { JSONValue($0) }
        })
    case JSON_STRING:
      self = .string(JSONValue.text(json_string_value(value), json_string_length(value)))
    case JSON_INTEGER: self = .int(json_integer_value(value))
    case JSON_REAL: self = .double(json_real_value(value))
    case JSON_TRUE: self = .bool(true)
    case JSON_FALSE: self = .bool(false)
    default: self = .null
    }
  }

  fileprivate static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
  }

  fileprivate static func copying(_ value: UnsafeMutablePointer<json_t>) -> JSONValue {
    JSONValue(value)
  }
}

extension JSONObject {
  /// Jansson's iterators keep the order of insertion.
  fileprivate init(copying object: UnsafeMutablePointer<json_t>) {
    members = []
    members.reserveCapacity(json_object_size(object))
    var iterator = json_object_iter(object)
    while let at = iterator {
      if let value = json_object_iter_value(at) {
        let name = JSONValue.text(json_object_iter_key(at), json_object_iter_key_len(at))
        members.append(Member(name, JSONValue.copying(value)))
      }
      iterator = json_object_iter_next(object, at)
    }
  }
}
