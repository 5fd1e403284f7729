internal import KVBase
package import KVJSON
package import KVSync

/// Ids in other forms: URIs, and the reference objects of the store.
extension ObjectContext {
  private static let scheme = "kvstore://"

  /// A text that names the object in any context of this store, also after a relaunch:
  /// `kvstore://<UUID>/<collection>/p<key>`; one with a temporary id has `t`.
  package func uri(of id: ObjectID) throws(StoreError) -> String {
    let (id, isTemporary) = try identity(of: id)
    return Self.scheme + store.metadata.uuid + "/" + Self.encoded(id.collection.text) + "/"
      + (isTemporary ? "t" : "p") + Self.encoded(id.key.text)
  }

  /// The id that a URI names. Throws `.invalid` for a text that is none, `.notFound` for one of another store.
  package func id(ofURI uri: String) throws(StoreError) -> ObjectID {
    let parts = uri.utf8.dropFirst(Self.scheme.utf8.count).split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard uri.utf8.starts(with: Self.scheme.utf8), parts.count == 3,
      let kind = parts[2].first, kind == UInt8(ascii: "p") || kind == UInt8(ascii: "t"),
      let collection = Self.decoded(parts[1]), let key = Self.decoded(parts[2].dropFirst()),
      !collection.isEmpty, !key.isEmpty
    else { throw StoreError(.invalid, "This is not the URI of an object.") }
    guard parts[0].elementsEqual(store.metadata.uuid.utf8) else {
      throw StoreError(.notFound, "The URI names an object of another store.")
    }
    return try identity(of: ObjectID(collection, key)).id
  }

  /// `{"collection","id","reference","uri","isTemporary"}`. The reference is what the store knows the object by: a text, an
  /// integer, or an array of both; null while the id is temporary.
  package func description(of id: ObjectID) throws(StoreError) -> JSONObject {
    try check(id)
    let (id, isTemporary) = try identity(of: id)
    var object = id.json
    let values = try store.format(of: id.collection.text).values(ofKey: id.key.text)
    object["reference"] =
      isTemporary ? .null : values.map { $0.count == 1 ? $0[0] : .array($0) } ?? .null
    object["uri"] = .string(try uri(of: id))
    object["isTemporary"] = .bool(isTemporary)
    return object
  }

  private static func encoded(_ text: String) -> String {
    var out = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."), UInt8(ascii: "~"):
        out.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        out += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      }
    }
    return out
  }

  /// Nil for a text that is not encoded like this.
  private static func decoded(_ text: some Sequence<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
