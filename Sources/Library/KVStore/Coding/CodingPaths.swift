/// The key of a superclass that is encoded in a container of its own, as in Foundation's coders.
struct SuperKey: CodingKey {
  var stringValue: String { "super" }
  var intValue: Int? { nil }
  init() {}
  init?(stringValue: String) { nil }
  init?(intValue: Int) { nil }
}

/// The index of an element in an array.
struct IndexKey: CodingKey {
  let index: Int
  var stringValue: String { String(index) }
  var intValue: Int? { index }
  init(_ index: Int) { self.index = index }
  init?(stringValue: String) { nil }
  init?(intValue: Int) { index = intValue }
}

extension [any CodingKey] {
  /// The coding path as text, such as `addresses[2].city: `. Empty at the top level.
  fileprivate var prefix: String {
    var text = ""
    for key in self {
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    return text.isEmpty ? "" : "\(text): "
  }
}

extension EncodingError {
  func sentence(about type: Any.Type) -> String {
    guard case .invalidValue(_, let context) = self else { return "The \(type) is not encoded." }
    return "The \(type) cannot be JSON: \(context.codingPath.prefix)\(context.debugDescription)."
  }
}

extension DecodingError {
  func sentence(about type: Any.Type) -> String {
    "The entity does not fit \(type): \(reason)."
  }

  private var reason: String {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      "\(context.codingPath.prefix)\(context.debugDescription)"
    case .keyNotFound(let key, let context):
      "\((context.codingPath + [key]).prefix)it is missing"
    @unknown default: "\(self)"
    }
  }
}
