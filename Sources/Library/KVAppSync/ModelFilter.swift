internal import KVBase
internal import KVJSON
internal import KVModels
internal import KVQuery
internal import KVSync

/// Predicates in the words of AppSync's filters, as far as those can say them: what is left out is decided here.
struct ModelFilter {
  /// A filter that selects all that a predicate selects; unless it `isExact` perhaps more.
  struct Form {
    var json: JSONObject
    var isExact = true
  }

  let model: Model

  /// The filter of a query; nil: everything has to be read. A comparison alone is put into `and`, which lets the backend
  /// use an index.
  func filter(_ predicate: Predicate) -> JSONObject? {
    guard let form = form(predicate) else { return nil }
    return form.json["and"] == nil ? ["and": .array([.object(form.json)])] : form.json
  }

  /// The condition of a mutation; nil: it demands nothing. Throws `.unsupported` for what the backend has no words for.
  /// Inputs have no place for the key, which a record keeps anyway.
  func condition(_ predicate: Predicate) throws(StoreError) -> JSONObject? {
    if predicate == .everything { return nil }
    guard let form = form(predicate), form.isExact, !predicate.names(model.primaryKey) else {
      throw StoreError(
        .unsupported, "The API has no words for this condition: see docs/models.md.")
    }
    return form.json
  }

  private func form(_ predicate: Predicate) -> Form? {
    switch predicate {
    case .and(let parts): return Self.all(parts.map(form))
    case .or(let parts): return Self.any(parts.map(form))
    case .nor(let parts): return Self.all(parts.map { form($0).flatMap(Self.not) })
    case .field(let path, let tests):
      guard let field = model.field(path.text), field.relation == nil else { return nil }
      return Self.all(Self.between(tests, field) ?? tests.map { form($0, of: field) })
    case .everything, .nothing, .text, .comparison: return nil
    }
  }

  // MARK: Groups

  /// What cannot be said is left out: the rest selects more.
  private static func all(_ parts: [Form?]) -> Form? {
    let said = parts.compactMap { $0 }
    let isExact = said.count == parts.count && said.allSatisfy(\.isExact)
    switch said.count {
    case 0: return nil
    case 1: return Form(json: said[0].json, isExact: isExact)
    default: return Form(json: ["and": .array(said.map { .object($0.json) })], isExact: isExact)
    }
  }

  private static func any(_ parts: [Form?]) -> Form? {
    let said = parts.compactMap { $0 }
    guard said.count == parts.count else { return nil }
    return Form(
      json: ["or": .array(said.map { .object($0.json) })], isExact: said.allSatisfy(\.isExact))
  }

  /// What selects more selects less once it is negated.
  private static func not(_ form: Form) -> Form? {
    form.isExact ? Form(json: ["not": .object(form.json)]) : nil
  }

  // MARK: Comparisons

  /// Both ends of a range at once; nil: it is none.
  private static func between(_ tests: [Test], _ field: ModelField) -> [Form?]? {
    guard tests.count == 2, field.isOrdered,
      case .compare(.greaterOrEqual, let low) = tests[0],
      case .compare(.lessOrEqual, let high) = tests[1], field.takes(low), field.takes(high)
    else { return nil }
    return [comparison(field, "between", with: [low, high])]
  }

  private func form(_ test: Test, of field: ModelField) -> Form? {
    switch test {
    case .equal(let value): return equal(value, field)
    case .notEqual(let value): return notEqual(value, field)
    case .isIn(let values): return Self.any(values.map { equal($0, field) })
    case .notIn(let values): return Self.all(values.map { notEqual($0, field) })
    case .compare(let comparison, let value):
      guard field.isOrdered, field.takes(value) else { return nil }
      return Self.comparison(field, comparison.word, with: value)
    case .exists(let exists): return Self.comparison(field, "attributeExists", with: .bool(exists))
    case .regex(let pattern):
      guard field.isText, let (text, isPrefix) = pattern.literalText else { return nil }
      return Self.comparison(field, isPrefix ? "beginsWith" : "contains", with: .string(text))
    case .all(let values) where field.isList:
      return Self.all(values.map { equal($0, field) })
    case .not(let tests): return Self.all(tests.map { form($0, of: field) }).flatMap(Self.not)
    default: return nil
    }
  }

  /// Of a list, that it has such an element.
  private func equal(_ value: JSONValue, _ field: ModelField) -> Form? {
    guard field.takes(value) else { return nil }
    return Self.comparison(field, field.isList ? "contains" : "eq", with: value)
  }

  /// What is missing is not equal either, whatever the backend says to that.
  private func notEqual(_ value: JSONValue, _ field: ModelField) -> Form? {
    guard field.takes(value) else { return nil }
    let unlike = Self.comparison(field, field.isList ? "notContains" : "ne", with: value)
    return Self.any([unlike, Self.comparison(field, "attributeExists", with: false)])
  }

  private static func comparison(
    _ field: ModelField, _ word: String, with value: JSONValue
  ) -> Form {
    Form(json: JSONObject([.init(field.name, .object(JSONObject([.init(word, value)])))]))
  }
}

extension Predicate {
  /// Whether it is about one of these fields.
  fileprivate func names(_ fields: [String]) -> Bool {
    switch self {
    case .field(let path, _): fields.contains { $0.hasSameBytes(as: path.top.text) }
    case .and(let parts), .or(let parts), .nor(let parts): parts.contains { $0.names(fields) }
    case .everything, .nothing, .text, .comparison: false
    }
  }
}

extension Test.Comparison {
  fileprivate var word: String {
    switch self {
    case .less: "lt"
    case .lessOrEqual: "le"
    case .greater: "gt"
    case .greaterOrEqual: "ge"
    }
  }
}

extension ModelField {
  private var scalar: ScalarType? { if case .scalar(let scalar) = kind { scalar } else { nil } }

  /// Whether its values are texts without a type of their own, in which one can search.
  fileprivate var isText: Bool {
    guard !isList, let scalar else { return false }
    return scalar.isText
  }

  /// Whether its values can be greater and less than others.
  fileprivate var isOrdered: Bool { !isList && scalar != nil && scalar != .boolean }

  /// Whether the backend's inputs have a place for such a value.
  fileprivate func takes(_ value: JSONValue) -> Bool {
    switch (kind, value) {
    case (.scalar(.boolean), .bool): !isList
    case (.scalar(.int), .int(let number)), (.scalar(.timestamp), .int(let number)):
      !isList && Int32(exactly: number) != nil
    case (.scalar(.float), .int), (.scalar(.float), .double): !isList
    case (.scalar(let scalar), .string): scalar.isText
    case (.enumeration, .string): !isList
    default: false
    }
  }
}

extension ScalarType {
  fileprivate var isText: Bool {
    switch self {
    case .int, .float, .boolean, .timestamp: false
    default: true
    }
  }
}
