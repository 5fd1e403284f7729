/// The backends of this process that a client is opened with by name.
package enum BackendRegistry {
  /// A backend of our own that is opened by its name as well: no other can have that.
  package static let appSync = "appsync"

  package static let shared = FactoryRegistry<BackendFactory>(of: "backend", reserving: appSync)
}
