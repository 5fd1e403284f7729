package import KVJSON

extension Model {
  /// How its records are laid out: the id, or the parts of the primary key, and what a backend with versions adds.
  package var recordFormat: RecordFormat {
    RecordFormat(
      id: primaryKey.map { name in
        RecordFormat.IDMember(name, field(name)?.isIntegral == true ? .integer : .text)
      },
      version: ["_version"], versionOrder: .integer, versionsOnlyRise: true,
      changeTime: "_lastChangedAt",
      backendMembers: ["_deleted", "_lastChangedAt"]
        + fields.lazy.filter(\.isReadOnly).map(\.name),
      makesIDs: hasGeneratedID)
  }

  /// The fields whose values relations are looked up by, each of which an index serves, together with those of the
  /// schema's own indexes.
  package var servedIndexes: [ModelIndex] {
    var served = indexes
    for keys in fields.lazy.compactMap({ $0.relation?.ownKeys })
    where !keys.isEmpty && !served.contains(where: { $0.fields.starts(with: keys) }) {
      // No name of a field has a space.
      served.append(ModelIndex(name: "relation " + keys.joined(separator: " "), fields: keys))
    }
    return served
  }
}

extension ModelField {
  /// Whether it holds integers.
  var isIntegral: Bool { if case .scalar(let scalar) = kind { scalar.isInteger } else { false } }
}
