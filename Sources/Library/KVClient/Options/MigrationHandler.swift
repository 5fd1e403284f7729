internal import KVBase
package import KVSync

/// A record that a handler makes one of another schema.
package struct MigratingRecord: Sendable {
  /// The names of its model in the former schema and in the new one.
  package let formerModel, model: String
  package let id: String
  /// The record as it is stored.
  package let former: [UInt8]
  /// The same as the rules change it, which may lack what the new model requires.
  package let changed: [UInt8]
}

/// A function of the application's that makes records those of another schema. Nil: as the rules change it. It runs on the
/// thread that opens the local data, while that is locked.
package typealias MigrationHandler = @Sendable (MigratingRecord) throws(StoreError) -> [UInt8]?

/// The handlers of this process, which the option `onSchemaChange` names.
package enum MigrationHandlers {
  package static let shared = FactoryRegistry<MigrationHandler>(
    of: "migration handler", reserving: "")

  /// Runs `body` with a name that a handler has meanwhile, for bindings that are given functions in place of names.
  package static func naming<R>(
    _ handler: @escaping MigrationHandler, _ body: (String) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let name = "handler \(Identifier.entity())"
    try shared.register(name, handler)
    defer { shared.unregister(name) }
    return try body(name)
  }
}
