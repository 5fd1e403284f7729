package import KVBase
package import KVJSON
internal import KVStorage
package import KVSync

extension Client {
  /// Copies what can be read of a data file, however damaged, into a directory: see kv_salvage. `options`: those with which a
  /// client would be opened.
  package static func salvage(
    _ options: JSONObject, into directory: String
  ) throws(StoreError) -> [UInt8] {
    let options = try ClientOptions(options)
    let file = options.directory.file(tag: options.tag)
    return Array(try Salvage.run(file, with: options.vault, into: directory).text.utf8)
  }

  /// Writes what an encrypted file of `salvage` has to a descriptor: see kv_decrypt_file.
  package static func decryptFile(
    _ path: String, _ options: JSONObject, to descriptor: Int32
  ) throws(StoreError) {
    guard let vault = try ClientOptions(options).vault else {
      throw StoreError(.invalid, "The option \"encryptionKey\" is missing.")
    }
    try SalvagedFile.decrypt(path, with: vault, to: descriptor)
  }
}

extension Client {
  /// Finds what is damaged in the files of all tags of which stores were opened, and takes it out of the way: see
  /// kv_client_repair.
  package func repair() throws(StoreError) -> JSONObject {
    var reports: [(tag: String, report: RepairReport)] = []
    _ = try storage(options.tag)
    for (tag, storage) in openStorages { reports.append((tag, try storage.repair())) }
    statusObservers.didChange()
    return RepairReport.json(reports)
  }
}

extension Client {
  /// Makes the files of all tags of which stores were opened as small as their data allows: see kv_client_compact.
  package func compact(
    _ options: Options, _ cancellation: Cancellation
  ) throws(StoreError) -> CompactionReport {
    try log.measuring("compact") { () throws(StoreError) in
      try operations.run(cancellation) { (cancellation) throws(StoreError) in
        let budget = call(options, cancellation).budget
        _ = try storage(self.options.tag)
        let storages = openStorages.map(\.storage)
        let before = storages.reduce(0) { $0 + $1.size }
        for storage in storages { try storage.compact(within: budget) }
        return CompactionReport(before: before, after: storages.reduce(0) { $0 + $1.size })
      }
    }
  }
}

extension Client {
  /// Copies the local data of all tags into a directory that a client can be opened on: see kv_client_backup.
  package func backUp(
    into directory: String, _ options: Options, _ cancellation: Cancellation
  ) throws(StoreError) -> BackupReport {
    try log.measuring("backup") { () throws(StoreError) in
      guard !directory.isEmpty else { throw StoreError(.invalid, "The directory is empty.") }
      return try operations.run(cancellation) { (cancellation) throws(StoreError) in
        var call = call(options, cancellation)
        // A copy takes as long as there is data.
        if options.over(self.options.calls).timeout == nil { call.deadline = .never }
        // Of models as well: their data is copied without being opened.
        if try self.directory.tags().isEmpty { _ = try storage(self.options.tag) }
        let target = DataDirectory(
          root: directory, appKey: self.options.appKey, vault: self.options.vault)
        let report = try self.directory.backUp(into: target, within: call.budget)
        return BackupReport(tags: report.tags, bytes: report.bytes)
      }
    }
  }
}

/// What a backup has: the tags, and how many bytes their files have.
package struct BackupReport: Sendable, Equatable {
  package let tags: [String]
  package let bytes: Int64

  package var json: JSONValue {
    ["tags": .array(tags.map { .string($0) }), "bytes": .int(bytes)]
  }
}

/// How many bytes the files of the local data had, with their logs.
package struct CompactionReport: Sendable, Equatable {
  package let before: Int64
  package let after: Int64

  package var json: JSONValue { ["before": .int(before), "after": .int(after)] }
}
