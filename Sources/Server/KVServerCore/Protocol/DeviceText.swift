internal import KVBase
internal import KVJSON

/// What a client says of the device that it runs on, for users who look at their sessions.
enum DeviceText {
  /// Enough to know a device by.
  private static let maxBytes = 200

  /// From `X-Kinvey-Device-Info`, which Kinvey's SDKs and our clients send as JSON, or else the program; nil: nothing is said. Throws
  /// if the device has a name, which our clients alone send, that is not allowed.
  static func of(_ headers: Headers) throws(ServerError) -> String? {
    let text = try headers[.deviceInfo].flatMap(described) ?? headers[.userAgent] ?? ""
    return text.isEmpty ? nil : shortened(text)
  }

  /// The name, the model, the system and the library.
  private static func described(_ text: String) throws(ServerError) -> String? {
    guard text.utf8.first == UInt8(ascii: "{"), let info = try? JSONValue(parsing: text) else {
      return text
    }
    if let name = info["dn"] { try check(name: name) }
    let parts = [["dn"], ["md"], ["os", "ov"], ["sdk"]].map { names in
      names.compactMap { info[$0]?.stringValue }.filter { !$0.isEmpty }.joined(separator: " ")
    }
    let all = parts.filter { !$0.isEmpty }.joined(separator: ", ")
    return all.isEmpty ? nil : all
  }

  private static func check(name: JSONValue) throws(ServerError) {
    guard DeviceName.isName(name.stringValue ?? "") else {
      throw ServerError(
        .inputValidationFailed,
        "the name of a device, dn in X-Kinvey-Device-Info, must be a text of 1 to \(DeviceName.maxBytes) bytes in UTF-8"
          + " without control characters")
    }
  }

  /// The start of a text, without control characters, and without half a character at its end.
  private static func shortened(_ text: String) -> String {
    var out = ""
    var count = 0
    for scalar in text.unicodeScalars where !scalar.isControl {
      count += UTF8.width(scalar)
      if count > maxBytes { break }
      out.unicodeScalars.append(scalar)
    }
    return out
  }
}
