internal import KVBase
package import KVJSON

/// Checks whether records have the fields of a model, with values of their types.
///
/// What relations lead to is not looked at: a record may arrive before the one that it belongs to. Immutable; safe from
/// any thread.
package struct ModelValidator: Sendable {
  private let model: FieldTable
  private let embedded: [String: FieldTable]
  private let enumerations: [String: Set<String>]
  private let format: RecordFormat
  private let defaults: [(name: String, value: JSONValue)]

  package init(_ model: Model, in schema: ModelSchema) {
    format = model.recordFormat
    self.model = FieldTable(
      model.name, model.fields, optional: model.hasGeneratedID ? model.primaryKey : [])
    defaults = model.fields.compactMap { field in
      field.defaultValue.map { (field.name, $0) }
    }
    embedded = Dictionary(
      schema.embeddedTypes.map { ($0.name, FieldTable($0.name, $0.fields)) }
    ) { first, _ in first }
    enumerations = Dictionary(
      schema.enumerations.map { ($0.name, Set($0.values)) }
    ) { first, _ in first }
  }

  /// The text of a record, an object without space around it, with what it lacks of what fields have by default. Throws
  /// for the first thing that is wrong.
  package func completed(_ record: [UInt8]) throws(ModelError) -> [UInt8] {
    guard var object = (try? JSONValue(parsing: record))?.objectValue else {
      throw ModelError(message: "a record must be an object", path: "")
    }
    var missing = JSONObjectWriter()
    let isEmpty = object.isEmpty
    for (name, value) in defaults where object[name] == nil {
      object[name] = value
      missing.add(name, value)
    }
    try check(object)
    let added = missing.bytes.dropFirst()
    guard added.count > 1 else { return record }
    let separator = isEmpty ? [] : [UInt8(ascii: ",")]
    return record.dropLast() + separator + added
  }

  /// Throws for the first thing that is wrong. `record` is a whole record, without its id if that is to be made.
  package func check(_ record: JSONObject) throws(ModelError) {
    try check(record, as: model, at: [])
  }

  /// Whether a record may have this value in a field; nil: none.
  func accepts(_ value: JSONValue?, as name: String) -> Bool {
    guard let field = model.fields[name] else { return false }
    guard let value, !value.isNull else { return !model.required.contains(name) && value != nil }
    do throws(ModelError) { try check(value, field, of: model, at: [name]) } catch { return false }
    return true
  }

  // MARK: Objects

  private typealias Trail = [String]

  private func check(
    _ object: JSONObject, as type: FieldTable, at trail: Trail
  ) throws(ModelError) {
    var missing = type.required
    for member in object.members {
      guard let field = type.fields[member.name] else {
        guard trail.isEmpty, format.isReserved(member.name) else {
          throw error("\(type.name) has no field \(member.name)", trail + [member.name])
        }
        continue
      }
      if !member.value.isNull { missing.remove(member.name) }
      try check(member.value, field, of: type, at: trail + [member.name])
    }
    guard let name = missing.min() else { return }
    throw error("\(type.name).\(name) is required", trail + [name])
  }

  private func check(
    _ value: JSONValue, _ field: ModelField, of type: FieldTable, at trail: Trail
  ) throws(ModelError) {
    if value.isNull { return }
    guard field.isList, field.relation == nil else {
      return try check(element: value, field, of: type, at: trail)
    }
    guard let elements = value.arrayValue else {
      throw error("\(type.name).\(field.name) must be an array", trail)
    }
    for (index, element) in elements.enumerated() {
      guard !element.isNull || !field.hasRequiredElements else {
        throw error("no element of \(type.name).\(field.name) may be null", trail + ["\(index)"])
      }
      if !element.isNull { try check(element: element, field, of: type, at: trail + ["\(index)"]) }
    }
  }

  private func check(
    element value: JSONValue, _ field: ModelField, of type: FieldTable, at trail: Trail
  ) throws(ModelError) {
    let name = "\(type.name).\(field.name)"
    switch field.kind {
    case .scalar(let scalar):
      guard scalar.accepts(value) else {
        throw error("\(name) must be \(scalar.description)", trail)
      }
    case .enumeration(let enumeration):
      guard let word = value.stringValue, enumerations[enumeration]?.contains(word) == true else {
        throw error("\(name) must be a value of \(enumeration)", trail)
      }
    case .embedded(let inner):
      guard let object = value.objectValue, let fields = embedded[inner] else {
        throw error("\(name) must be an object", trail)
      }
      try check(object, as: fields, at: trail)
    case .relation(let relation):
      let keys = relation.ownKeys.joined(separator: ", ")
      throw error(
        "\(name) is a relation: "
          + (keys.isEmpty ? "the \(relation.model) holds its key" : "its key is \(keys)"), trail)
    }
  }

  private func error(_ message: String, _ trail: Trail) -> ModelError {
    var path = ""
    for step in trail {
      let isIndex = step.utf8.first.map { $0 &- 0x30 < 10 } ?? false
      path += isIndex ? "[\(step)]" : path.isEmpty ? step : ".\(step)"
    }
    return ModelError(message: message, path: path)
  }
}

/// The fields of a type by their names, which are ASCII.
private struct FieldTable: Sendable {
  let name: String
  let fields: [String: ModelField]
  /// The names of those that may not be missing.
  let required: Set<String>

  /// `optional` are made if they are missing.
  init(_ name: String, _ fields: [ModelField], optional: [String] = []) {
    self.name = name
    self.fields = Dictionary(fields.map { ($0.name, $0) }) { first, _ in first }
    required = Set(
      fields.lazy.filter { $0.isRequired && $0.relation == nil && !$0.isReadOnly }.map(\.name)
    ).subtracting(optional)
  }
}
