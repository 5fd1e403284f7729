package import KVJSON

/// A schema as JSON, for programs that write code from it.
extension ModelSchema {
  /// What `kv_schema_describe` gives. Enumerations, embedded types and models are in the order of the text.
  package var description: JSONValue {
    .object([
      "enums": .array(
        enumerations.map { ["name": .string($0.name), "values": .strings($0.values)] }),
      "types": .array(
        embeddedTypes.map { type in
          ["name": .string(type.name), "fields": .array(type.fields.compactMap(\.description))]
        }),
      "models": .array(models.map(\.description)),
    ])
  }
}

extension Model {
  fileprivate var description: JSONValue {
    [
      "name": .string(name), "pluralName": .string(pluralName), "key": .strings(primaryKey),
      "fields": .array(fields.compactMap(\.description)),
      "relations": .array(
        fields.compactMap { field in field.relation?.description(of: field.name) }),
      "indexes": .array(
        indexes.map { ["name": .string($0.name), "fields": .strings($0.fields)] }),
    ]
  }
}

extension ModelField {
  /// Nil for a relation.
  fileprivate var description: JSONValue? {
    let type: String
    switch kind {
    case .scalar(let scalar): type = scalar.rawValue
    case .enumeration(let name), .embedded(let name): type = name
    case .relation: return nil
    }
    var description: JSONObject = [
      "name": .string(name), "type": .string(type), "isRequired": .bool(isRequired),
      "isList": .bool(isList), "hasRequiredElements": .bool(hasRequiredElements),
      "isReadOnly": .bool(isReadOnly),
    ]
    if let defaultValue { description["default"] = defaultValue }
    return .object(description)
  }
}

extension Relation {
  fileprivate func description(of name: String) -> JSONValue {
    var description: JSONObject = ["name": .string(name), "model": .string(model)]
    switch self {
    case .belongsTo(_, let keys):
      (description["kind"], description["keys"]) = ("belongsTo", .strings(keys))
    case .hasOne(_, let keys):
      (description["kind"], description["keys"]) = ("hasOne", .strings(keys))
    case .hasMany(_, let keys, let isSingle):
      (description["kind"], description["keys"]) = ("hasMany", .strings(keys))
      description["isSingle"] = .bool(isSingle)
    case .manyToMany(_, let join, let keys, let others):
      (description["kind"], description["keys"]) = ("manyToMany", .strings(keys))
      (description["join"], description["others"]) = (.string(join), .strings(others))
    }
    return .object(description)
  }
}

extension JSONValue {
  fileprivate static func strings(_ texts: [String]) -> JSONValue {
    .array(texts.map { .string($0) })
  }
}
