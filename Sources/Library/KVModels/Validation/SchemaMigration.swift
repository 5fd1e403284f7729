internal import KVBase
package import KVJSON

/// How records of one schema become records of another, as the application has said it.
///
///     {"Article":{"from":"Post","rename":{"title":"headline"},"drop":["notes"],"default":{"rating":3}},"Remark":null}
///
/// By the names of the new models; null: the model is gone, and its records go too. Immutable; safe from any thread.
package struct SchemaMigration: Sendable {
  /// What becomes of the records of one model.
  package struct Step: Sendable {
    package let old: String
    /// Nil: they go.
    package let new: String?
    private let rename: [(from: String, to: String)]
    private let drop: [String]
    private let defaults: JSONObject
    private let validator: ModelValidator?
    private let format: RecordFormat

    fileprivate init(removing old: String) {
      (self.old, new, rename, drop, defaults, validator) = (old, nil, [], [], [:], nil)
      format = .default
    }

    fileprivate init(
      from old: String, to model: Model, in schema: ModelSchema, _ rule: Rule
    ) {
      (self.old, new) = (old, model.name)
      (rename, drop, defaults) = (rule.rename, rule.drop, rule.defaults)
      validator = ModelValidator(model, in: schema)
      format = model.recordFormat
    }

    /// The records of a model that keeps its name lose some fields.
    package init(of model: Model, in schema: ModelSchema, dropping fields: [String]) {
      self.init(from: model.name, to: model, in: schema, Rule(drop: fields))
    }

    /// A version of a record with its members under their new names, and without those that are dropped.
    package func reshaped(_ record: [UInt8]) -> [UInt8] {
      guard !rename.isEmpty || !drop.isEmpty,
        let object = (try? JSONValue(parsing: record))?.objectValue
      else { return record }
      return JSONValue.object(reshaped(object)).bytes
    }

    /// A record as one of the new model. Throws if it cannot be one.
    package func migrated(_ record: [UInt8]) throws(ModelError) -> [UInt8] {
      try completed(changed(record))
    }

    /// A record as the rules change it, which may lack what the new model requires.
    package func changed(_ record: [UInt8]) throws(ModelError) -> [UInt8] {
      let former = try Self.object(record, named: "a record")
      var object = reshaped(former)
      for member in defaults.members
      where validator?.accepts(object[member.name], as: member.name) == false {
        object[member.name] = member.value
      }
      return object == former ? record : JSONValue.object(object).bytes
    }

    /// What a handler makes of a record that the rules have changed, as one of the new model. The members of the backend stay
    /// as they are, and so does the key where the answer leaves it out. Throws if it cannot be one, or has another key.
    package func completed(
      _ answer: [UInt8], inPlaceOf changed: [UInt8]
    ) throws(ModelError) -> [UInt8] {
      let former = try Self.object(changed, named: "a record")
      var object = try Self.object(answer, named: "the answer")
      for name in format.backendMembers { object[name] = former[name] }
      for member in format.id {
        let value = object[member.name] ?? former[member.name]
        guard value?.bytes == former[member.name]?.bytes else {
          throw ModelError(
            message: "the answer has another value of the key, in \(member.name)", path: member.name
          )
        }
        object[member.name] = value
      }
      return try completed(JSONValue.object(object).bytes)
    }

    /// A record with its defaults. Throws if it does not fit the new model.
    package func completed(_ record: [UInt8]) throws(ModelError) -> [UInt8] {
      try validator?.completed(record) ?? record
    }

    private static func object(
      _ text: [UInt8], named name: String
    ) throws(ModelError) -> JSONObject {
      guard let object = (try? JSONValue(parsing: text))?.objectValue else {
        throw ModelError(message: "\(name) must be a JSON object", path: "")
      }
      return object
    }

    private func reshaped(_ object: JSONObject) -> JSONObject {
      JSONObject(
        object.members.compactMap { member in
          if drop.contains(where: { $0 == member.name }) { return nil }
          let name = rename.first { $0.from == member.name }?.to ?? member.name
          return JSONObject.Member(name, member.value)
        })
    }
  }

  /// The rules of one model.
  fileprivate struct Rule {
    var from: String?
    var rename: [(from: String, to: String)] = []
    var drop: [String] = []
    var defaults: JSONObject = [:]

    func name(of field: String) -> String { rename.first { $0.from == field }?.to ?? field }
  }

  /// In the order of the old models; those that did not change are left out.
  package let steps: [Step]

  /// Throws if the rules name what is not there, or do not say what is to become of something that is gone.
  package init(
    from old: ModelSchema, to new: ModelSchema, _ rules: JSONObject
  ) throws(ModelError) {
    var (renamed, removed): ([String: String], Set<String>) = ([:], [])
    var parsed: [String: Rule] = [:]
    for member in rules.members {
      guard !member.value.isNull else {
        removed.insert(try Self.former(member.name, in: old, gone: new))
        continue
      }
      guard let model = new.model(member.name), let object = member.value.objectValue else {
        throw ModelError(message: "the schema has no model \(member.name)", path: member.name)
      }
      let rule = try Self.rule(object, of: model)
      parsed[model.name] = rule
      if let from = rule.from { renamed[try Self.former(from, in: old, gone: new)] = model.name }
    }
    let areTypesSame =
      old.embeddedTypes == new.embeddedTypes && old.enumerations == new.enumerations
    var steps: [Step] = []
    for model in old.models {
      if removed.contains(model.name) {
        steps.append(Step(removing: model.name))
        continue
      }
      let name = renamed[model.name] ?? model.name
      guard let other = new.model(name) else {
        throw ModelError(message: "\(model.name) was removed", path: model.name)
      }
      let rule = parsed[name] ?? Rule()
      try Self.check(model, other, by: rule)
      if model != other || !rule.defaults.isEmpty || !areTypesSame {
        steps.append(Step(from: model.name, to: other, in: new, rule))
      }
    }
    self.steps = steps
  }

  private static func former(
    _ name: String, in old: ModelSchema, gone new: ModelSchema
  ) throws(ModelError) -> String {
    guard old.model(name) != nil, new.model(name) == nil else {
      throw ModelError(message: "\(name) is no model that is gone", path: name)
    }
    return name
  }

  private static func rule(_ object: JSONObject, of model: Model) throws(ModelError) -> Rule {
    var rule = Rule()
    for member in object.members {
      switch (member.name, member.value) {
      case ("from", .string(let name)): rule.from = name
      case ("rename", .object(let names)):
        for pair in names.members {
          guard let name = pair.value.stringValue, model.field(name) != nil else {
            throw ModelError(
              message: "\(model.name) has no such field to rename \(pair.name) to", path: model.name
            )
          }
          rule.rename.append((pair.name, name))
        }
      case ("drop", .array(let names)): rule.drop = names.compactMap(\.stringValue)
      case ("default", .object(let values)):
        for value in values.members
        where model.field(value.name)?.relation != nil
          || model.field(value.name) == nil
        {
          throw ModelError(message: "\(model.name) has no field \(value.name)", path: model.name)
        }
        rule.defaults = values
      default:
        throw ModelError(
          message: "\(member.name) is not one of from, rename, drop and default", path: model.name)
      }
    }
    return rule
  }

  /// Throws for a field without a rule, and for an unknown key.
  private static func check(_ old: Model, _ new: Model, by rule: Rule) throws(ModelError) {
    guard old.primaryKey.map(rule.name) == new.primaryKey,
      zip(old.primaryKey, new.primaryKey).allSatisfy({ old.field($0)?.kind == new.field($1)?.kind })
    else { throw ModelError(message: "\(old.name) has another primary key", path: old.name) }
    for field in old.fields where field.relation == nil && !rule.drop.contains(field.name) {
      guard let other = new.field(rule.name(of: field.name)), other.relation == nil else {
        throw ModelError(message: "\(old.name).\(field.name) was removed", path: old.name)
      }
    }
  }
}
