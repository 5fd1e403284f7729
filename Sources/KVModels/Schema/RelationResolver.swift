/// Finds out which fields hold the keys of relations, and adds those that a schema leaves to the names that AWS Amplify
/// gives them: model `Comment`, field `post`: `commentPostId`.
struct RelationResolver {
  private let builder: SchemaBuilder
  private var drafts: [String: ModelDraft] = [:]
  private var order: [String] = []
  /// By the name of the model, in the order of the schema.
  private var relations: [String: [ModelField]] = [:]
  /// `@manyToMany` by the name of the relation: the fields that have it.
  private var pairs: [String: [(model: String, field: SDLField)]] = [:]
  private var pairOrder: [String] = []

  init(_ drafts: [ModelDraft], in builder: SchemaBuilder) throws(SchemaError) {
    self.builder = builder
    for draft in drafts {
      self.drafts[draft.name] = draft
      order.append(draft.name)
    }
  }

  mutating func models() throws(SchemaError) -> [Model] {
    for name in order {
      for field in drafts[name]?.relations ?? [] { try resolve(field, of: name) }
    }
    for name in pairOrder { try addJoin(name) }
    var models: [Model] = []
    for draft in order.compactMap({ drafts[$0] }) {
      models.append(try draft.model(with: relations[draft.name] ?? []))
    }
    return models
  }

  // MARK: A relation

  private mutating func resolve(_ field: SDLField, of model: String) throws(SchemaError) {
    if let directive = field.directive("manyToMany") {
      return try addPair(directive, field, of: model)
    }
    let shape = FieldShape(field.type)
    guard shape.depth < 2 else {
      throw SchemaError(
        "a relation must lead to a model or to a list of a model", at: field.name.location)
    }
    let relation = try relation(field, shape, of: model)
    let isRequired = shape.isRequired && shape.depth == 0
    add(
      ModelField(
        name: field.name.text, kind: .relation(relation), isRequired: isRequired,
        isList: shape.depth == 1), to: model)
    try addKeys(of: relation, to: model, isRequired: isRequired, at: field.name.location)
  }

  private func relation(
    _ field: SDLField, _ shape: FieldShape, of model: String
  ) throws(SchemaError) -> Relation {
    let names: Set = ["connection", "hasOne", "hasMany", "belongsTo"]
    guard let directive = field.directives.first(where: { names.contains($0.name.text) }) else {
      throw SchemaError(
        "\(field.name.text) leads to a model, so it needs @hasOne, @hasMany, @belongsTo, @manyToMany "
          + "or @connection", at: field.name.location)
    }
    let end = RelationEnd(model: model, field: field, directive: directive, target: shape.name.text)
    guard
      (shape.depth == 1) == (directive.name.text == "hasMany")
        || directive.name.text == "connection"
    else {
      throw SchemaError(
        "@hasMany is required for lists and allowed for nothing else", at: directive.name.location)
    }
    switch directive.name.text {
    case "hasMany":
      return .hasMany(model: end.target, keys: try keys(atTarget: end), isSingle: false)
    case "hasOne": return try hasOne(end)
    case "belongsTo": return .belongsTo(model: end.target, keys: try ownKeys(end))
    default: return try connection(end, isList: shape.depth == 1)
    }
  }

  private func hasOne(_ end: RelationEnd) throws(SchemaError) -> Relation {
    guard end.directive["references"] == nil else {
      return .hasMany(model: end.target, keys: try keys(atTarget: end), isSingle: true)
    }
    let names = try end.names("fields")
    return .hasOne(model: end.target, keys: names ?? defaultKeys(at: end, of: end.target))
  }

  /// The keys that a record which belongs to another one holds: those it names, else those of the other side.
  private func ownKeys(_ end: RelationEnd) throws(SchemaError) -> [String] {
    if let names = try end.names("fields") { return names }
    if let names = try end.names("references") { return names }
    guard let other = otherEnd(of: end, with: "hasMany") else {
      return defaultKeys(at: end, of: end.target)
    }
    return try keys(atTarget: other)
  }

