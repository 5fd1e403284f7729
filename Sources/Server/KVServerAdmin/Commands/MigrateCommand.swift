internal import KVJSON
package import KVServerCore

/// `kvstored admin migrate`.
package enum MigrateCommand {
  /// Moves all data. `isFinal`: there are no writes to the source; else what it has now is copied, and another run has to follow.
  package static func run(
    from source: any TransferReader, to target: any TransferTarget, isFinal: Bool,
    terminal: AdminTerminal
  ) throws(AdminFailure) {
    do throws(TransferFailure) {
      let migration = Migration(from: source, to: target, tell: terminal.tell)
      if try migration.isFinished() {
        return terminal.tell("the data was moved to this database already: nothing is left to do")
      }
      let copied = try migration.copy()
      terminal.tell("copied \(copied) rows")
      if isFinal { try show(try migration.finish().filter { $0.rows > 0 }, on: terminal) }
    } catch {
      throw AdminFailure(.failed, error.description)
    }
    guard isFinal else {
      throw AdminFailure(
        .partly,
        "a server uses the data: stop it and run this again, which copies what it has written since"
      )
    }
  }

  private static func show(
    _ counts: [Migration.Count], on terminal: AdminTerminal
  ) throws(TransferFailure) {
    let rows = counts.map { count -> JSONValue in
      [
        "app": .string(count.app), "collection": count.collection.map { .string($0) } ?? .null,
        "table": .string("\(count.table)"), "rows": .int(Int64(count.rows)),
        "checksum": .string(count.checksum),
      ]
    }
    do throws(AdminFailure) {
      try terminal.show(
        rows,
        columns: [
          .init("app", "APP"), .init("collection", "COLLECTION"), .init("table", "TABLE"),
          .init("rows", "ROWS"), .init("checksum", "CHECKSUM"),
        ])
    } catch {
      throw TransferFailure(error.description)
    }
  }
}
