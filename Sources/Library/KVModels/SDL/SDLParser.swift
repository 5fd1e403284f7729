/// Reads the definitions of a schema in GraphQL's schema definition language.
///
/// Definitions of `schema` and `directive` are skipped: they say nothing about models.
struct SDLParser {
  /// How deep types and values may be nested: the parser calls itself for each level.
  private static let maxDepth = 32
  /// The longest text of a schema, in bytes.
  static let maxLength = 4 << 20

  private var lexer: SDLLexer
  private var token: SDLLexer.Token
  private var start: SourceLocation
  private var depth = 0

  init(_ text: String) throws(SchemaError) {
    guard text.utf8.count <= Self.maxLength else {
      throw SchemaError("a schema must have at most 4 MiB", at: SourceLocation(line: 1, column: 1))
    }
    lexer = SDLLexer(text)
    (token, start) = try lexer.next()
  }

  mutating func document() throws(SchemaError) -> SDLDocument {
    var document = SDLDocument()
    while token != .end {
      if let type = try definition() { document.types.append(type) }
    }
    return document
  }

  // MARK: Definitions

  /// Nil for a definition that is skipped.
  private mutating func definition() throws(SchemaError) -> SDLType? {
    try skipDescription()
    let isExtension = try skip(word: "extend")
    guard case .name(let word) = token else { throw expected("a definition") }
    switch word {
    case "schema":
      try advance()
      _ = try directives()
      try skipBraces()
      return nil
    case "directive" where !isExtension:
      try skipDirectiveDefinition()
      return nil
    default:
      guard let kind = SDLType.Kind(rawValue: word) else { throw expected("a definition") }
      try advance()
      return try type(kind, isExtension)
    }
  }

  private mutating func type(
    _ kind: SDLType.Kind, _ isExtension: Bool
  ) throws(SchemaError) -> SDLType {
    var type = SDLType(kind: kind, name: try name("a name"), isExtension: isExtension)
    if kind == .object || kind == .interface { try skipInterfaces() }
    type.directives = try directives()
    switch kind {
    case .object, .interface, .input:
      if try skip("{") { type.fields = try fields() }
    case .enumeration:
      if try skip("{") { type.values = try enumerationValues() }
    case .union:
      if try skip("=") { try skipNames(separatedBy: "|") }
    case .scalar: break
    }
    return type
  }

  private mutating func skipInterfaces() throws(SchemaError) {
    if try skip(word: "implements") { try skipNames(separatedBy: "&") }
  }

  private mutating func skipNames(separatedBy separator: String) throws(SchemaError) {
    _ = try skip(separator)
    repeat { _ = try name("the name of a type") } while try skip(separator)
  }

  /// `directive @name(arguments) repeatable on A | B`.
  private mutating func skipDirectiveDefinition() throws(SchemaError) {
    try advance()
    try expect("@")
    _ = try name("the name of a directive")
    if try skip("(") { try skipArgumentDefinitions() }
    _ = try skip(word: "repeatable")
    guard try skip(word: "on") else { throw expected("on") }
    try skipNames(separatedBy: "|")
  }

  private mutating func fields() throws(SchemaError) -> [SDLField] {
    var fields: [SDLField] = []
    while try !skip("}") {
      try skipDescription()
      let name = try name("the name of a field")
      if try skip("(") { try skipArgumentDefinitions() }
      try expect(":")
      let type = try typeReference()
      if try skip("=") { _ = try value() }
      fields.append(SDLField(name: name, type: type, directives: try directives()))
    }
    return fields
  }

  private mutating func skipArgumentDefinitions() throws(SchemaError) {
    while try !skip(")") {
      try skipDescription()
      _ = try name("the name of an argument")
      try expect(":")
      _ = try typeReference()
      if try skip("=") { _ = try value() }
      _ = try directives()
    }
  }

  private mutating func enumerationValues() throws(SchemaError) -> [Located] {
    var values: [Located] = []
    while try !skip("}") {
      try skipDescription()
      values.append(try name("a value"))
      _ = try directives()
    }
    return values
  }

