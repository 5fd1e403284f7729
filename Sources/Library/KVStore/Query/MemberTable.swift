internal import KVBase
internal import KVJSON

/// The names of a type's members, and the key path of each. It is made once for each type.
final class MemberTable<Entity: Codable & Sendable>: Sendable {
  /// The members in the form of the option `knownMembers`; nil: any members, or unknown.
  let knownMembers: JSONObject?
  /// Whether the type may have any members, as a dictionary.
  let isOpen: Bool
  /// Several values of the entity, in which each member differs, and their JSON.
  private let samples: [(entity: Entity, json: JSONValue)]
  private let names = Monitor<[AnyKeyPath: String]>([:])
  /// The number of key paths is not limited, because each index of an array makes another one.
  private static var maxNames: Int { 1000 }

  static var shared: MemberTable {
    MemberTables.table(of: Entity.self) { MemberTable() }
  }

  private init() {
    let probed = try? Self.probed()
    samples = probed?.samples ?? []
    let named = (Entity.self as? any FieldNaming.Type).map { Array(Self.names(in: $0).values) }
    isOpen = probed?.isOpen ?? false
    knownMembers = probed?.known ?? named.map(Self.known)
  }

  /// Returns the path to the member of a key path.
  func name(of keyPath: PartialKeyPath<Entity>) throws(KVStoreError) -> String {
    if let known = names.withLock({ $0[keyPath] }) { return known }
    let stated = Self.stated(keyPath)
    let name = if let stated { stated } else { try found(keyPath) }
    names.withLock { if $0.count < Self.maxNames { $0[keyPath] = name } }
    return name
  }

  private static func stated(_ keyPath: PartialKeyPath<Entity>) -> String? {
    guard let type = Entity.self as? any FieldNaming.Type else { return nil }
    return names(in: type)[keyPath]
  }

  private static func names<Named: FieldNaming>(in type: Named.Type) -> [AnyKeyPath: String] {
    type.fieldNames
  }

  /// Returns the member that has the same value as the key path in every sample.
  private func found(_ keyPath: PartialKeyPath<Entity>) throws(KVStoreError) -> String {
    var candidates: [[String]]?
    for sample in samples {
      guard let value = sample.entity[keyPath: keyPath] as? any Encodable,
        let json = try? JSONEncoding.value(of: value)
      else { break }
      let paths = sample.json.paths(to: json)
      candidates = candidates.map { $0.filter(paths.contains) } ?? paths
    }
    guard let candidates, candidates.count == 1 else {
      throw KVStoreError(
        .invalid,
        "The member of \(keyPath) cannot be found out: \(Entity.self) must conform to FieldNaming."
      )
    }
    return candidates[0].joined(separator: ".")
  }

  private static func probed() throws -> (
    known: JSONObject?, isOpen: Bool, samples: [(entity: Entity, json: JSONValue)]
  ) {
    var samples: [(entity: Entity, json: JSONValue)] = []
    let node = MemberProbe.Node()
    func add(_ isOne: @escaping (Int) -> Bool) throws -> Int {
      let round = MemberProbe.Round(isOne)
      let entity = try MemberProbe.make(Entity.self, round, into: node)
      samples.append((entity, try JSONEncoding.value(of: entity)))
      return round.count
    }
    var count = try add { $0 & 1 == 1 }
    // The inverted values ensure that a member which is equal in all other samples is not mistaken for this one.
    _ = try add { $0 & 1 == 0 }
    var bit = 1
    while count > 1 {
      _ = try add { [bit] in $0 >> bit & 1 == 1 }
      bit += 1
      count >>= 1
    }
    return (node.knownMembers.objectValue, node.isOpen, samples)
  }

  /// Builds the object of known members from paths with dots.
  private static func known(_ paths: [String]) -> JSONObject {
    let root = MemberProbe.Node()
    for path in paths {
      var node = root
      for name in path.utf8.split(separator: UInt8(ascii: ".")) {
        node = node.member(String(Substring(name)))
      }
    }
    return root.knownMembers.objectValue ?? [:]
  }
}

/// The tables of all types so far.
private enum MemberTables {
  private static let all = Monitor<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  static func table<Entity>(
    of type: Entity.Type, _ make: () -> MemberTable<Entity>
  ) -> MemberTable<Entity> {
    let key = ObjectIdentifier(type)
    if let known = all.withLock({ $0[key] }) as? MemberTable<Entity> { return known }
    // The type's own code runs here, so no lock is held. Two threads may make the same table.
    let made = make()
    all.withLock { $0[key] = made }
    return made
  }
}

extension JSONValue {
  /// The paths to the members that are equal to a value, including members of nested objects.
  fileprivate func paths(to wanted: JSONValue) -> [[String]] {
    var found: [[String]] = []
    for member in objectValue?.members ?? [] {
      if member.value == wanted { found.append([member.name]) }
      found += member.value.paths(to: wanted).map { [member.name] + $0 }
    }
    return found
  }
}
