internal import KVJSON

/// Makes models of definitions: sorts the types by what they are, and has fields, keys and relations read.
struct SchemaBuilder {
  /// By their names, additions merged into them; `order` has the names in the order of the text.
  private(set) var types: [String: SDLType] = [:]
  private(set) var order: [String] = []

  /// Roots of operations are no types of values, if a schema has any of its own.
  private static let roots: Set<String> = ["Query", "Mutation", "Subscription"]

  private static let maxFields = 1_000

  /// Whether directives are refused that name what does not exist, or what is not supported. Data may have been written
  /// with a schema from before these checks: that is read as it was then.
  let isStrict: Bool

  init(_ document: SDLDocument, isStrict: Bool) throws(SchemaError) {
    self.isStrict = isStrict
    for type in document.types where !type.isExtension { try add(type) }
    for type in document.types where type.isExtension { try merge(type) }
  }

  private mutating func add(_ type: SDLType) throws(SchemaError) {
    let name = type.name.text
    guard types[name] == nil, ScalarType(rawValue: name) == nil else {
      throw SchemaError("the type \(name) occurs twice", at: type.name.location)
    }
    guard !name.hasPrefix("__") else {
      throw SchemaError("names that begin with __ are reserved for GraphQL", at: type.name.location)
    }
    types[name] = type
    order.append(name)
  }

  private mutating func merge(_ type: SDLType) throws(SchemaError) {
    let name = type.name.text
    if types[name] == nil, Self.roots.contains(name) { return }
    guard var whole = types[name], whole.kind == type.kind else {
      throw SchemaError("there is no type \(name) to extend", at: type.name.location)
    }
    whole.directives += type.directives
    whole.fields += type.fields
    whole.values += type.values
    types[name] = whole
  }

  // MARK: Kinds of types

  func schema() throws(SchemaError) -> ModelSchema {
    var embedded: [EmbeddedType] = []
    var enumerations: [Enumeration] = []
    var drafts: [ModelDraft] = []
    let checks = DirectiveChecks(builder: self)
    for type in order.compactMap({ types[$0] }) {
      if isStrict { try checks.check(type) }
      if isModel(type) {
        drafts.append(try ModelDraft(type, in: self))
      } else if isEmbedded(type) {
        embedded.append(
          EmbeddedType(name: type.name.text, fields: try embeddedFields(of: type)))
      } else if type.kind == .enumeration {
        enumerations.append(try enumeration(type))
      }
    }
    var relations = try RelationResolver(drafts, in: self)
    return ModelSchema(
      models: try relations.models(), embeddedTypes: embedded, enumerations: enumerations)
  }

  private func isModel(_ type: SDLType) -> Bool {
    type.kind == .object && type.directive("model") != nil
  }

  private func isEmbedded(_ type: SDLType) -> Bool {
    type.kind == .object && type.directive("model") == nil && !Self.roots.contains(type.name.text)
  }

  func isModel(_ name: String) -> Bool { types[name].map(isModel) ?? false }

  private func embeddedFields(of type: SDLType) throws(SchemaError) -> [ModelField] {
    try checkFields(of: type)
    var fields: [ModelField] = []
    for field in type.fields {
      guard !isModel(FieldShape(field.type).name.text) else {
        throw SchemaError(
          "\(type.name.text) is part of a record and cannot have a relation to a model",
          at: field.name.location)
      }
      fields.append(try value(field))
    }
    return fields
  }

  private func enumeration(_ type: SDLType) throws(SchemaError) -> Enumeration {
    guard !type.values.isEmpty else {
      throw SchemaError("\(type.name.text) has no values", at: type.name.location)
    }
    try checkNames(type.values, "value")
    return Enumeration(name: type.name.text, values: type.values.map(\.text))
  }

  // MARK: Fields

  func checkFields(of type: SDLType) throws(SchemaError) {
    guard !type.fields.isEmpty else {
      throw SchemaError("\(type.name.text) has no fields", at: type.name.location)
    }
    guard type.fields.count <= Self.maxFields else {
      throw SchemaError("a type can have at most \(Self.maxFields) fields", at: type.name.location)
    }
    try checkNames(type.fields.map(\.name), "field")
  }

  private func checkNames(_ names: [Located], _ what: String) throws(SchemaError) {
    var seen: Set<String> = []
    for name in names {
      guard seen.insert(name.text).inserted else {
        throw SchemaError("the \(what) \(name.text) occurs twice", at: name.location)
      }
    }
  }

  /// A field that holds a value, not a relation.
  func value(_ field: SDLField) throws(SchemaError) -> ModelField {
    let shape = FieldShape(field.type)
    guard shape.depth < 2 else {
      throw SchemaError("lists of lists are not supported", at: shape.name.location)
    }
    var made = ModelField(
      name: field.name.text, kind: try kind(shape.name), isRequired: shape.isRequired,
      isList: shape.depth == 1, hasRequiredElements: shape.hasRequiredElements)
    if let directive = field.directive("default") {
      made.defaultValue = try defaultValue(directive, of: made)
    }
    return made
  }

  private func kind(_ name: Located) throws(SchemaError) -> ModelField.Kind {
    if let scalar = ScalarType(rawValue: name.text) { return .scalar(scalar) }
    guard let type = types[name.text] else {
      throw SchemaError("there is no type \(name.text)", at: name.location)
    }
    if type.kind == .enumeration { return .enumeration(name.text) }
    guard isEmbedded(type) else {
      throw SchemaError("a field cannot hold a \(type.kind.rawValue)", at: name.location)
    }
    return .embedded(name.text)
  }

  /// The value that a string stands for in a field of this type.
  private func defaultValue(
    _ directive: SDLDirective, of field: ModelField
  ) throws(SchemaError) -> JSONValue {
    guard let argument = directive["value"], let text = argument.value.text else {
      throw SchemaError("@default needs a value, which is a string", at: directive.name.location)
    }
    guard let value = value(of: text, field), !field.isList else {
      throw SchemaError("\(text) is not a value of \(field.name)", at: argument.location)
    }
    return value
  }

  private func value(of text: String, _ field: ModelField) -> JSONValue? {
    switch field.kind {
    case .scalar(let scalar): scalar.value(of: text)
    case .enumeration(let name):
      types[name]?.values.contains { $0.text == text } == true ? .string(text) : nil
    case .embedded, .relation: nil
    }
  }
}

/// What the type of a field says besides its name.
struct FieldShape {
  let name: Located
  /// How many lists are around the name.
  let depth: Int
  let isRequired: Bool
  /// Whether the elements of the innermost list are.
  let hasRequiredElements: Bool

  init(_ type: SDLTypeReference) {
    var (inner, isRequired) = Self.unwrapped(type)
    self.isRequired = isRequired
    var depth = 0
    while case .list(let element) = inner {
      (inner, isRequired) = Self.unwrapped(element)
      depth += 1
    }
    self.depth = depth
    hasRequiredElements = depth > 0 && isRequired
    name = Self.name(of: inner)
  }

  private static func unwrapped(_ type: SDLTypeReference) -> (SDLTypeReference, Bool) {
    if case .nonNull(let inner) = type { (inner, true) } else { (type, false) }
  }

  private static func name(of type: SDLTypeReference) -> Located {
    switch type {
    case .named(let name): name
    case .list(let inner), .nonNull(let inner): name(of: inner)
    }
  }
}
