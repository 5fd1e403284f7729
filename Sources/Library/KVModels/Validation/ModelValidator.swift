internal import KVBase
internal import KVJSON

/// Checks whether records have the fields of a model, with values of their types, in one pass over their bytes.
///
/// What relations lead to is not looked at: a record may arrive before the one that it belongs to. Immutable; safe from
/// any thread.
package struct ModelValidator: Sendable {
  fileprivate let model: FieldTable
  fileprivate let embedded: [String: FieldTable]
  fileprivate let enumerations: [String: NameTable]
  fileprivate let format: RecordFormat
  /// What fields have by default, by the number of the field.
  fileprivate let defaults: [Default]

  fileprivate typealias Default = (index: Int, name: String, value: JSONValue)

  package init(_ model: Model, in schema: ModelSchema) {
    format = model.recordFormat
    let table = FieldTable(
      model.name, model.fields, optional: model.hasGeneratedID ? model.primaryKey : [])
    self.model = table
    defaults = table.fields.enumerated().compactMap { index, field in
      field.defaultValue.map { (index, field.name, $0) }
    }
    embedded = Dictionary(
      schema.embeddedTypes.map { ($0.name, FieldTable($0.name, $0.fields)) }
    ) { first, _ in first }
    enumerations = Dictionary(
      schema.enumerations.map { ($0.name, NameTable($0.values.map { Array($0.utf8) })) }
    ) { first, _ in first }
  }

  /// The text of a record with what it lacks of what fields have by default. Throws for the first thing that is wrong.
  /// `record`: valid JSON without space around it, no object of which has a member twice; without its id if that is to be
  /// made.
  package func completed(_ record: [UInt8]) throws(ModelError) -> [UInt8] {
    guard record.first == UInt8(ascii: "{"), record.last == UInt8(ascii: "}") else {
      throw ModelError(message: "a record must be an object", path: "")
    }
    let absent = try record.withBorrowedBytes { (bytes) throws(ModelError) in
      var check = RecordCheck(ByteScanner(bytes), by: self)
      return try check.record()
    }
    guard !absent.isEmpty else { return record }
    var missing = JSONObjectWriter()
    for field in absent { missing.add(field.name, field.value) }
    let isEmpty = record.withUnsafeBytes { ByteScanner($0).skipSpace(1) } == record.count - 1
    return record.dropLast() + (isEmpty ? [] : [UInt8(ascii: ",")]) + missing.finish().dropFirst()
  }

  /// Whether a record may have this value in a field; nil: none.
  func accepts(_ value: JSONValue?, as name: String) -> Bool {
    guard let field = model.fields.first(where: { $0.name.hasSameBytes(as: name) }) else {
      return false
    }
    guard let value, !value.isNull else { return value != nil && !model.isRequired(field) }
    return value.bytes.withBorrowedBytes { bytes in
      var check = RecordCheck(ByteScanner(bytes), by: self)
      return (try? check.value(0..<bytes.count, of: field, in: model)) != nil
    }
  }
}

/// One pass over a record.
private struct RecordCheck {
  private enum Presence { case absent, null, given }

  /// A step of the way from the top of the record to where it is looked at.
  private enum Step {
    /// Where the name of a member is, between its quotes.
    case name(Range<Int>)
    case index(Int)
  }

  private let scanner: ByteScanner
  private let validator: ModelValidator
  private var trail: [Step] = []

  init(_ scanner: ByteScanner, by validator: ModelValidator) {
    self.scanner = scanner
    self.validator = validator
  }

  /// Checks the whole text; gives the fields with a default that it has not.
  mutating func record() throws(ModelError) -> [ModelValidator.Default] {
    let found = try members(at: 0, as: validator.model)
    let absent = validator.defaults.filter { found[$0.index] == .absent }
    try requireAll(of: validator.model, found, except: absent.map(\.index))
    return absent
  }

