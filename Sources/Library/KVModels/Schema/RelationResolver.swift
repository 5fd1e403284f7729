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
  /// The keys that directives name, which must exist: the model that has them, and where they are named.
  private var stated: [(model: String, key: String, location: SourceLocation)] = []
  /// The keys whose names follow from a relation: `model.key`.
  private var implied: Set<String> = []

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
    if builder.isStrict { try checkNames() }
    var models: [Model] = []
    for draft in order.compactMap({ drafts[$0] }) {
      models.append(try draft.model(with: relations[draft.name] ?? []))
    }
    return models
  }

  /// Every field that a directive names is declared, or is the key of a relation.
  private func checkNames() throws(SchemaError) {
    for (model, key, location) in stated where !implied.contains("\(model).\(key)") {
      guard drafts[model]?.declares(key) != true else { continue }
      throw SchemaError("\(model) has no field \(key)", at: location)
    }
    for draft in drafts.values { try draft.checkIndexes() }
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

  private mutating func relation(
    _ field: SDLField, _ shape: FieldShape, of model: String
  ) throws(SchemaError) -> Relation {
    guard
      let directive = field.directives.first(where: {
        DirectiveChecks.relations.contains($0.name.text)
      })
    else {
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
    if builder.isStrict, let other = end["fields"] != nil ? end["references"] : nil {
      throw SchemaError("a relation has either fields or references", at: other.name.location)
    }
    switch directive.name.text {
    case "hasMany":
      return .hasMany(model: end.target, keys: try keys(atTarget: end), isSingle: false)
    case "hasOne": return try hasOne(end)
    case "belongsTo": return .belongsTo(model: end.target, keys: try ownKeys(end))
    default: return try connection(end, isList: shape.depth == 1)
    }
  }

  private mutating func hasOne(_ end: RelationEnd) throws(SchemaError) -> Relation {
    guard end["references"] == nil else {
      return .hasMany(model: end.target, keys: try keys(atTarget: end), isSingle: true)
    }
    if let names = try names("fields", of: end, in: end.model) {
      return .hasOne(model: end.target, keys: names)
    }
    return .hasOne(model: end.target, keys: defaultKeys(at: end, of: end.target, in: end.model))
  }

  /// The keys that a record which belongs to another one holds: those it names, else those of the other side.
  private mutating func ownKeys(_ end: RelationEnd) throws(SchemaError) -> [String] {
    if let names = try names("fields", of: end, in: end.model) { return names }
    if let names = try names("references", of: end, in: end.model) { return names }
    guard let other = otherEnd(of: end, with: "hasMany") else {
      return defaultKeys(at: end, of: end.target, in: end.model)
    }
    return try keys(atTarget: other)
  }

  /// The keys that records of the target hold: those it names, those of an index of the target, or added ones.
  private mutating func keys(atTarget end: RelationEnd) throws(SchemaError) -> [String] {
    if let names = try names("references", of: end, in: end.target) {
      return try check(names, against: end)
    }
    let parts = try end.names("fields")
    try check(fields: parts, of: end)
    let count = parts?.count ?? drafts[end.model]?.primaryKey.count ?? 1
    if let fields = try index(of: end)?.fields { return Array(fields.prefix(count)) }
    if parts != nil { return Array((drafts[end.target]?.primaryKey ?? []).prefix(count)) }
    return defaultKeys(at: end, of: end.model, in: end.target)
  }

  /// The index of the target that the relation names.
  private func index(of end: RelationEnd) throws(SchemaError) -> ModelIndex? {
    guard let argument = end["indexName"] ?? end["keyName"] else { return nil }
    let name = argument.value.text ?? ""
    guard let index = drafts[end.target]?.indexes.first(where: { $0.name == name }) else {
      throw SchemaError("\(end.target) has no index \(name)", at: argument.location)
    }
    return index
  }

  /// The records of a relation are found by the key of the record that they belong to, which is all that they hold.
  private func check(fields: [String]?, of end: RelationEnd) throws(SchemaError) {
    guard builder.isStrict, let fields, let argument = end["fields"],
      let key = drafts[end.model]?.primaryKey, fields != key
    else { return }
    for name in fields where drafts[end.model]?.declares(name) != true {
      throw SchemaError("\(end.model) has no field \(name)", at: argument.location)
    }
    throw SchemaError(
      "what belongs to \(end.model) is found by its primary key, \(key.joined(separator: ", ")): other fields are"
        + " not supported", at: argument.location)
  }

  private func check(
    _ references: [String], against end: RelationEnd
  ) throws(SchemaError) -> [String] {
    guard builder.isStrict, let index = try index(of: end), !index.fields.starts(with: references)
    else { return references }
    throw SchemaError(
      "the index \(index.name) does not begin with \(references.joined(separator: ", "))",
      at: end.directive.name.location)
  }

  /// `@connection` of the first generation: the sides know one another by their name.
  private mutating func connection(
    _ end: RelationEnd, isList: Bool
  ) throws(SchemaError) -> Relation {
    let name = end["name"]?.value.text
    if isList {
      if name != nil, let other = otherEnd(of: end, with: "connection", named: name) {
        guard !builder.isStrict || FieldShape(other.field.type).depth == 0 else {
          throw SchemaError(
            "@connection cannot join lists: declare a model between the two",
            at: end.directive.name.location)
        }
        return .hasMany(model: end.target, keys: try connectionKeys(other), isSingle: false)
      }
      if let named = keyField(of: end, in: end.target) {
        return .hasMany(model: end.target, keys: named, isSingle: false)
      }
      return .hasMany(model: end.target, keys: try keys(atTarget: end), isSingle: false)
    }
    if builder.isStrict, let argument = end["keyName"] {
      throw SchemaError(
        "keyName is for lists; other relations are supported by fields only",
        at: argument.name.location)
    }
    return .belongsTo(model: end.target, keys: try connectionKeys(end))
  }

  private mutating func connectionKeys(_ end: RelationEnd) throws(SchemaError) -> [String] {
    if let names = try names("fields", of: end, in: end.model) { return names }
    if let named = keyField(of: end, in: end.model) { return named }
    return defaultKeys(at: end, of: end.target, in: end.model)
  }

  /// The argument `keyField`, whose field is made if the schema does not declare it.
  private mutating func keyField(of end: RelationEnd, in holder: String) -> [String]? {
    guard let names = end["keyField"]?.value.texts else { return nil }
    for name in names { implied.insert("\(holder).\(name)") }
    return names
  }

  /// The fields of `holder` that an argument lists, which must exist; nil if the argument is not there.
  private mutating func names(
    _ argument: String, of end: RelationEnd, in holder: String
  ) throws(SchemaError) -> [String]? {
    guard let names = try end.names(argument), let location = end[argument]?.location else {
      return nil
    }
    for name in names { stated.append((holder, name, location)) }
    return names
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

  /// One key of `holder` for each part of the primary key of `model`.
  private mutating func defaultKeys(
    at end: RelationEnd, of model: String, in holder: String
  ) -> [String] {
    let stem = end.model.uncapitalizedFirst + end.field.name.text.capitalizedFirst
    let keys = (drafts[model]?.primaryKey ?? ["id"]).map { stem + $0.capitalizedFirst }
    for key in keys { implied.insert("\(holder).\(key)") }
    return keys
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

  subscript(_ argument: String) -> SDLArgument? { directive[argument] }

  /// The names of fields that an argument lists; nil if it is not there.
  func names(_ argument: String) throws(SchemaError) -> [String]? {
    guard let argument = directive[argument] else { return nil }
    guard let names = argument.value.texts, !names.isEmpty else {
      throw SchemaError("expected names of fields", at: argument.location)
    }
    return names
  }
}
