internal import KVBase
internal import KVJSON
internal import KVSync

/// Reads what records look like: the members `id`, `version`, `backendMembers`, `permissions` and `creator` of a description.
struct FormatReader {
  private var id = [RecordFormat.IDMember("_id")]
  private var version: [String] = []
  private var order = VersionOrder.unordered
  /// The JSON type of versions.
  private(set) var versionKind = RecordFormat.IDMember.Kind.text
  private var backendMembers: [String] = []
  private var permissions: String?
  private var creator: String?

  /// Reads a member; false: the format has no such member. Throws `.invalid` for one that is not what it should be.
  mutating func read(_ member: JSONObject.Member) throws(StoreError) -> Bool {
    switch member.name {
    case "id": try readID(member)
    case "version": try readVersion(member)
    case "backendMembers":
      backendMembers = try Self.names(member.value, member.name)
    case "permissions": permissions = try Self.name(member.value, member.name)
    case "creator": creator = try Self.name(member.value, member.name)
    default: return false
    }
    return true
  }

  func format() throws(StoreError) -> RecordFormat {
    let format = RecordFormat(
      id: id, version: version, versionOrder: order, backendMembers: backendMembers,
      permissions: permissions, creator: creator)
    let names = format.reservedNames
    guard Set(names.map { RecordID($0) }).count == names.count else {
      throw StoreError(.invalid, "The backend's description uses one member for two purposes.")
    }
    return format
  }

  /// `"id"`, `{"name":"id","kind":"integer"}`, or several of these.
  private mutating func readID(_ member: JSONObject.Member) throws(StoreError) {
    let parts = member.value.arrayValue ?? [member.value]
    id = []
    for part in parts {
      let name = try Self.name(part.objectValue?["name"] ?? part, member.name)
      id.append(.init(name, try Self.kind(part.objectValue?["kind"], member.name)))
    }
    guard (1...8).contains(id.count) else {
      throw .invalidMember(member.name, "has 1 to 8 members")
    }
  }

  /// `"rev"`, `["meta","rev"]` or `{"path":…,"kind":"integer","ordered":true}`.
  private mutating func readVersion(_ member: JSONObject.Member) throws(StoreError) {
    guard !member.value.isNull else { return }
    let details = member.value.objectValue
    let path = details?["path"] ?? member.value
    version =
      path.arrayValue == nil
      ? [try Self.name(path, member.name)] : try Self.names(path, member.name)
    versionKind = try Self.kind(details?["kind"], member.name)
    let isOrdered: Bool
    switch details?["ordered"] {
    case nil: isOrdered = versionKind == .integer
    case .bool(let ordered): isOrdered = ordered
    default: throw .invalidMember(member.name, "must have an order of true or false")
    }
    order = !isOrdered ? .unordered : versionKind == .integer ? .integer : .text
  }

  private static func kind(
    _ value: JSONValue?, _ member: String
  ) throws(StoreError) -> RecordFormat.IDMember.Kind {
    switch value?.stringValue {
    case nil where value == nil: return .text
    case "text": return .text
    case "integer": return .integer
    default: throw .invalidMember(member, "must be of the kind \"text\" or \"integer\"")
    }
  }

  private static func names(
    _ value: JSONValue, _ member: String
  ) throws(StoreError) -> [String] {
    guard let values = value.arrayValue else {
      throw .invalidMember(member, "must be an array of names")
    }
    var names: [String] = []
    for value in values { names.append(try name(value, member)) }
    return names
  }

  private static func name(_ value: JSONValue, _ member: String) throws(StoreError) -> String {
    guard let name = value.stringValue, !name.isEmpty else {
      throw .invalidMember(member, "must be a name")
    }
    return name
  }
}

extension BackendDescription {
  /// The id of a record as the backend writes it, from the record's key.
  func idValue(ofKey key: String) -> JSONValue {
    let values = format.values(ofKey: key) ?? [.string(key)]
    return values.count == 1 ? values[0] : .array(values)
  }

  /// The key of a record whose id the backend has written; nil if it is none.
  func key(ofID id: JSONValue) -> String? {
    format.key(of: format.id.count == 1 ? [id] : id.arrayValue ?? [])
  }

  /// A version as the backend writes it.
  func versionText(_ version: RecordVersion) -> String {
    versionKind == .integer ? version.text : JSONValue.string(version.text).text
  }
}
