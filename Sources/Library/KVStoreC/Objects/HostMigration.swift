internal import CKVStore
internal import Glibc
internal import KVClient
internal import KVSync

/// The host's function that migrates records. It frees its context when nothing asks it any more.
final class HostMigration: Sendable {
  private let callback: MigrationCallback

  init(_ callback: MigrationCallback) { self.callback = callback }

  deinit { callback.retire() }

  func record(_ asked: MigratingRecord) throws(StoreError) -> [UInt8]? {
    var given: UnsafeMutablePointer<CChar>?
    defer { free(given) }
    let status = try ask(asked, &given)
    let text = given.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    guard status == Status.ok else {
      let kind = StoreError.Kind.allCases.first { $0.code == status } ?? .internal
      throw StoreError(kind, text.map { String(decoding: $0, as: UTF8.self) } ?? kind.name)
    }
    return text
  }

  private func ask(
    _ asked: MigratingRecord, _ given: inout UnsafeMutablePointer<CChar>?
  ) throws(StoreError) -> kv_status {
    let names = [asked.formerModel, asked.model, asked.id].map { Array($0.utf8) }
    return try lend(names[0]) { (formerModel) throws(StoreError) in
      try lend(names[1]) { (model) throws(StoreError) in
        try lend(names[2]) { (id) throws(StoreError) in
          try lend(asked.former) { (former) throws(StoreError) in
            try lend(asked.changed) { (changed) throws(StoreError) in
              var lent = kv_migration()
              lent.size = UInt32(MemoryLayout<kv_migration>.size)
              (lent.former_model, lent.model, lent.id) = (formerModel.start, model.start, id.start)
              (lent.former, lent.former_length) = (former.start, former.length)
              (lent.record, lent.record_length) = (changed.start, changed.length)
              return callback.function(callback.context, &lent, &given)
            }
          }
        }
      }
    }
  }
}
