package import KVJSON

/// The models of an application and the types that they are made of, as a schema in GraphQL's schema definition
/// language describes them with the directives of AWS Amplify, of both generations.
///
/// Immutable. Names are those of GraphQL: ASCII letters, digits and underscores.
package struct ModelSchema: Sendable, Equatable {
  /// In the order of the text; those that `@manyToMany` stands for at the end.
  package let models: [Model]
  /// Values without an identity, which are parts of models.
  package let embeddedTypes: [EmbeddedType]
  package let enumerations: [Enumeration]

  package func model(_ name: String) -> Model? { models.first { $0.name == name } }
  package func embeddedType(_ name: String) -> EmbeddedType? {
    embeddedTypes.first { $0.name == name }
  }
  package func enumeration(_ name: String) -> Enumeration? {
    enumerations.first { $0.name == name }
  }
}

/// A type that is not a model: an object inside of a record.
package struct EmbeddedType: Sendable, Equatable {
  package let name: String
  package let fields: [ModelField]
}

/// A closed set of words.
package struct Enumeration: Sendable, Equatable {
  package let name: String
  package let values: [String]
}

/// A type with records of its own.
package struct Model: Sendable, Equatable {
  package let name: String
  /// What lists of it are called: `Posts`.
  package let pluralName: String
  /// The fields of the schema in its order, then the keys of relations that it does not name, then the fields that the
  /// backend writes.
  package let fields: [ModelField]
  /// The names of the fields that identify a record; never empty.
  package let primaryKey: [String]
  /// The secondary indexes of the schema.
  package let indexes: [ModelIndex]
  package let rules: [AuthorizationRule]
  /// What the backend does not offer for it.
  package let missingOperations: Set<ModelOperation>

  package func field(_ name: String) -> ModelField? { fields.first { $0.name == name } }

  /// Whether the id is the field `id`, which the maker of a new record sets.
  package var hasGeneratedID: Bool { primaryKey == ["id"] }
}

/// An operation that the backend can be told not to offer.
package enum ModelOperation: String, Sendable, CaseIterable {
  case get, list, sync, create, update, delete, onCreate, onUpdate, onDelete
}

/// An index of a model over the values of fields, in this order.
package struct ModelIndex: Sendable, Equatable {
  package let name: String
  package let fields: [String]

  package init(name: String, fields: [String]) { (self.name, self.fields) = (name, fields) }
}

package struct ModelField: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case scalar(ScalarType)
    case enumeration(String)
    case embedded(String)
    case relation(Relation)
  }

  package let name: String
  package let kind: Kind
  package let isRequired: Bool
  package var isList = false
  /// Whether no element of the list may be null.
  package var hasRequiredElements = false
  /// The value of the field in records that are written without it.
  package var defaultValue: JSONValue?
  /// Whether the backend makes it: it is stored and shown, never sent.
  package var isReadOnly = false

  package init(
    name: String, kind: Kind, isRequired: Bool, isList: Bool = false,
    hasRequiredElements: Bool = false, defaultValue: JSONValue? = nil, isReadOnly: Bool = false
  ) {
    (self.name, self.kind, self.isRequired) = (name, kind, isRequired)
    (self.isList, self.hasRequiredElements) = (isList, hasRequiredElements)
    (self.defaultValue, self.isReadOnly) = (defaultValue, isReadOnly)
  }

  /// The relation that it leads to; nil if it holds a value.
  package var relation: Relation? {
    if case .relation(let relation) = kind { relation } else { nil }
  }
}

/// How records of one model lead to those of another.
package enum Relation: Sendable, Equatable {
  /// This record holds the primary key of the other one in `keys`, one for each of its parts.
  case belongsTo(model: String, keys: [String])
  /// The same, and no other record holds that key.
  case hasOne(model: String, keys: [String])
  /// Records of `model` hold this record's primary key in `keys`; nothing of it is in this record. `isSingle`: there
  /// is one at most.
  case hasMany(model: String, keys: [String], isSingle: Bool)
  /// Records of `join` hold this record's primary key in `keys`, and that of one of `model` in `others`.
  case manyToMany(model: String, join: String, keys: [String], others: [String])

  package var model: String {
    switch self {
    case .belongsTo(let model, _), .hasOne(let model, _), .hasMany(let model, _, _),
      .manyToMany(let model, _, _, _):
      model
    }
  }

  /// The fields of this record that hold the key of another one.
  package var ownKeys: [String] {
    switch self {
    case .belongsTo(_, let keys), .hasOne(_, let keys): keys
    case .hasMany, .manyToMany: []
    }
  }
}

/// A rule of `@auth`: the operations that it allows on the records of a model, and to whom.
package struct AuthorizationRule: Sendable, Equatable {
  /// `owner`, `groups`, `private`, `public` or `custom`.
  package let allow: String
  /// `apiKey`, `iam`, `oidc`, `userPools`, `identityPool` or `function`; nil: the usual one for whom it allows.
  package let provider: String?
  /// The field that names the owner.
  package let ownerField: String?
  /// The claim of a token that names the owner; nil: the usual one.
  package let identityClaim: String?
  package let groups: [String]
  /// The field that names groups.
  package let groupsField: String?
  /// Nil: all.
  package let operations: [String]?
}
