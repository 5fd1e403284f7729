internal import KVBase
package import KVJSON

extension StoreError {
  /// Everything known, as `kv_error_json` documents it: members that do not apply are absent.
  package var jsonObject: JSONObject {
    var object = JSONObject([
      .init("status", .int(Int64(kind.code))), .init("name", .string(kind.name)),
      .init("message", .string(message)),
    ])
    object["http"] = answer.flatMap { $0.status == 0 ? nil : .int(Int64($0.status)) }
    object["error"] = answer?.error.map { .string($0) }
    object["description"] = answer?.description.map { .string($0) }
    object["debug"] = answer?.debug.map { .string($0) }
    object["requestId"] = answer?.requestId.map { .string($0) }
    object["index"] = index.map { .int(Int64($0)) }
    object["id"] = id.map { .string($0) }
    object["position"] = position.map { .int(Int64($0)) }
    object["code"] = code.map { .int(Int64($0)) }
    return object
  }

  /// The error that `jsonObject` is of; nil: of none.
  package init?(_ object: JSONObject) {
    guard let name = object["name"]?.stringValue,
      let kind = Kind.allCases.first(where: { $0.name.hasSameBytes(as: name) }),
      let message = object["message"]?.stringValue
    else { return nil }
    self.init(kind, message)
    let (status, word) = (object["http"]?.intValue, object["error"]?.stringValue)
    if status != nil || word != nil {
      answer = ServerAnswer(
        status: Int(clamping: status ?? 0), error: word,
        description: object["description"]?.stringValue, debug: object["debug"]?.stringValue,
        requestId: object["requestId"]?.stringValue)
    }
    index = object["index"]?.intValue.map { Int(clamping: $0) }
    id = object["id"]?.stringValue
    position = object["position"]?.intValue.map { Int(clamping: $0) }
    code = object["code"]?.intValue.map { Int(clamping: $0) }
  }

  /// The same as compact text: what a failed pending write keeps.
  package var json: String { jsonObject.text }
}

extension StoreError {
  /// The error of a text that is not the JSON it should be; if only the memory was missing to read it, `.storage`.
  package init(_ kind: Kind, _ message: String, cause error: JSONError) {
    guard error.reason != .noMemory else {
      self = .noMemory
      return
    }
    self.init(kind, message)
    position = error.position
  }

  /// A text of the caller's that is not the JSON it should be.
  package init(_ error: JSONError) { self.init(.invalid, error.message, cause: error) }
}

extension JSONValue {
  /// Reads a JSON text; nil: it is none. Throws `.storage` if there is no memory to tell.
  package static func ifValid(_ text: [UInt8]) throws(StoreError) -> JSONValue? {
    do throws(JSONError) { return try ifJSON(text) } catch { throw StoreError(error) }
  }

  package static func ifValid(_ text: String) throws(StoreError) -> JSONValue? {
    try ifValid(Array(text.utf8))
  }
}
