/// Refuses directives that would be read as something else than what they say: arguments that do not exist, relations at
/// fields that hold values, keys where there are no records.
struct DirectiveChecks {
  let builder: SchemaBuilder

  /// The arguments of the directives that mean something here.
  private static let arguments: [String: Set<String>] = [
    "model": ["queries", "mutations", "subscriptions", "timestamps"],
    "key": ["name", "fields", "queryField"],
    "connection": ["name", "keyName", "fields", "keyField", "sortField", "limit"],
    "primaryKey": ["sortKeyFields"],
    "index": ["name", "sortKeyFields", "queryField"],
    "hasOne": ["fields", "references"],
    "hasMany": ["indexName", "fields", "references", "limit"],
    "belongsTo": ["fields", "references"],
    "manyToMany": ["relationName", "limit"],
    "default": ["value"],
    "auth": ["rules"],
  ]
  private static let known = Dictionary(
    uniqueKeysWithValues: arguments.keys.map { ($0.lowercased(), $0) })

  static let relations: Set = ["connection", "hasOne", "hasMany", "belongsTo", "manyToMany"]
  private static let keys: Set = ["primaryKey", "index"]

  func check(_ type: SDLType) throws(SchemaError) {
    for directive in type.directives { try check(directive) }
    for field in type.fields {
      for directive in field.directives { try check(directive) }
      try check(field, of: type)
    }
  }

  private func check(_ directive: SDLDirective) throws(SchemaError) {
    let name = directive.name.text
    guard let arguments = Self.arguments[name] else {
      // Directives of others are passed over; this one is ours, misspelt.
      guard let meant = Self.known[name.lowercased()] else { return }
      throw SchemaError(
        "there is no directive @\(name), only @\(meant)", at: directive.name.location)
    }
    for argument in directive.arguments where !arguments.contains(argument.name.text) {
      throw SchemaError(
        "@\(name) has no argument \(argument.name.text)", at: argument.name.location)
    }
  }

  private func check(_ field: SDLField, of type: SDLType) throws(SchemaError) {
    let isModel = type.directive("model") != nil
    let relations = field.directives.filter { Self.relations.contains($0.name.text) }
    if let second = relations.dropFirst().first {
      throw SchemaError("a field can have one relation only", at: second.name.location)
    }
    if isModel, builder.isModel(FieldShape(field.type).name.text) {
      guard let directive = field.directive("default") else { return }
      throw SchemaError("a relation has no default value", at: directive.name.location)
    }
    if let directive = relations.first {
      throw SchemaError(
        "@\(directive.name.text) is for fields of models that lead to a model",
        at: directive.name.location)
    }
    guard !isModel, let key = field.directives.first(where: { Self.keys.contains($0.name.text) })
    else { return }
    throw SchemaError("@\(key.name.text) is for fields of models", at: key.name.location)
  }
}
