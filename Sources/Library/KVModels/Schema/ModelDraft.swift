/// A model whose fields and keys are read, but not yet its relations, which need the keys of the other models.
struct ModelDraft {
  private static let maxIndexes = 100

  let type: SDLType
  let name: String
  var fields: [ModelField]
  private(set) var primaryKey: [String]
  private(set) var indexes: [ModelIndex] = []
  /// The fields that lead to other models, as they are written.
  let relations: [SDLField]
  /// What the backend makes.
  private let timestamps: [ModelField]
  /// Where the fields of indexes are named, some of which may be keys of relations.
  private var indexed: [(field: String, location: SourceLocation)] = []

  init(_ type: SDLType, in builder: SchemaBuilder) throws(SchemaError) {
    try builder.checkFields(of: type)
    (self.type, name) = (type, type.name.text)
    relations = type.fields.filter { builder.isModel(FieldShape($0.type).name.text) }
    fields = []
    let names = Self.timestampNames(of: type)
    for field in type.fields where !builder.isModel(FieldShape(field.type).name.text) {
      var value = try builder.value(field)
      value.isReadOnly = names.contains(value.name)
      fields.append(value)
    }
    timestamps = names.map {
      ModelField(name: $0, kind: .scalar(.dateTime), isRequired: false, isReadOnly: true)
    }
    primaryKey = []
    try readKeys()
  }

  func field(_ name: String) -> ModelField? { fields.first { $0.name == name } }

  /// Whether the schema has the field, or the model gets it because it has no key.
  func declares(_ name: String) -> Bool {
    primaryKey.contains(name) || type.fields.contains { $0.name.text == name }
  }

  /// Throws if an index is of a field that neither the schema, nor a relation, nor the backend makes.
  func checkIndexes() throws(SchemaError) {
    for (name, location) in indexed
    where field(name) == nil && !timestamps.contains(where: { $0.name == name }) {
      throw SchemaError("\(self.name) has no field \(name)", at: location)
    }
  }

  /// `fields` in the order of the schema, relations among them, the rest at their end.
  func model(with relations: [ModelField]) throws(SchemaError) -> Model {
    let all = Dictionary((fields + relations).map { ($0.name, $0) }) { first, _ in first }
    let names = Set(type.fields.map(\.name.text))
    let written = type.fields.compactMap { all[$0.name.text] }
    let added = (fields + relations).filter { !names.contains($0.name) }
    let made = timestamps.filter { all[$0.name] == nil }
    return Model(
      name: name, pluralName: Plural.of(name), fields: written + added + made,
      primaryKey: primaryKey,
      indexes: indexes, rules: try AuthorizationRule.all(of: type),
      missingOperations: ModelOperation.missing(of: type))
  }

  // MARK: Keys

  private mutating func readKeys() throws(SchemaError) {
    for directive in type.directives where directive.name.text == "key" { try readKey(directive) }
    for field in type.fields {
      for directive in field.directives { try readFieldKey(directive, of: field) }
    }
    guard primaryKey.isEmpty else { return }
    if field("id") == nil {
      fields.insert(ModelField(name: "id", kind: .scalar(.id), isRequired: true), at: 0)
    }
    primaryKey = ["id"]
  }

  /// `@key(name:, fields:)` of the first generation: without a name it is the primary key.
  private mutating func readKey(_ directive: SDLDirective) throws(SchemaError) {
    guard let names = directive["fields"]?.value.texts, !names.isEmpty else {
      throw SchemaError("@key needs fields", at: directive.name.location)
    }
    if let name = directive["name"]?.value.text {
      try addIndex(name, names, at: directive.name.location)
    } else {
      try setPrimaryKey(names, at: directive.name.location)
    }
  }

