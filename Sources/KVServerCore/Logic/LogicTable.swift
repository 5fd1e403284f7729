internal import KVBase

/// The operators' own services, by the keys of the apps that they are for.
package struct LogicTable: Sendable {
  private var byApp: [RecordID: any BusinessLogic] = [:]
  /// The one that is for every app; then there is no other.
  private var ofAll: (any BusinessLogic)?

  package init() {}

  /// The service of an app; nil: it has none.
  package func find(_ app: String) -> (any BusinessLogic)? { ofAll ?? byApp[RecordID(app)] }

  package var all: [any BusinessLogic] { Array(byApp.values) + (ofAll.map { [$0] } ?? []) }

  /// Adds the service of an app; nil: of every app, also of those that are served later. False: an app would have two.
  package mutating func add(_ logic: any BusinessLogic, of app: String?) -> Bool {
    guard ofAll == nil else { return false }
    guard let app else {
      guard byApp.isEmpty else { return false }
      ofAll = logic
      return true
    }
    return byApp.updateValue(logic, forKey: RecordID(app)) == nil
  }
}