  /// The keys that records of the target hold: those it names, those of an index of the target, or added ones.
  private func keys(atTarget end: RelationEnd) throws(SchemaError) -> [String] {
    if let names = try end.names("references") { return names }
    let parts = try end.names("fields")
    let count = parts?.count ?? drafts[end.model]?.primaryKey.count ?? 1
    if let argument = end.directive["indexName"] ?? end.directive["keyName"] {
      let name = argument.value.text ?? ""
      guard let index = drafts[end.target]?.indexes.first(where: { $0.name == name }) else {
        throw SchemaError("\(end.target) has no index \(name)", at: argument.location)
      }
      return Array(index.fields.prefix(count))
    }
    if parts != nil { return Array((drafts[end.target]?.primaryKey ?? []).prefix(count)) }
    return defaultKeys(at: end, of: end.model)
  }

  /// `@connection` of the first generation: the sides know one another by their name.
  private func connection(_ end: RelationEnd, isList: Bool) throws(SchemaError) -> Relation {
    let name = end.directive["name"]?.value.text
    if isList {
      if name != nil, let other = otherEnd(of: end, with: "connection", named: name) {
        return .hasMany(model: end.target, keys: try connectionKeys(other), isSingle: false)
      }
      let named = end.directive["keyField"]?.value.texts
      let keys = if let named { named } else { try keys(atTarget: end) }
      return .hasMany(model: end.target, keys: keys, isSingle: false)
    }
    return .belongsTo(model: end.target, keys: try connectionKeys(end))
  }

  private func connectionKeys(_ end: RelationEnd) throws(SchemaError) -> [String] {
    if let names = try end.names("fields") { return names }
    return end.directive["keyField"]?.value.texts ?? defaultKeys(at: end, of: end.target)
  }

  /// The relation of the target that leads back here.
  private func otherEnd(
    of end: RelationEnd, with directive: String, named name: String? = nil
  ) -> RelationEnd? {
    for field in drafts[end.target]?.relations ?? [] {
      let isSame = end.target == end.model && field.name.text == end.field.name.text
      guard !isSame, FieldShape(field.type).name.text == end.model,
        let other = field.directive(directive), name == nil || other["name"]?.value.text == name
      else { continue }
      return RelationEnd(model: end.target, field: field, directive: other, target: end.model)
    }
    return nil
  }

  /// One key for each part of the primary key of `model`.
  private func defaultKeys(at end: RelationEnd, of model: String) -> [String] {
    let stem = end.model.uncapitalizedFirst + end.field.name.text.capitalizedFirst
    return (drafts[model]?.primaryKey ?? ["id"]).map { stem + $0.capitalizedFirst }
  }

  // MARK: Keys

  private mutating func add(_ field: ModelField, to model: String) {
    relations[model, default: []].append(field)
  }

  private mutating func addKeys(
    of relation: Relation, to model: String, isRequired: Bool, at location: SourceLocation
  ) throws(SchemaError) {
    switch relation {
    case .belongsTo(let target, let keys), .hasOne(let target, let keys):
      try addKeys(keys, to: model, of: target, isRequired: isRequired, at: location)
    case .hasMany(let target, let keys, _):
      try addKeys(keys, to: target, of: model, isRequired: false, at: location)
    case .manyToMany: break  // The keys are those of the join, which are added with it.
    }
  }

  /// Sees to it that `holder` has the fields that hold the primary key of `target`.
  private mutating func addKeys(
    _ keys: [String], to holder: String, of target: String, isRequired: Bool,
    at location: SourceLocation
  ) throws(SchemaError) {
    guard let parts = drafts[target]?.primaryKey, keys.count == parts.count else {
      throw SchemaError(
        "the key of \(target) has other parts than \(keys.joined(separator: ", "))", at: location)
    }
    for (key, part) in zip(keys, parts) {
      guard let field = drafts[target]?.field(part), drafts[holder]?.field(key) == nil else {
        try checkKey(key, of: holder, part, of: target, at: location)
        continue
      }
      drafts[holder]?.fields.append(
        ModelField(name: key, kind: field.kind, isRequired: isRequired))
    }
  }