  private mutating func typeReference() throws(SchemaError) -> SDLTypeReference {
    try enter()
    defer { depth -= 1 }
    let type: SDLTypeReference
    if try skip("[") {
      type = .list(try typeReference())
      try expect("]")
    } else {
      type = .named(try name("a type"))
    }
    return try skip("!") ? .nonNull(type) : type
  }

  // MARK: Directives and values

  private mutating func directives() throws(SchemaError) -> [SDLDirective] {
    var directives: [SDLDirective] = []
    while try skip("@") {
      let name = try name("the name of a directive")
      directives.append(SDLDirective(name: name, arguments: try skip("(") ? try arguments() : []))
    }
    return directives
  }

  private mutating func arguments() throws(SchemaError) -> [SDLArgument] {
    var arguments: [SDLArgument] = []
    while try !skip(")") {
      let name = try name("the name of an argument")
      guard !arguments.contains(where: { $0.name.text == name.text }) else {
        throw SchemaError("the argument \(name.text) occurs twice", at: name.location)
      }
      try expect(":")
      let location = start
      arguments.append(SDLArgument(name: name, value: try value(), location: location))
    }
    return arguments
  }

  private mutating func value() throws(SchemaError) -> SDLValue {
    try enter()
    defer { depth -= 1 }
    switch token {
    case .int(let value): return try advance(.int(value))
    case .float(let value): return try advance(.float(value))
    case .string(let text): return try advance(.string(text))
    case .name("true"): return try advance(.bool(true))
    case .name("false"): return try advance(.bool(false))
    case .name("null"): return try advance(.null)
    case .name(let name): return try advance(.symbol(name))
    case .punctuator("["): return try list()
    case .punctuator("{"): return try object()
    case .punctuator, .end: throw expected("a value")
    }
  }

  private mutating func list() throws(SchemaError) -> SDLValue {
    try expect("[")
    var values: [SDLValue] = []
    while try !skip("]") { values.append(try value()) }
    return .list(values)
  }

  private mutating func object() throws(SchemaError) -> SDLValue {
    try expect("{")
    var members: [SDLValue.Member] = []
    while try !skip("}") {
      let name = try name("the name of a member")
      try expect(":")
      members.append(SDLValue.Member(name: name.text, value: try value()))
    }
    return .object(members)
  }

  // MARK: Small steps

  private mutating func enter() throws(SchemaError) {
    depth += 1
    guard depth <= Self.maxDepth else { throw SchemaError("this is nested too deeply", at: start) }
  }

  private mutating func advance() throws(SchemaError) { (token, start) = try lexer.next() }

  private mutating func advance(_ value: SDLValue) throws(SchemaError) -> SDLValue {
    try advance()
    return value
  }

  /// Passes the token if it is this punctuator, and tells whether it was.
  private mutating func skip(_ punctuator: String) throws(SchemaError) -> Bool {
    guard token == .punctuator(punctuator) else {
      // What is open has no end: without this, who looks for it would look for ever.
      if token == .end, ["}", ")", "]"].contains(punctuator) { throw expected(punctuator) }
      return false
    }
    try advance()
    return true
  }

  private mutating func skip(word: String) throws(SchemaError) -> Bool {
    guard token == .name(word) else { return false }
    try advance()
    return true
  }

  private mutating func expect(_ punctuator: String) throws(SchemaError) {
    guard token == .punctuator(punctuator) else { throw expected(punctuator) }
    try advance()
  }

  private mutating func skipDescription() throws(SchemaError) {
    if case .string = token { try advance() }
  }

  /// Passes `{ … }`, if it is there.
  private mutating func skipBraces() throws(SchemaError) {
    guard try skip("{") else { return }
    while try !skip("}") { try advance() }
  }

  private mutating func name(_ what: String) throws(SchemaError) -> Located {
    guard case .name(let text) = token else { throw expected(what) }
    let location = start
    try advance()
    return Located(text: text, location: location)
  }

  private func expected(_ what: String) -> SchemaError {
    SchemaError("expected \(what)", at: start)
  }
}
