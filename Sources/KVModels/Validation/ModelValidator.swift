internal import KVBase
internal import KVJSON

/// Checks whether records have the fields of a model, with values of their types, in one pass over their bytes.
///
/// What relations lead to is not looked at: a record may arrive before the one that it belongs to. Immutable; safe from
/// any thread.
package struct ModelValidator: Sendable {
  private let model: FieldTable
  private let embedded: [String: FieldTable]
  private let enumerations: [String: NameTable]
  private let format: RecordFormat
  /// What fields have by default, by the number of the field.
  private let defaults: [(index: Int, name: String, value: JSONValue)]

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
      try check(ByteScanner(bytes))
    }
    guard !absent.isEmpty else { return record }
    var missing = JSONObjectWriter()
    for field in absent { missing.add(field.name, field.value) }
    let isEmpty = record.withUnsafeBytes { ByteScanner($0).skipSpace(1) } == record.count - 1
    return record.dropLast() + (isEmpty ? [] : [UInt8(ascii: ",")]) + missing.finish().dropFirst()
  }

  /// Gives the fields with a default that the record has not.
  private func check(
    _ scanner: ByteScanner
  ) throws(ModelError) -> [(index: Int, name: String, value: JSONValue)] {
    var trail = Trail()
    let found = try members(at: 0, of: scanner, as: model, &trail)
    let absent = defaults.filter { found[$0.index] == .absent }
    try requireAll(of: model, found, except: absent.map(\.index), trail)
    return absent
  }

  /// Whether a record may have this value in a field; nil: none.
  func accepts(_ value: JSONValue?, as name: String) -> Bool {
    guard let field = model.fields.first(where: { $0.name.hasSameBytes(as: name) }) else {
      return false
    }
    guard let value, !value.isNull else { return value != nil && !model.isRequired(field) }
    return value.bytes.withBorrowedBytes { bytes in
      var trail = Trail()
      return
        (try? check(0..<bytes.count, field, of: model, ByteScanner(bytes), &trail)) != nil
    }
  }

  // MARK: Objects

  private enum Presence { case absent, null, given }

  /// Checks the members of an object; tells of each field whether it is there.
  private func members(
    at position: Int, of scanner: ByteScanner, as type: FieldTable, _ trail: inout Trail
  ) throws(ModelError) -> [Presence] {
    var found = [Presence](repeating: .absent, count: type.fields.count)
    var members = TrustedMembers(scanner, at: position)
    while let member = members.next() {
      trail.steps.append(.name(member.name))
      defer { trail.steps.removeLast() }
      guard let index = type.names.index(of: member.name, in: scanner) else {
        guard trail.steps.count == 1, format.isReserved(member.name, in: scanner) else {
          let name = scanner.text(member.name)
          throw ModelError("\(type.name) has no field \(name)", trail, scanner)
        }
        continue
      }
      if scanner.base[member.value.lowerBound] == UInt8(ascii: "n") {
        found[index] = .null
      } else {
        found[index] = .given
        try check(member.value, type.fields[index], of: type, scanner, &trail)
      }
    }
    return found
  }

  private func requireAll(
    of type: FieldTable, _ found: [Presence], except made: [Int], _ trail: Trail,
    _ scanner: ByteScanner? = nil
  ) throws(ModelError) {
    let missing = type.required.filter { found[$0] != .given && !made.contains($0) }
    guard let name = missing.map({ type.fields[$0].name }).min() else { return }
    let outer = scanner.map(trail.path(in:)) ?? ""
    throw ModelError(
      message: "\(type.name).\(name) is required",
      path: outer.isEmpty ? name : "\(outer).\(name)")
  }

  /// `value`: not null.
  private func check(
    _ value: Range<Int>, _ field: ModelField, of type: FieldTable, _ scanner: ByteScanner,
    _ trail: inout Trail
  ) throws(ModelError) {
    guard field.isList, field.relation == nil else {
      return try check(element: value, field, of: type, scanner, &trail)
    }
    guard scanner.base[value.lowerBound] == UInt8(ascii: "[") else {
      throw ModelError("\(type.name).\(field.name) must be an array", trail, scanner)
    }
    var elements = TrustedElements(scanner, at: value.lowerBound)
    var index = 0
    while let element = elements.next() {
      trail.steps.append(.index(index))
      defer { trail.steps.removeLast() }
      if scanner.base[element.lowerBound] != UInt8(ascii: "n") {
        try check(element: element, field, of: type, scanner, &trail)
      } else if field.hasRequiredElements {
        throw ModelError(
          "no element of \(type.name).\(field.name) may be null", trail, scanner)
      }
      index += 1
    }
  }

  private func check(
    element value: Range<Int>, _ field: ModelField, of type: FieldTable, _ scanner: ByteScanner,
    _ trail: inout Trail
  ) throws(ModelError) {
    switch field.kind {
    case .scalar(let scalar):
      guard scalar.accepts(value, in: scanner) else {
        throw ModelError(
          "\(type.name).\(field.name) must be \(scalar.description)", trail, scanner)
      }
    case .enumeration(let enumeration):
      guard scanner.isText(at: value),
        enumerations[enumeration]?.index(of: scanner.inside(value), in: scanner) != nil
      else {
        throw ModelError(
          "\(type.name).\(field.name) must be a value of \(enumeration)", trail, scanner)
      }
    case .embedded(let inner):
      guard scanner.base[value.lowerBound] == UInt8(ascii: "{"), let fields = embedded[inner]
      else {
        throw ModelError("\(type.name).\(field.name) must be an object", trail, scanner)
      }
      let found = try members(at: value.lowerBound, of: scanner, as: fields, &trail)
      try requireAll(of: fields, found, except: [], trail, scanner)
    case .relation(let relation):
      let keys = relation.ownKeys.joined(separator: ", ")
      throw ModelError(
        "\(type.name).\(field.name) is a relation: "
          + (keys.isEmpty ? "the \(relation.model) holds its key" : "its key is \(keys)"),
        trail, scanner)
    }
  }
}

/// The way from the top of a record to where it is looked at.
private struct Trail {
  enum Step {
    /// Where the name of a member is, between its quotes.
    case name(Range<Int>)
    case index(Int)
  }

  var steps: [Step] = []

  func path(in scanner: ByteScanner) -> String {
    var path = ""
    for step in steps {
      switch step {
      case .name(let range): path += (path.isEmpty ? "" : ".") + scanner.text(range)
      case .index(let index): path += "[\(index)]"
      }
    }
    return path
  }
}

extension ModelError {
  fileprivate init(_ message: String, _ trail: Trail, _ scanner: ByteScanner) {
    self.init(message: message, path: trail.path(in: scanner))
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
