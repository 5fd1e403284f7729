package import KVJSON

/// Reads settings that are a JSON object, of which every member is known.
package struct SettingsReader {
  /// What is wrong with settings: the rest of a sentence whose subject they are.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
  }

  private let object: JSONObject

  /// Reads a text; `names` are the members that it may have.
  package init(_ text: String, members names: [String]) throws(Failure) {
    let value: JSONValue
    do { value = try JSONValue(parsing: text) } catch { throw Failure(error.message) }
    guard let object = value.objectValue else { throw Failure("is a JSON object") }
    for member in object.members where !names.contains(member.name) {
      throw Failure("has no member \"\(member.name)\"")
    }
    self.object = object
  }

  /// A member as it is; nil: there is none.
  package subscript(_ name: String) -> JSONValue? { object[name] }

  /// A text that is not empty; nil: there is none.
  package func text(_ name: String) throws(Failure) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.stringValue, !text.isEmpty else {
      throw Failure("has a \(name) that is a text")
    }
    return text
  }

  /// A text of 16 bytes or more.
  package func secret(_ name: String) throws(Failure) -> String {
    guard let secret = try text(name), secret.utf8.count >= 16 else {
      throw Failure("has a \(name) of 16 bytes or more")
    }
    return secret
  }

  /// An array of texts; none if there is no such member.
  package func texts(_ name: String) throws(Failure) -> [String] {
    try Self.texts(name, object[name] ?? [])
  }

  /// An array of texts, which `name` has.
  package static func texts(_ name: String, _ value: JSONValue) throws(Failure) -> [String] {
    let texts = value.arrayValue?.compactMap(\.stringValue)
    guard let texts, texts.count == value.arrayValue?.count else {
      throw Failure("has \(name) that are an array of texts")
    }
    return texts
  }

  package func number(
    _ name: String, within range: ClosedRange<Double>
  ) throws(Failure) -> Double? {
    guard let value = object[name] else { return nil }
    guard let number = value.doubleValue, range.contains(number) else {
      throw Failure("has a \(name) from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Whether a text is `http://` or `https://` with a host, perhaps a port, and whatever else, without user and password.
  package static func isAddress(_ text: String) -> Bool {
    guard let authority = authority(of: text) else { return false }
    let end = authority.lastIndex(of: "]") ?? authority.startIndex
    guard let colon = authority[end...].lastIndex(of: ":") else { return !authority.isEmpty }
    let port = authority[authority.index(after: colon)...]
    return colon > authority.startIndex && UInt16(port).map { $0 > 0 } == true
  }

  /// Whether what is sent to an address cannot be read or changed on the way: it is `https://`, or of this machine.
  package static func isPrivate(_ address: String) -> Bool {
    guard isAddress(address), let authority = authority(of: address) else { return false }
    let host =
      authority.hasPrefix("[") ? authority.prefix { $0 != "]" } : authority.prefix { $0 != ":" }
    return address.hasPrefix("https://") || ["127.0.0.1", "localhost", "[::1"].contains(host)
  }

  /// The host of an address, without the brackets of an IPv6 address; nil: it is no address.
  package static func host(of address: String) -> String? {
    guard isAddress(address), let authority = authority(of: address) else { return nil }
    guard authority.hasPrefix("[") else { return String(authority.prefix { $0 != ":" }) }
    return String(authority.dropFirst().prefix { $0 != "]" })
  }

  /// Host and port; nil: it is no address at all.
  private static func authority(of text: String) -> Substring? {
    guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }),
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return nil }
    let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    return authority.contains("@") ? nil : authority
  }
}
