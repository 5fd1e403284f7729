internal import KVBase

/// Services that the operator has set, by the keys of the apps that they are for.
package struct AppTable<Service: Sendable>: Sendable {
  private var byApp: [RecordID: Service] = [:]
  /// The one that is for every app; then there is no other.
  private var ofAll: Service?

  package init() {}

  /// The service of an app; nil: it has none.
  package func find(_ app: String) -> Service? { ofAll ?? byApp[RecordID(app)] }

  package var all: [Service] { Array(byApp.values) + (ofAll.map { [$0] } ?? []) }

  /// Adds the service of an app; nil: of every app, also of those that are served later. False: an app would have two.
  package mutating func add(_ service: Service, of app: String?) -> Bool {
    guard ofAll == nil else { return false }
    guard let app else {
      guard byApp.isEmpty else { return false }
      ofAll = service
      return true
    }
    return byApp.updateValue(service, forKey: RecordID(app)) == nil
  }
}
