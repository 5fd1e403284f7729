internal import KVBase
internal import KVJSON
internal import KVModels
internal import KVQuery
internal import KVStorage
package import KVSync

/// The models of a client, which are its collections: the only file that knows the room. Immutable; safe from any thread.
package struct ClientModels: Sendable {
  /// What happens if the local data has another schema, and does not fit this one as it is.
  enum ChangePolicy: Sendable {
    /// That is a `.conflict`.
    case refuse
    /// Records change by rules of the application's, and by a handler of its own.
    case migrate(JSONObject, MigrationHandler?)
    /// What the backend has is read again.
    case resync
  }

  let layout: RecordLayout
  private let text: String
  let schema: ModelSchema
  private let policy: ChangePolicy

  /// The options `schema` and `onSchemaChange`; nil: there is no schema.
  static func read(_ reader: inout OptionReader) throws(StoreError) -> ClientModels? {
    guard let text = try reader.string("schema") else { return nil }
    return try ClientModels(text, try policy(&reader))
  }

  private static func policy(_ reader: inout OptionReader) throws(StoreError) -> ChangePolicy {
    let name = "onSchemaChange"
    guard let value = reader.value(name) else { return .refuse }
    switch value {
    case .string("migrate"): return .migrate([:], nil)
    case .string("resync"): return .resync
    case .object(let object)
    where !object.isEmpty && object.members.allSatisfy { ["migrate", "handler"].contains($0.name) }:
      guard let rules = (object["migrate"] ?? [:]).objectValue else { break }
      guard let handler = object["handler"] else { return .migrate(rules, nil) }
      if let named = handler.stringValue { return .migrate(rules, try self.handler(named)) }
    default: break
    }
    throw StoreError(
      .invalid,
      "The option \"\(name)\" must be \"migrate\", \"resync\" or an object with the rules in \"migrate\" and the"
        + " name of a migration handler in \"handler\".")
  }

  private static func handler(_ name: String) throws(StoreError) -> MigrationHandler {
    guard let handler = MigrationHandlers.shared.factory(name) else {
      throw StoreError(
        .invalid,
        "The option \"onSchemaChange\": no migration handler is registered as \"\(name)\".")
    }
    return handler
  }

  /// `text`: a schema in GraphQL's language. Throws `.invalid` for the first mistake, with line and column.
  init(_ text: String, _ policy: ChangePolicy = .refuse) throws(StoreError) {
    self.text = text
    self.policy = policy
    do throws(SchemaError) { schema = try ModelSchema(sdl: text) } catch {
      throw StoreError(.invalid, "The option \"schema\": \(error.text).")
    }
    guard !schema.models.isEmpty else {
      throw StoreError(.invalid, "The option \"schema\": no type has @model.")
    }
    var rules: [RecordID: CollectionRules] = [:]
    for model in schema.models {
      rules[RecordID(model.name)] = model.rules(in: schema)
      // What is wrong with them is said before anything is opened.
      _ = try model.indexSpecs()
    }
    layout = RecordLayout(rules: rules)
  }

  /// What a schema says, as JSON: see kv_schema_describe. Throws like `init`.
  package static func description(of text: String) throws(StoreError) -> String {
    try ClientModels(text).schema.description.text
  }

  /// Throws `.invalid` if a collection is no model.
  func check(collection: String) throws(StoreError) {
    guard schema.models.contains(where: { $0.name.hasSameBytes(as: collection) }) else {
      throw StoreError(.invalid, "The schema has no model \"\(collection)\".")
    }
  }

  // MARK: The local data

  /// Makes the local data follow the models of a client, or checks that it follows none.
  static func adopt(_ models: ClientModels?, _ storage: Storage) throws(StoreError) {
    if let models { return try models.adopt(storage) }
    guard try storage.modelSchema() == nil else {
      throw StoreError(
        .conflict, "The local data has a schema: open it with the option \"schema\".")
    }
  }

  /// Makes the local data follow these models: what was written with others stays, if it is data of these as well, or
  /// changes as the policy says; else that is a `.conflict`, and nothing changes.
  private func adopt(_ storage: Storage) throws(StoreError) {
    // What the data was of before it was migrated here.
    var migrated: ModelSchema?
    // Another process may have opened the file with other models meanwhile.
    while true {
      guard let old = try storage.modelSchema() else {
        _ = try storage.setModelSchema("", replacing: nil)
        continue
      }
      guard !old.hasSameBytes(as: text) else { return }
      let former = try ModelSchema(kept: old)
      let changes = SchemaChanges(from: former, to: schema)
      let migrations = try migrations(from: former, changes, in: storage)
      if !changes.isAdditive || !migrations.isEmpty {
        // Not the text itself: after a crash, the next client sees that the indexes are to be made.
        if try storage.setModelSchema(text + "\n", replacing: old, migrations) {
          migrated = former
        }
        continue
      }
      try makeIndexes(in: storage, inPlaceOf: migrated ?? former)
      let grown = former.models.filter { model in
        schema.model(model.name).map { $0.fields != model.fields } ?? false
      }
      // Of a new field the backend may have values already.
      let reads = grown.map { RecordMigration($0.name, to: $0.name, .unchanged) }
      if try storage.setModelSchema(text, replacing: old, reads) { return }
    }
  }

  private func migrations(
    from former: ModelSchema, _ changes: SchemaChanges, in storage: Storage
  ) throws(StoreError) -> [RecordMigration] {
    switch policy {
    case .migrate(_, nil) where changes.isAdditive: return []
    case .refuse, .resync:
      guard !changes.isAdditive else { return [] }
      guard case .resync = policy else { throw Self.refusal(changes) }
      return try resynchronizing(former, changes, in: storage)
    case .migrate(let rules, let handler):
      do throws(ModelError) {
        // Rules are for what does not fit. If nothing has changed but the text, there are no steps.
        let rules = changes.isAdditive ? [:] : rules
        let steps = try SchemaMigration(from: former, to: schema, rules).steps
        return steps.map { RecordMigration($0, by: handler) }
      } catch {
        throw StoreError(
          .conflict,
          "The local data has another schema, and the rules in \"onSchemaChange\" do not lead to this one:"
            + " \(error.message). The data was not changed.")
      }
    }
  }

  /// Everything is read again but what was not sent, which has to fit: fields that are gone are left out of it.
  private func resynchronizing(
    _ former: ModelSchema, _ changes: SchemaChanges, in storage: Storage
  ) throws(StoreError) -> [RecordMigration] {
    var migrations: [RecordMigration] = []
    for model in former.models {
      let hasUnsent = try storage.pendingCount(in: model.name) > 0
      guard let other = schema.model(model.name), other.primaryKey == model.primaryKey else {
        guard !hasUnsent else { throw Self.unsent(model.name) }
        migrations.append(RecordMigration(model.name, to: model.name, .removed))
        continue
      }
      let gone = model.fields.map(\.name).filter { other.field($0) == nil }
      let step = SchemaMigration.Step(of: other, in: schema, dropping: gone)
      migrations.append(RecordMigration(step, to: nil, .readAgain))
    }
    return migrations
  }

  private static func unsent(_ model: String) -> StoreError {
    StoreError(
      .conflict,
      "The local data has writes of \(model) that were not sent, and that the new schema has no place for: push them"
        + " with the former one. The data was not changed.")
  }

  private func makeIndexes(
    in storage: Storage, inPlaceOf former: ModelSchema
  ) throws(StoreError) {
    for model in schema.models {
      let wanted = try model.indexSpecs()
      for old in try former.model(model.name)?.indexSpecs() ?? [] where !wanted.contains(old) {
        _ = try storage.dropIndex(old.name, in: model.name)
      }
      for index in wanted { try storage.createIndex(index, in: model.name) }
    }
  }

  private static func refusal(_ changes: SchemaChanges) -> StoreError {
    let named = changes.breaking.prefix(5).map(\.text).joined(separator: "; ")
    let more = changes.breaking.count > 5 ? " and \(changes.breaking.count - 5) more" : ""
    return StoreError(
      .conflict,
      "The local data has another schema that cannot be migrated to this one: \(named)\(more)."
        + " The data was not changed.")
  }
}

