internal import KVBase

/// Small JSON as a value: options, filters, error bodies. Entities stay bytes (see `EntityScanner`).
///
/// Two values are equal if their types are, and the bytes of their texts; names of members are compared the same
/// way.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  package static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    case (.null, _), (.bool, _), (.int, _), (.double, _), (.string, _), (.array, _), (.object, _):
      false
    }
  }

  package var isNull: Bool { self == .null }

  package var boolValue: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// Integers, and doubles without a fraction that fit.
  package var intValue: Int64? {
    switch self {
    case .int(let value): value
    case .double(let value): Int64(exactly: value)
    default: nil
    }
  }

  package var doubleValue: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  package var stringValue: String? {
    if case .string(let value) = self { value } else { nil }
  }

  package var arrayValue: [JSONValue]? {
    if case .array(let value) = self { value } else { nil }
  }

  package var objectValue: JSONObject? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The member of an object; nil if this is no object or has no such member.
  package subscript(_ name: String) -> JSONValue? { objectValue?[name] }
}

/// The members of a JSON object in the order in which they were written.
package struct JSONObject: Sendable, Equatable {
  package struct Member: Sendable, Equatable {
    package var name: String
    package var value: JSONValue
    package init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }

    package static func == (left: Member, right: Member) -> Bool {
      left.name.hasSameBytes(as: right.name) && left.value == right.value
    }
  }

  package var members: [Member]

  package init(_ members: [Member] = []) { self.members = members }

  package var isEmpty: Bool { members.isEmpty }
  package var count: Int { members.count }

  /// Linear in the number of members. Setting replaces in place or appends; nil removes.
  package subscript(_ name: String) -> JSONValue? {
    get { members.first { $0.name.hasSameBytes(as: name) }?.value }
    set {
      let index = members.firstIndex { $0.name.hasSameBytes(as: name) }
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append(Member(name, value))
      case (nil, nil): break
      }
    }
  }
}

extension JSONObject {
  /// Sets each member of another object, in time linear in both; see the subscript.
  package mutating func merge(_ other: JSONObject) {
    var indexes: [RecordID: Int] = [:]
    for (index, member) in members.enumerated() where indexes[RecordID(member.name)] == nil {
      indexes[RecordID(member.name)] = index
    }
    for member in other.members {
      let index = indexes[RecordID(member.name), default: members.count]
      if index < members.count {
        members[index].value = member.value
      } else {
        indexes[RecordID(member.name)] = index
        members.append(member)
      }
    }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    members = elements.map { Member($0.0, $0.1) }
  }
}

// No `nil` literal for null: it would be taken for it wherever an optional value is meant.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .int(value) }
  package init(floatLiteral value: Double) { self = .double(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.map { .init($0.0, $0.1) }))
  }
}
