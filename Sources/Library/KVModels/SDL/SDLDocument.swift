/// A name and where it stands.
struct Located: Sendable, Equatable {
  let text: String
  let location: SourceLocation
}

/// The definitions of a schema's text as they are written, in their order, before it is known what they mean.
struct SDLDocument: Sendable {
  var types: [SDLType] = []
}

/// A definition, or with `extend` an addition to one.
struct SDLType: Sendable {
  enum Kind: String, Sendable {
    case object = "type"
    case interface
    case input
    case enumeration = "enum"
    case union
    case scalar
  }

  let kind: Kind
  let name: Located
  let isExtension: Bool
  var directives: [SDLDirective] = []
  /// The fields of an object, an interface or an input.
  var fields: [SDLField] = []
  /// The values of an enumeration.
  var values: [Located] = []

  func directive(_ name: String) -> SDLDirective? { directives.first { $0.name.text == name } }
}

struct SDLField: Sendable {
  let name: Located
  let type: SDLTypeReference
  let directives: [SDLDirective]

  func directive(_ name: String) -> SDLDirective? { directives.first { $0.name.text == name } }
}

/// `Post`, `[Post]`, `Post!`.
indirect enum SDLTypeReference: Sendable {
  case named(Located)
  case list(SDLTypeReference)
  case nonNull(SDLTypeReference)
}

struct SDLDirective: Sendable {
  let name: Located
  let arguments: [SDLArgument]

  subscript(_ name: String) -> SDLArgument? { arguments.first { $0.name.text == name } }
}

struct SDLArgument: Sendable {
  let name: Located
  let value: SDLValue
  /// Where the value stands.
  let location: SourceLocation
}

/// A constant.
indirect enum SDLValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case int(Int64)
  case float(Double)
  case string(String)
  /// A name that stands for a value of an enumeration.
  case symbol(String)
  case list([SDLValue])
  case object([Member])

  struct Member: Sendable, Equatable {
    let name: String
    let value: SDLValue
  }

  subscript(_ name: String) -> SDLValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// A string or a symbol: many schemas write one where the other belongs.
  var text: String? {
    switch self {
    case .string(let text), .symbol(let text): text
    case .null, .bool, .int, .float, .list, .object: nil
    }
  }

  /// The texts of a list, or a single text, which GraphQL takes for a list of one; nil if there is something else.
  var texts: [String]? {
    guard case .list(let values) = self else { return text.map { [$0] } }
    let texts = values.compactMap(\.text)
    return texts.count == values.count ? texts : nil
  }
}
