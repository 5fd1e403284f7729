internal import KVClient
internal import KVBase
internal import KVJSON
internal import KVSync

/// JSON that an operation reads: borrowed from the caller by the blocking form, which ends before the
/// call returns; copied by the asynchronous one.
///
/// `@unchecked Sendable`: borrowed bytes are read by the thread that waits for the operation only.
struct JSONInput: @unchecked Sendable {
  enum Lifetime { case call, operation }

  private let borrowed: UnsafeRawBufferPointer
  private let copy: [UInt8]?

  init(
    _ start: CString?, _ length: Int, named name: StaticString, for lifetime: Lifetime
  ) throws(StoreError) {
    let bytes = try json(start, length, named: name)
    copy = lifetime == .operation ? Array(bytes) : nil
    borrowed = lifetime == .operation ? UnsafeRawBufferPointer(start: nil, count: 0) : bytes
  }

  func withBytes<R>(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    guard let copy else { return try body(borrowed) }
    return try copy.withBorrowedBytes(body)
  }
}

/// Options that may be left out: a JSON object.
func options(_ start: CString?) throws(StoreError) -> JSONObject? {
  try optionalObject(start, -1, named: "options")
}

/// The options of a call that may be left out.
func callOptions(_ start: CString?) throws(StoreError) -> Options? {
  guard let object = try options(start) else { return nil }
  return try Options(object)
}

/// The options of a call that writes entities by their ids, and the condition among them.
func writeOptions(
  _ start: CString?
) throws(StoreError) -> (options: Options?, condition: WriteCondition) {
  guard let object = try options(start) else { return (nil, .none) }
  return try Options.ofWrite(object)
}

/// A small JSON object that may be left out.
func optionalObject(
  _ start: CString?, _ length: Int, named name: StaticString
) throws(StoreError) -> JSONObject? {
  guard let text = try optionalJSONText(start, length, named: name) else { return nil }
  return try object(text, named: name)
}

/// A small JSON object.
func requiredObject(
  _ start: CString?, _ length: Int, named name: StaticString
) throws(StoreError) -> JSONObject {
  guard let object = try optionalObject(start, length, named: name) else { throw missing(name) }
  return object
}

private func object(_ text: String, named name: StaticString) throws(StoreError) -> JSONObject {
  let value: JSONValue
  do throws(JSONError) { value = try JSONValue(parsing: text) } catch {
    var failure = StoreError(.invalid, "\(name) is not valid JSON: \(error.message).")
    failure.position = error.position
    throw failure
  }
  guard let object = value.objectValue else {
    throw StoreError(.invalid, "\(name) is not a JSON object.")
  }
  return object
}