  /// `@primaryKey` and `@index` of the second one, which stand at the first field of the key.
  private mutating func readFieldKey(
    _ directive: SDLDirective, of field: SDLField
  ) throws(SchemaError) {
    guard ["primaryKey", "index"].contains(directive.name.text) else { return }
    var names = [field.name.text]
    if let argument = directive["sortKeyFields"] {
      guard let more = argument.value.texts else {
        throw SchemaError("expected names of fields", at: argument.location)
      }
      names += more
    }
    guard directive.name.text == "index" else {
      return try setPrimaryKey(names, at: directive.name.location)
    }
    let name = directive["name"]?.value.text ?? "by" + names.map(\.capitalizedFirst).joined()
    try addIndex(name, names, at: directive.name.location)
  }

  private mutating func setPrimaryKey(
    _ names: [String], at location: SourceLocation
  ) throws(SchemaError) {
    guard primaryKey.isEmpty else {
      throw SchemaError("\(name) has two primary keys", at: location)
    }
    try checkRepetition(of: names, at: location)
    for name in names {
      let field = try keyField(name, location)
      guard field.isRequired else {
        throw SchemaError(
          "\(name) is part of the primary key, so it must be required", at: location)
      }
    }
    primaryKey = names
  }

  private mutating func addIndex(
    _ name: String, _ names: [String], at location: SourceLocation
  ) throws(SchemaError) {
    guard !indexes.contains(where: { $0.name == name }) else {
      throw SchemaError("the index \(name) occurs twice", at: location)
    }
    guard indexes.count < Self.maxIndexes else {
      throw SchemaError("a model can have at most \(Self.maxIndexes) indexes", at: location)
    }
    try checkRepetition(of: names, at: location)
    for name in names where type.fields.contains(where: { $0.name.text == name }) {
      _ = try keyField(name, location)
    }
    indexed += names.map { ($0, location) }
    indexes.append(ModelIndex(name: name, fields: names))
  }

  private func checkRepetition(
    of names: [String], at location: SourceLocation
  ) throws(SchemaError) {
    guard Set(names).count == names.count else {
      throw SchemaError("a key cannot have a field twice", at: location)
    }
  }

  private func keyField(
    _ name: String, _ location: SourceLocation
  ) throws(SchemaError) -> ModelField {
    guard let field = field(name) else {
      throw SchemaError("\(self.name) has no field \(name) that can be part of a key", at: location)
    }
    let canBeKey: Bool =
      switch field.kind {
      case .scalar(let scalar): scalar.canBeKey
      case .enumeration: true
      case .embedded, .relation: false
      }
    guard canBeKey, !field.isList else {
      throw SchemaError(
        "\(name) cannot be part of a key, which is made of strings and integers only", at: location)
    }
    return field
  }

  /// Adds an index to a model that no schema declares.
  mutating func addIndex(_ index: ModelIndex) { indexes.append(index) }

  // MARK: Times

  /// `@model(timestamps: {createdAt: "made", updatedAt: null})`: other names, or none.
  private static func timestampNames(of type: SDLType) -> [String] {
    let argument = type.directive("model")?["timestamps"]?.value
    if argument == .null { return [] }
    return ["createdAt", "updatedAt"].compactMap { name in
      guard let value = argument?[name] else { return name }
      return value.text
    }
  }
}

extension String {
  /// With its first letter as a capital.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
  /// With a small first letter.
  var uncapitalizedFirst: String { prefix(1).lowercased() + dropFirst() }
}

/// The plural of English nouns, as far as names of models need it.
enum Plural {
  private static let irregular = ["Person": "People", "Child": "Children", "Man": "Men"]

  static func of(_ name: String) -> String {
    for (one, many) in irregular where name.hasSuffix(one) {
      return name.dropLast(one.count) + many
    }
    let isAfterVowel = name.dropLast().last.map { "aeiouAEIOU".contains($0) } ?? true
    if name.hasSuffix("y"), !isAfterVowel { return name.dropLast() + "ies" }
    let hisses = ["s", "x", "z", "ch", "sh"].contains { name.hasSuffix($0) }
    return name + (hisses ? "es" : "s")
  }
}