  private func checkKey(
    _ key: String, of holder: String, _ part: String, of target: String,
    at location: SourceLocation
  ) throws(SchemaError) {
    guard let field = drafts[holder]?.field(key), !field.isList,
      let other = drafts[target]?.field(part), Self.isComparable(field.kind, other.kind)
    else {
      throw SchemaError("\(holder).\(key) cannot hold \(target).\(part)", at: location)
    }
  }

  private static func isComparable(_ left: ModelField.Kind, _ right: ModelField.Kind) -> Bool {
    guard case .scalar(let left) = left, case .scalar(let right) = right else {
      return left == right
    }
    return left.canBeKey && right.canBeKey && left.isInteger == right.isInteger
  }

  // MARK: Many to many

  private mutating func addPair(
    _ directive: SDLDirective, _ field: SDLField, of model: String
  ) throws(SchemaError) {
    guard let name = directive["relationName"]?.value.text, FieldShape(field.type).depth == 1 else {
      throw SchemaError(
        "@manyToMany is for lists and needs a relationName", at: directive.name.location)
    }
    if pairs[name] == nil { pairOrder.append(name) }
    pairs[name, default: []].append((model, field))
  }

  /// A model of its own joins the two: it belongs to a record of each.
  private mutating func addJoin(_ relation: String) throws(SchemaError) {
    guard let pair = pairs[relation], let (first, field) = pair.first else { return }
    let name = relation.capitalizedFirst
    guard pair.count == 2, FieldShape(field.type).name.text == pair[1].model,
      FieldShape(pair[1].field.type).name.text == first
    else {
      throw SchemaError(
        "\(relation) must have a list on each of two sides", at: field.name.location)
    }
    guard builder.types[name] == nil else {
      throw SchemaError("the type \(name) exists already", at: field.name.location)
    }
    let sides = Self.sides(first, pair[1].model)
    var join = try ModelDraft(Self.joinType(name, at: field.name.location), in: builder)
    for (side, model) in zip(sides, [first, pair[1].model]) {
      let keys = (drafts[model]?.primaryKey ?? []).map { side + $0.capitalizedFirst }
      join.addIndex(ModelIndex(name: "by" + side.capitalizedFirst, fields: keys))
      relations[name, default: []].append(
        ModelField(
          name: side, kind: .relation(.belongsTo(model: model, keys: keys)), isRequired: true))
    }
    drafts[name] = join
    order.append(name)
    for (index, (model, field)) in pair.enumerated() {
      guard let ends = relations[name]?.compactMap(\.relation?.ownKeys), ends.count == 2 else {
        continue
      }
      try addKeys(ends[index], to: name, of: model, isRequired: true, at: field.name.location)
      let relation = Relation.manyToMany(
        model: pair[1 - index].model, join: name, keys: ends[index], others: ends[1 - index])
      add(
        ModelField(
          name: field.name.text, kind: .relation(relation), isRequired: false, isList: true),
        to: model)
    }
  }

  /// What the join calls its two sides; of a model with itself the second one has another name.
  private static func sides(_ first: String, _ second: String) -> [String] {
    let names = [first.uncapitalizedFirst, second.uncapitalizedFirst]
    return first == second ? [names[0], "other" + first.capitalizedFirst] : names
  }

  private static func joinType(_ name: String, at location: SourceLocation) -> SDLType {
    var type = SDLType(
      kind: .object, name: Located(text: name, location: location), isExtension: false)
    let id = Located(text: "id", location: location)
    type.fields = [
      SDLField(
        name: id, type: .nonNull(.named(Located(text: "ID", location: location))), directives: [])
    ]
    return type
  }
}

/// One end of a relation: a field of a model, and what it says of the model that it leads to.
struct RelationEnd {
  let model: String
  let field: SDLField
  let directive: SDLDirective
  let target: String

  /// The names of fields that an argument lists; nil if it is not there.
  func names(_ argument: String) throws(SchemaError) -> [String]? {
    guard let argument = directive[argument] else { return nil }
    guard let names = argument.value.texts, !names.isEmpty else {
      throw SchemaError("expected names of fields", at: argument.location)
    }
    return names
  }
}
