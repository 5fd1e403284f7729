internal import KVCollation
internal import KVJSON

extension Collation {
  /// Reads `{"locale":"de","ignoreCase":true,"ignoreAccents":true}`, or the locale alone.
  init(_ value: JSONValue, _ trail: [QueryDecodingError.Step]) throws(QueryDecodingError) {
    guard let object = value.stringValue.map({ ["locale": .string($0)] }) ?? value.objectValue
    else {
      throw QueryDecodingError(
        "a collation must be a locale, or an object such as {\"locale\":\"de\"}", trail)
    }
    var flags = (case: false, accents: false)
    for member in object.members where member.name != "locale" {
      let here = trail + [.member(member.name)]
      guard let flag = member.value.boolValue else {
        throw QueryDecodingError(
          "a collation has locale, and ignoreCase and ignoreAccents, which are true or false", here)
      }
      switch member.name {
      case "ignoreCase": flags.case = flag
      case "ignoreAccents": flags.accents = flag
      default: throw QueryDecodingError("unknown member \(member.name) of a collation", here)
      }
    }
    guard let locale = object["locale"]?.stringValue, !locale.isEmpty else {
      throw QueryDecodingError("a collation needs a locale such as \"de\"", trail)
    }
    guard flags.case || !flags.accents else {
      throw QueryDecodingError("ignoreAccents needs ignoreCase", trail + [.member("ignoreAccents")])
    }
    let strength: Strength = flags.accents ? .primary : flags.case ? .secondary : .tertiary
    guard let known = Collation(locale: locale, strength: strength) else {
      throw QueryDecodingError("no order is known for the locale \(locale)", trail)
    }
    self = known
  }

  /// What reads back as this collation.
  var json: JSONValue {
    var object: JSONObject = ["locale": .string(locale)]
    if strength != .tertiary { object["ignoreCase"] = .bool(true) }
    if strength == .primary { object["ignoreAccents"] = .bool(true) }
    return .object(object)
  }
}

extension Collation {
  /// The locale and what is ignored, for names.
  var words: [String] {
    switch strength {
    case .primary: [locale, "ignoreCase", "ignoreAccents"]
    case .secondary: [locale, "ignoreCase"]
    case .tertiary: [locale]
    }
  }
}

/// The keys that texts are compared by: their own bytes, or those of an order by language.
extension Collation? {
  /// Whether texts have the same order in both.
  func hasOrder(of other: Collation?) -> Bool {
    guard let self, let other else { return self == nil && other == nil }
    return self.hasOrder(of: other)
  }

  /// Calls `body` with the bytes that stand for a text.
  func withKey<R>(
    of text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> R
  ) -> R {
    guard let self else { return body(text) }
    return self.key(of: text).withUnsafeBufferPointer(body)
  }
}