  /// Checks the members of an object; tells of each field whether it is there.
  private mutating func members(
    at position: Int, as type: FieldTable
  ) throws(ModelError) -> [Presence] {
    var found = [Presence](repeating: .absent, count: type.fields.count)
    var members = TrustedMembers(scanner, at: position)
    while let member = members.next() {
      trail.append(.name(member.name))
      defer { trail.removeLast() }
      guard let index = type.names.index(of: member.name, in: scanner) else {
        guard trail.count == 1, validator.format.isReserved(member.name, in: scanner) else {
          throw error("\(type.name) has no field \(scanner.text(member.name))")
        }
        continue
      }
      if scanner.isNull(at: member.value) {
        found[index] = .null
      } else {
        found[index] = .given
        try value(member.value, of: type.fields[index], in: type)
      }
    }
    return found
  }

  private func requireAll(
    of type: FieldTable, _ found: [Presence], except made: [Int]
  ) throws(ModelError) {
    let missing = type.required.filter { found[$0] != .given && !made.contains($0) }
    guard let name = missing.map({ type.fields[$0].name }).min() else { return }
    let outer = path
    throw ModelError(
      message: "\(type.name).\(name) is required",
      path: outer.isEmpty ? name : "\(outer).\(name)")
  }

  /// Checks the value of a field, which is not null.
  mutating func value(
    _ value: Range<Int>, of field: ModelField, in type: FieldTable
  ) throws(ModelError) {
    guard field.isList, field.relation == nil else {
      return try element(value, of: field, in: type)
    }
    guard scanner.isArray(at: value) else {
      throw error("\(type.name).\(field.name) must be an array")
    }
    var elements = TrustedElements(scanner, at: value.lowerBound)
    var index = 0
    while let found = elements.next() {
      trail.append(.index(index))
      defer { trail.removeLast() }
      if !scanner.isNull(at: found) {
        try element(found, of: field, in: type)
      } else if field.hasRequiredElements {
        throw error("no element of \(type.name).\(field.name) may be null")
      }
      index += 1
    }
  }

  private mutating func element(
    _ value: Range<Int>, of field: ModelField, in type: FieldTable
  ) throws(ModelError) {
    switch field.kind {
    case .scalar(let scalar):
      guard scalar.accepts(value, in: scanner) else {
        throw error("\(type.name).\(field.name) must be \(scalar.description)")
      }
    case .enumeration(let name):
      guard scanner.isText(at: value),
        validator.enumerations[name]?.index(of: scanner.inside(value), in: scanner) != nil
      else { throw error("\(type.name).\(field.name) must be a value of \(name)") }
    case .embedded(let inner):
      guard scanner.isObject(at: value),
        let fields = validator.embedded[inner]
      else { throw error("\(type.name).\(field.name) must be an object") }
      try requireAll(of: fields, try members(at: value.lowerBound, as: fields), except: [])
    case .relation(let relation):
      let keys = relation.ownKeys.joined(separator: ", ")
      throw error(
        "\(type.name).\(field.name) is a relation: "
          + (keys.isEmpty ? "the \(relation.model) holds its key" : "its key is \(keys)"))
    }
  }

  private func error(_ message: String) -> ModelError { ModelError(message: message, path: path) }

  /// Such as `parts[2].size`.
  private var path: String {
    var path = ""
    for step in trail {
      switch step {
      case .name(let range): path += (path.isEmpty ? "" : ".") + scanner.text(range)
      case .index(let index): path += "[\(index)]"
      }
    }
    return path
  }
}

/// The fields of a type, by their names.
private struct FieldTable: Sendable {
  let name: String
  /// Each name once.
  let fields: [ModelField]
  /// In the order of `fields`.
  let names: NameTable
  /// The numbers of those that may not be missing.
  let required: [Int]

  /// `optional` are made if they are missing.
  init(_ name: String, _ fields: [ModelField], optional: [String] = []) {
    self.name = name
    var known: Set<String> = []
    self.fields = fields.filter { known.insert($0.name).inserted }
    names = NameTable(self.fields.map { Array($0.name.utf8) })
    required = self.fields.indices.filter { [fields = self.fields] index in
      let field = fields[index]
      return field.isRequired && field.relation == nil && !field.isReadOnly
        && !optional.contains(field.name)
    }
  }

  func isRequired(_ field: ModelField) -> Bool {
    required.contains { fields[$0].name == field.name }
  }
}
