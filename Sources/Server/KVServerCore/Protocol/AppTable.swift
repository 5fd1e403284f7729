internal import KVBase

/// Services that the operator has set, by the keys of the apps that they are for.
package struct AppTable<Value: Sendable>: Sendable {
  private var byApp: [RecordID: Value] = [:]
  /// The one that is for every app; then there is no other.
  private var ofAll: Value?

  package init() {}

  /// The service of an app; nil: it has none.
  package func find(_ app: String) -> Value? { ofAll ?? byApp[RecordID(app)] }

  package var all: [Value] { Array(byApp.values) + (ofAll.map { [$0] } ?? []) }

  /// Adds the service of an app; nil: of every app, also of those that are served later. False: an app would have two.
  package mutating func add(_ service: Value, of app: String?) -> Bool {
    guard ofAll == nil else { return false }
    guard let app else {
      guard byApp.isEmpty else { return false }
      ofAll = service
      return true
    }
    return byApp.updateValue(service, forKey: RecordID(app)) == nil
  }
}