extension RecordMigration {
  fileprivate init(_ step: SchemaMigration.Step, by handler: MigrationHandler?) {
    guard let new = step.new else {
      self.init(step.old, to: step.old, .removed)
      return
    }
    self.init(step, to: new, .changed, by: handler)
  }

  fileprivate init(
    _ step: SchemaMigration.Step, to new: String?, _ fate: Fate, by handler: MigrationHandler? = nil
  ) {
    self.init(step.old, to: new ?? step.old, fate) {
      step.reshaped($0)
    } migrated: { (id, record) in
      Result { () throws(StoreError) in try step.migrated(record, id, by: handler) }
    }
  }
}

extension SchemaMigration.Step {
  /// A record as one of the new model, which the handler makes of it if it wants to. Throws `.conflict`.
  fileprivate func migrated(
    _ record: [UInt8], _ id: String, by handler: MigrationHandler?
  ) throws(StoreError) -> [UInt8] {
    do throws(ModelError) {
      guard let handler, let new else { return try migrated(record) }
      let changed = try changed(record)
      let asked = MigratingRecord(
        formerModel: old, model: new, id: id, former: record, changed: changed)
      guard let made = try answer(to: asked, of: handler) else { return try completed(changed) }
      return try completed(made, inPlaceOf: changed)
    } catch {
      throw StoreError(
        .conflict,
        "The record \"\(id)\" of \(old) cannot become one of the new schema: \(error.message)."
          + " The data was not changed.")
    }
  }

