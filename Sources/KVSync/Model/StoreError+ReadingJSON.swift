package import KVJSON

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
