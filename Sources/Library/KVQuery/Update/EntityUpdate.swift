package import KVBase
package import KVJSON

/// A change of some members of an entity, in MongoDB's update language:
/// `{"$set":{"address.city":"Ulm"},"$inc":{"visits":1}}`. Immutable; safe from any thread.
///
/// What it does not name stays byte for byte as it is stored. The operators are `$set`, `$unset`, `$inc`,
/// `$mul`, `$min`, `$max`, `$rename`, `$push` (with `$each`, `$position`, `$slice`, `$sort`), `$addToSet`
/// (with `$each`), `$pop`, `$pull` and `$currentDate`.
package struct EntityUpdate: Sendable {
  struct Step: Sendable {
    let path: Path
    let name: String
    let operation: UpdateOperator
  }

  /// The JSON it was made from, in the names of its steps.
  package private(set) var text: String
  /// The steps in the order of their paths; no path leads to, or into, another one's.
  private(set) var steps: [Step]
  /// How many bytes an entity may have after the update; nil: any number. `apply` does not check it: it is meant for
  /// the caller that stores the result.
  package private(set) var maxBytes: Int?

  /// Throws `.json` or `.syntax` with the position in the text.
  /// No step may change the id of the format's records.
  package init(_ text: String, _ format: RecordFormat = .default) throws(QueryError) {
    self.text = text
    steps = try UpdateParser.parse(text, format)
  }

  /// The lists that `$push` adds to.
  package var pushedPaths: [Path] {
    steps.compactMap { if case .push = $0.operation { $0.path } else { nil } }
  }

  /// The update in the backend's names, if it was made in the application's own.
  package func renamed(by keys: KeyMap) -> EntityUpdate {
    guard !keys.isEmpty else { return self }
    var update = self
    update.steps = steps.map { $0.renamed(by: keys) }
    update.text = Self.renamed(text, by: keys)
    return update
  }

  /// The update whose results may have so many bytes.
  package func limited(to maxBytes: Int?) -> EntityUpdate {
    var update = self
    update.maxBytes = maxBytes
    return update
  }

  private static func renamed(_ text: String, by keys: KeyMap) -> String {
    guard var operators = (try? JSONValue(parsing: text))?.objectValue else { return text }
    operators.members = operators.members.map { one in
      guard let targets = one.value.objectValue else { return one }
      let renamed = targets.members.map { target in
        let isName = one.name == "$rename"
        let value = isName ? target.value.stringValue.map { JSONValue.string(name($0)) } : nil
        return JSONObject.Member(name(target.name), value ?? target.value)
      }
      return JSONObject.Member(one.name, .object(JSONObject(renamed)))
    }
    func name(_ path: String) -> String { keys.renamed(Path(path)).text }
    return JSONValue.object(operators).text
  }

  /// The entity after the update; nil if it stays as it is.
  ///
  /// `now`: what `$currentDate` writes. Throws `.syntax` if the update does not fit the entity, such as a
  /// `$inc` of a string, or would change its id. The result may be nested too deeply or too large to be
  /// stored: the caller that stores it checks that.
  package func apply(
    to entity: UnsafeRawBufferPointer, now: Timestamp
  ) throws(QueryError) -> [UInt8]? {
    let original = EditableValue(entity)
    var root = original
    var isChanged = false
    for step in steps {
      do throws(UpdateError) {
        isChanged = try step.apply(to: &root, now) || isChanged
      } catch {
        throw QueryError(.syntax, "\(step.name) of \"\(step.path.text)\": \(error.message)")
      }
    }
    return isChanged ? root.text : nil
  }

  package func apply(to entity: [UInt8], now: Timestamp) throws(QueryError) -> [UInt8]? {
    try entity.withUnsafeBufferPointer { (bytes) throws(QueryError) in
      try apply(to: UnsafeRawBufferPointer(bytes), now: now)
    }
  }
}

extension EntityUpdate.Step {
  fileprivate func renamed(by keys: KeyMap) -> EntityUpdate.Step {
    var operation = operation
    if case .rename(let source) = operation { operation = .rename(from: keys.renamed(source)) }
    return EntityUpdate.Step(path: keys.renamed(path), name: name, operation: operation)
  }

  /// Whether it changed anything.
  fileprivate func apply(
    to root: inout EditableValue, _ now: Timestamp
  ) throws(UpdateError) -> Bool {
    if case .rename(let source) = operation { return try rename(source, in: &root) }
    var isChanged = false
    try root.update(at: path.components[...], creating: operation.creates) {
      (value) throws(UpdateError) in
      let before = value?.text
      try operation.apply(to: &value, now: now)
      isChanged = before != value?.text
    }
    return isChanged
  }

  private func rename(
    _ source: Path, in root: inout EditableValue
  ) throws(UpdateError) -> Bool {
    guard let value = try root.value(at: source.components[...]) else { return false }
    try root.update(at: source.components[...], creating: false) { $0 = nil }
    _ = try root.value(at: path.components[...])
    try root.update(at: path.components[...], creating: true) { $0 = value }
    return true
  }
}
