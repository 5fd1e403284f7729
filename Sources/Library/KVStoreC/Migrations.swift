public import CKVStore
internal import KVClient
internal import KVSync

@_cdecl("kv_migration_register") @implementation
public func kv_migration_register(
  _ name: CString?, _ migrate: kv_migration_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ errorOut: HandleOut?
) -> kv_status {
  let host = migrate.map { HostMigration(MigrationCallback($0, context, free: freeContext)) }
  if host == nil { freeContext?(context) }
  return perform(errorOut) { () throws(StoreError) in
    let name = try text(name, named: "name")
    guard let host else { throw missing("migrate") }
    let handler: MigrationHandler = { (asked) throws(StoreError) in try host.record(asked) }
    try MigrationHandlers.shared.register(name, handler)
  }
}

@_cdecl("kv_migration_unregister") @implementation
public func kv_migration_unregister(_ name: CString?, _ errorOut: HandleOut?) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let name = try text(name, named: "name")
    guard MigrationHandlers.shared.unregister(name) else {
      throw StoreError(.notFound, "No migration handler is registered as \"\(name)\".")
    }
  }
}
