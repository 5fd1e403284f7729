/// The scalars of AppSync: GraphQL's own and those of AWS, by the names that a schema has for them.
package enum ScalarType: String, Sendable, CaseIterable {
  case id = "ID"
  case string = "String"
  case int = "Int"
  case float = "Float"
  case boolean = "Boolean"
  case date = "AWSDate"
  case time = "AWSTime"
  case dateTime = "AWSDateTime"
  /// Seconds since 1970.
  case timestamp = "AWSTimestamp"
  case email = "AWSEmail"
  /// A text that holds JSON.
  case json = "AWSJSON"
  case url = "AWSURL"
  case phone = "AWSPhone"
  case ipAddress = "AWSIPAddress"

  /// Whether a key may be made of such values: of texts and integers.
  package var canBeKey: Bool {
    switch self {
    case .float, .boolean, .json: false
    case .id, .string, .int, .date, .time, .dateTime, .timestamp, .email, .url, .phone, .ipAddress:
      true
    }
  }

  /// Whether its values are integers.
  package var isInteger: Bool { self == .int || self == .timestamp }
}
