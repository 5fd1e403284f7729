internal import KVJSON
internal import KVModels

/// The operations of one model in GraphQL, as the schema of the backend has them.
struct ModelDocuments: Sendable {
  /// How deep values are inside of values; deeper ones are not asked for.
  private static let maxDepth = 5

  let model: Model
  private let selection: String

  init(_ model: Model, in schema: ModelSchema) {
    self.model = model
    selection =
      Self.selection(of: model.fields, schema, depth: 0)
      + " __typename _version _deleted _lastChangedAt"
  }

  /// All values. Relations are their keys, which are fields of their own.
  private static func selection(
    of fields: [ModelField], _ schema: ModelSchema, depth: Int
  ) -> String {
    fields.compactMap { field in
      switch field.kind {
      case .scalar, .enumeration: return field.name
      case .relation: return nil
      case .embedded(let name):
        guard depth < maxDepth, let type = schema.embeddedType(name) else { return nil }
        let inner = selection(of: type.fields, schema, depth: depth + 1)
        return inner.isEmpty ? nil : "\(field.name) { \(inner) }"
      }
    }.joined(separator: " ")
  }

  // MARK: Queries

  /// The field at the root whose page a sync query gives.
  var syncField: String { "sync\(model.pluralName)" }

  /// A page of everything, or with `lastSync` of what has changed. Only what is given is declared.
  func sync(_ variables: JSONObject) -> String {
    let types = [
      "limit": "Int", "nextToken": "String", "lastSync": "AWSTimestamp",
      "filter": "Model\(model.name)FilterInput",
    ]
    let names = variables.members.map(\.name)
    let declared = names.compactMap { name in types[name].map { "$\(name): \($0)" } }
    let given = names.map { "\($0): $\($0)" }
    return "query Sync\(model.pluralName)(\(declared.joined(separator: ", "))) {"
      + " \(syncField)(\(given.joined(separator: ", "))) {"
      + " items { \(selection) } nextToken startedAt } }"
  }

  /// What the API validates as it does a sync query, and carries out nothing of.
  var check: String {
    "query Check { \(syncField)(limit: 1) @skip(if: true) { items { \(selection) } nextToken startedAt } }"
  }

  /// Several records by their keys, as the members `r0`, `r1` …, and the variables for it.
  func get(_ keys: [[JSONValue]]) -> (document: String, variables: JSONObject) {
    var (declared, fields): ([String], [String]) = ([], [])
    var variables = JSONObject()
    for (number, key) in keys.enumerated() {
      var given: [String] = []
      for (part, (name, value)) in zip(model.primaryKey, key).enumerated() {
        let variable = "k\(number)_\(part)"
        declared.append("$\(variable): \(keyType(name))!")
        given.append("\(name): $\(variable)")
        variables[variable] = value
      }
      fields.append(
        "r\(number): get\(model.name)(\(given.joined(separator: ", "))) { \(selection) }")
    }
    let head = "query Get\(model.name)(\(declared.joined(separator: ", ")))"
    return ("\(head) { \(fields.joined(separator: " ")) }", variables)
  }

  private func keyType(_ name: String) -> String {
    switch model.field(name)?.kind {
    case .scalar(let scalar): scalar.rawValue
    case .enumeration(let name): name
    case .embedded, .relation, nil: ScalarType.id.rawValue
    }
  }

  // MARK: Subscriptions

  /// Tells of one kind of change of every record that may be read. `ownerField`: the argument that narrows it to the records
  /// of one owner.
  func subscription(_ operation: ModelOperation, ownerField: String? = nil) -> String {
    let field = operation.rawValue + model.name
    let name = field.prefix(1).uppercased() + field.dropFirst()
    guard let ownerField else { return "subscription \(name) { \(field) { \(selection) } }" }
    return "subscription \(name)($owner: String!) {"
      + " \(field)(\(ownerField): $owner) { \(selection) } }"
  }

  // MARK: Mutations

  enum Mutation: String {
    case create, update, delete

    var operation: ModelOperation {
      switch self {
      case .create: .create
      case .update: .update
      case .delete: .delete
      }
    }
  }

  func field(of mutation: Mutation) -> String { mutation.rawValue + model.name }

  /// `isConditional`: it has a condition that the record has to meet.
  func document(of mutation: Mutation, isConditional: Bool) -> String {
    let kind = mutation.rawValue.prefix(1).uppercased() + mutation.rawValue.dropFirst() + model.name
    let answer = ([selection] + model.ownersByRule).joined(separator: " ")
    let declared = isConditional ? ", $condition: Model\(model.name)ConditionInput" : ""
    let given = isConditional ? ", condition: $condition" : ""
    return "mutation \(kind)($input: \(kind)Input!\(declared)) {"
      + " \(field(of: mutation))(input: $input\(given)) { \(answer) } }"
  }
}