  private func answer(
    to asked: MigratingRecord, of handler: MigrationHandler
  ) throws(ModelError) -> [UInt8]? {
    do throws(StoreError) { return try handler(asked) } catch {
      throw ModelError(message: "the migration handler failed: \(error.message)", path: "")
    }
  }
}

extension ModelSchema {
  /// Reads a schema that is stored in a file; empty at first.
  fileprivate init(kept text: String) throws(StoreError) {
    do throws(SchemaError) { try self.init(adopted: text) } catch {
      throw StoreError(.corrupt, "The schema of the local data cannot be read: \(error.text).")
    }
  }
}

extension Model {
  fileprivate func rules(in schema: ModelSchema) -> CollectionRules {
    let validator = ModelValidator(self, in: schema)
    return CollectionRules(format: recordFormat, relations: fields.compactMap(\.recordRelation)) {
      (record) throws(StoreError) in
      do throws(ModelError) { return try validator.completed(record) } catch {
        throw StoreError(.invalid, "The record does not fit its model: \(error.message).")
      }
    }
  }

  fileprivate func indexSpecs() throws(StoreError) -> [IndexSpec] {
    var specs: [IndexSpec] = []
    for index in servedIndexes {
      let keys = JSONObject(index.fields.map { JSONObject.Member($0, 1) })
      let spec: JSONValue = ["name": .string(index.name), "keys": .object(keys)]
      do throws(QueryError) { specs.append(try IndexSpec(parsing: spec.text)) } catch {
        throw StoreError(
          .invalid, "The option \"schema\": the index \(index.name) of \(name): \(error.message).")
      }
    }
    return specs
  }
}

extension ModelField {
  /// The relation as the rooms below know it; nil: the field holds a value.
  fileprivate var recordRelation: RecordRelation? {
    guard let relation else { return nil }
    let link: RecordRelation.Link
    var isOwner = true
    switch relation {
    case .belongsTo(_, let keys): (link, isOwner) = (.reference(keys), false)
    case .hasOne(_, let keys): link = .reference(keys)
    case .hasMany(_, let keys, _): link = .referrers(keys)
    case .manyToMany(_, let join, let keys, let others):
      link = .join(join, keys: keys, others: others)
    }
    return RecordRelation(name: name, collection: relation.model, link: link, isOwner: isOwner)
  }
}

extension SchemaChanges.Breaking {
  /// In words, such as `Post.rating was removed`.
  fileprivate var text: String {
    switch self {
    case .modelRemoved(let model): "\(model) was removed"
    case .keyChanged(let model): "\(model) has another primary key"
    case .fieldRemoved(let type, let field): "\(type).\(field) was removed"
    case .typeChanged(let type, let field): "\(type).\(field) has another type"
    case .becameRequired(let type, let field): "\(type).\(field) is required now"
    case .valueRemoved(let enumeration, let value): "\(enumeration).\(value) was removed"
    }
  }
}
