package import KVCollation
package import KVJSON

/// An index that an application asks for: a name, and what is indexed.
///
/// As JSON: `{"name":"…","keys":{"country":1,"population":-1}}`, in MongoDB's words, also `"collation":{"locale":"de"}`;
/// `"totals":true` and `"language":"english"` are ours.
package struct IndexSpec: Sendable, Equatable {
  /// A member of an ordered index.
  package struct Key: Sendable, Equatable {
    package var path: Path
    package var ascending: Bool
  }

  package enum Kind: Sendable, Equatable {
    /// Values in order, one or several together.
    case ordered([Key])
    /// The words of the texts at these paths; of all texts of an entity if there are none.
    case text([Path])
    /// The places at a path.
    case geo(Path)
  }

  /// The largest number of keys of one index.
  package static let maxKeys = 8
  /// The largest length of a name, in bytes.
  package static let longestName = 128

  package let name: String
  package let kind: Kind
  /// Whether count and sum of the last key are kept for each group of the others.
  package let hasTotals: Bool
  /// The language whose stems an index of texts has beside the words.
  package let language: TextLanguage
  /// The order of texts in an ordered index; nil: by code point.
  package let collation: Collation?
  /// The version of the weights that an index with a collation was made by: `Collation.version`, unless it was stored.
  package private(set) var collationVersion = Collation.version
  /// Why it was made without being asked for; nil: the application asked for it.
  package var automatic: IndexReason?

  /// Reads a specification; an error tells the position in the text.
  package init(parsing text: String) throws(QueryError) {
    let value = try parseJSON(text)
    do throws(QueryDecodingError) { self = try IndexSpec(value) } catch {
      throw error.located(in: text)
    }
  }

  /// Reads a specification that was stored: besides what an application can ask for, it may say why the index was made, and
  /// by which weights.
  package init(stored text: String) throws(QueryError) {
    guard case .object(var object) = try parseJSON(text),
      object["automatic"] != nil || object["collation"] != nil
    else {
      self = try IndexSpec(parsing: text)
      return
    }
    let (automatic, version) = (object["automatic"], object["collationVersion"])
    (object["automatic"], object["collationVersion"]) = (nil, nil)
    self = try IndexSpec(parsing: JSONValue.object(object).text)
    self.automatic = automatic.flatMap { IndexReason($0) }
    if collation != nil {
      collationVersion = version?.intValue.flatMap { UInt32(exactly: $0) } ?? 0
    }
  }

  /// The text that `init(stored:)` reads.
  package var storedText: String {
    var object = json
    if collation != nil { object["collationVersion"] = .int(Int64(collationVersion)) }
    return JSONValue.object(object).text
  }

  /// Whether its keys are of weights that this software does not have. It has to be made anew, and is not used.
  package var isOutdated: Bool { collation != nil && collationVersion != Collation.version }

  /// The same, made by the weights of this software.
  package var renewed: IndexSpec {
    var spec = self
    spec.collationVersion = Collation.version
    return spec
  }

  /// An index that no application asked for, whose name tells its keys; nil if these are too long for a name, or none.
  package init?(automatic keys: [Key], hasTotals: Bool = false, _ collation: Collation? = nil) {
    let members = keys.map { $0.ascending ? $0.path.text : "\($0.path.text) descending" }
    let order = collation.map { " (\($0.words.joined(separator: ", ")))" } ?? ""
    let name = "automatic: \(members.joined(separator: ", "))\(order)\(hasTotals ? ", totals" : "")"
    guard !keys.isEmpty, keys.count <= Self.maxKeys, name.utf8.count <= Self.longestName,
      !name.utf8.contains(0)
    else { return nil }
    self.init(name, .ordered(keys), hasTotals: hasTotals, collation: collation)
    automatic = IndexReason()
  }

  /// Whether the other index, under whatever name, is of the same use.
  package func hasKeys(of other: IndexSpec) -> Bool {
    kind == other.kind && hasTotals == other.hasTotals && language == other.language
      && collation.hasOrder(of: other.collation)
  }

  /// The index in the backend's names. Its own name stays.
  package func renamed(by keys: KeyMap) -> IndexSpec {
    switch kind {
    case .ordered(let ordered):
      IndexSpec(
        name,
        .ordered(ordered.map { Key(path: keys.renamed($0.path), ascending: $0.ascending) }),
        hasTotals: hasTotals, collation: collation)
    case .text(let paths):
      IndexSpec(name, .text(paths.map { keys.renamed($0) }), language: language)
    case .geo(let path): IndexSpec(name, .geo(keys.renamed(path)))
    }
  }

  private init(
    _ name: String, _ kind: Kind, hasTotals: Bool = false, language: TextLanguage = .none,
    collation: Collation? = nil
  ) {
    (self.name, self.kind, self.hasTotals, self.language) = (name, kind, hasTotals, language)
    self.collation = collation
  }

  private init(_ value: JSONValue) throws(QueryDecodingError) {
    guard let object = value.objectValue else {
      throw QueryDecodingError("an index must be an object", [])
    }
    let known = ["name", "keys", "totals", "language", "collation"]
    for member in object.members where !known.contains(member.name) {
      throw QueryDecodingError(
        "unknown member \(member.name): an index has name, keys, totals, language and collation",
        [.member(member.name)])
    }
    guard let keys = object["keys"]?.objectValue, !keys.isEmpty else {
      throw QueryDecodingError("an index needs keys, such as {\"country\":1}", [.member("keys")])
    }
    kind = try IndexSpec.kind(keys)
    hasTotals = try IndexSpec.totals(object["totals"], kind)
    collation = try IndexSpec.collation(object["collation"], kind, hasTotals: hasTotals)
    name = try IndexSpec.name(object["name"], keys, in: collation)
    language = try IndexSpec.language(object["language"], kind)
  }

  /// `{"country":1,"population":-1}`, or `"text"` for all of them, or `"2dsphere"` for a single one.
  private static func kind(_ keys: JSONObject) throws(QueryDecodingError) -> Kind {
    let trail = [QueryDecodingError.Step.member("keys")]
    guard keys.count <= maxKeys else {
      throw QueryDecodingError("an index can have at most \(maxKeys) keys", trail)
    }
    for member in keys.members where member.name.isEmpty {
      throw QueryDecodingError("a key needs a name", trail)
    }
    switch keys.members[0].value {
    case .string("text"): return .text(try textPaths(keys, trail))
    case .string("2dsphere"), .string("2d"):
      guard keys.count == 1 else {
        throw QueryDecodingError("an index of points must have exactly one key", trail)
      }
      return .geo(Path(keys.members[0].name))
    default: return .ordered(try orderedKeys(keys, trail))
    }
  }

  private static func textPaths(
    _ keys: JSONObject, _ trail: [QueryDecodingError.Step]
  ) throws(QueryDecodingError) -> [Path] {
    for member in keys.members where member.value != .string("text") {
      throw QueryDecodingError(
        "\"text\" cannot be combined with other keys", trail + [.member(member.name)])
    }
    if keys.members.contains(where: { $0.name == "$**" }) { return [] }
    return keys.members.map { Path($0.name) }
  }

  private static func orderedKeys(
    _ keys: JSONObject, _ trail: [QueryDecodingError.Step]
  ) throws(QueryDecodingError) -> [Key] {
    var ordered: [Key] = []
    for member in keys.members {
      guard let direction = member.value.intValue, direction == 1 || direction == -1 else {
        throw QueryDecodingError(
          "a key must be 1, -1, \"text\" or \"2dsphere\"", trail + [.member(member.name)])
      }
      ordered.append(Key(path: Path(member.name), ascending: direction == 1))
    }
    return ordered
  }

  private static func totals(_ value: JSONValue?, _ kind: Kind) throws(QueryDecodingError) -> Bool {
    guard let value else { return false }
    guard let hasTotals = value.boolValue else {
      throw QueryDecodingError("totals must be true or false", [.member("totals")])
    }
    guard !hasTotals || kind.canHaveTotals else {
      throw QueryDecodingError(
        "totals need the keys of a group and a number after them", [.member("totals")])
    }
    return hasTotals
  }

  private static func language(
    _ value: JSONValue?, _ kind: Kind
  ) throws(QueryDecodingError) -> TextLanguage {
    guard let value else { return .none }
    let trail = [QueryDecodingError.Step.member("language")]
    guard case .text = kind, let name = value.stringValue else {
      throw QueryDecodingError("language must be the name of a language", trail)
    }
    return try TextLanguage(name, trail)
  }

  private static func collation(
    _ value: JSONValue?, _ kind: Kind, hasTotals: Bool
  ) throws(QueryDecodingError) -> Collation? {
    guard let value else { return nil }
    let trail = [QueryDecodingError.Step.member("collation")]
    guard case .ordered = kind, !hasTotals else {
      throw QueryDecodingError(
        "only an index of values in order, without totals, has a collation", trail)
    }
    return try Collation(value, trail)
  }

  /// The name given, or one made of the keys: `country_1_population_-1`, or `name_1_de_ignoreCase` with a collation.
  private static func name(
    _ value: JSONValue?, _ keys: JSONObject, in collation: Collation?
  ) throws(QueryDecodingError) -> String {
    let made = keys.members.map { member in
      "\(member.name)_\(member.value.stringValue ?? (member.value.intValue ?? 1).description)"
    }
    let parts = made + (collation?.words ?? [])
    let name = value == nil ? parts.joined(separator: "_") : value?.stringValue ?? ""
    guard !name.isEmpty, name.utf8.count <= longestName, !name.utf8.contains(0) else {
      throw QueryDecodingError(
        "a name must be a string of 1 to \(longestName) bytes", [.member("name")])
    }
    return name
  }

  /// Canonical: the same index gives the same text.
  package var json: JSONObject {
    var object: JSONObject = ["name": .string(name), "keys": .object(keysJSON)]
    if hasTotals { object["totals"] = true }
    if language != .none { object["language"] = .string(language.rawValue) }
    if let collation { object["collation"] = collation.json }
    if let automatic { object["automatic"] = automatic.json }
    return object
  }

  private var keysJSON: JSONObject {
    switch kind {
    case .ordered(let keys):
      JSONObject(keys.map { .init($0.path.text, .int($0.ascending ? 1 : -1)) })
    case .text(let paths):
      paths.isEmpty ? ["$**": "text"] : JSONObject(paths.map { .init($0.text, "text") })
    case .geo(let path): [path.text: "2dsphere"]
    }
  }

  /// The paths whose values go into the index.
  package var paths: [Path] {
    switch kind {
    case .ordered(let keys): keys.map(\.path)
    case .text(let paths): paths
    case .geo(let path): [path]
    }
  }
}

extension IndexSpec.Kind {
  fileprivate var canHaveTotals: Bool {
    guard case .ordered(let keys) = self else { return false }
    return keys.count > 1
  }
}
