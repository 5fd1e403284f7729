/// The differences between two schemas that matter to stored records.
///
/// What leaves every stored record a record of its model is `additive`: new models, new fields that may be missing,
/// fields that need not be there any more, new values of an enumeration, other indexes and rules. All else is named
/// one by one, so that a rule or the application can say what is to become of it.
package struct SchemaChanges: Sendable, Equatable {
  package enum Breaking: Sendable, Equatable {
    case modelRemoved(String)
    /// Records have other ids.
    case keyChanged(model: String)
    case fieldRemoved(type: String, field: String)
    /// Its values are of another kind, or it is a list now, or none any more.
    case typeChanged(type: String, field: String)
    /// A field that could be missing or null is required now.
    case becameRequired(type: String, field: String)
    case valueRemoved(enumeration: String, value: String)
  }

  /// The models that were not there before.
  package let newModels: [String]
  package let breaking: [Breaking]

  package var isAdditive: Bool { breaking.isEmpty }

  package init(from old: ModelSchema, to new: ModelSchema) {
    let models = Dictionary(new.models.map { ($0.name, $0) }) { first, _ in first }
    let oldModels = Set(old.models.map(\.name))
    newModels = new.models.map(\.name).filter { !oldModels.contains($0) }
    var breaking: [Breaking] = []
    for model in old.models {
      guard let other = models[model.name] else {
        breaking.append(.modelRemoved(model.name))
        continue
      }
      if model.primaryKey != other.primaryKey { breaking.append(.keyChanged(model: model.name)) }
      breaking += Self.changes(of: model.name, model.fields, other.fields)
    }
    breaking += Self.embedded(old, new) + Self.enumerations(old, new)
    self.breaking = breaking
  }

  /// A type that nothing is made of any more is gone with the fields that held it, which are named.
  private static func embedded(_ old: ModelSchema, _ new: ModelSchema) -> [Breaking] {
    let types = Dictionary(new.embeddedTypes.map { ($0.name, $0) }) { first, _ in first }
    return old.embeddedTypes.flatMap { type in
      types[type.name].map { changes(of: type.name, type.fields, $0.fields) } ?? []
    }
  }

  private static func enumerations(_ old: ModelSchema, _ new: ModelSchema) -> [Breaking] {
    let all = Dictionary(new.enumerations.map { ($0.name, Set($0.values)) }) { first, _ in first }
    return old.enumerations.flatMap { enumeration in
      guard let values = all[enumeration.name] else { return [Breaking]() }
      return enumeration.values.filter { !values.contains($0) }.map {
        .valueRemoved(enumeration: enumeration.name, value: $0)
      }
    }
  }

  private static func changes(
    of type: String, _ old: [ModelField], _ new: [ModelField]
  ) -> [Breaking] {
    let fields = Dictionary(new.map { ($0.name, $0) }) { first, _ in first }
    let oldNames = Set(old.map(\.name))
    var changes = old.compactMap { field in change(of: type, field, fields[field.name]) }
    for field in new where !oldNames.contains(field.name) && field.hasToBeWritten {
      changes.append(.becameRequired(type: type, field: field.name))
    }
    return changes
  }

  /// Relations hold nothing: their keys are fields of their own.
  private static func change(
    of type: String, _ old: ModelField, _ new: ModelField?
  ) -> Breaking? {
    guard old.relation == nil else { return nil }
    guard let new, new.relation == nil else { return .fieldRemoved(type: type, field: old.name) }
    guard old.kind == new.kind, old.isList == new.isList else {
      return .typeChanged(type: type, field: old.name)
    }
    let needsMore =
      new.hasToBeWritten && !old.hasToBeWritten
      || new.hasRequiredElements && !old.hasRequiredElements
    return needsMore ? .becameRequired(type: type, field: old.name) : nil
  }
}

extension ModelField {
  /// Whether a record without it does not fit its model.
  package var hasToBeWritten: Bool {
    isRequired && relation == nil && defaultValue == nil && !isReadOnly
  }
}
