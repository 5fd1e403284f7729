internal import Glibc
internal import KVBase
internal import KVServerAdmin
internal import KVServerCore
internal import KVServerPostgres
internal import KVServerSQLite

/// `kvstored admin`: finds the way to the data, and runs a command on it.
enum Administration {
  /// Runs a command; gives the program's exit status.
  static func run(_ words: [String]) -> Int32 {
    do throws(AdminFailure) {
      switch try AdminArguments.parse(words) {
      case .help(let text): try write(Array(text.utf8))
      case .run(let arguments): try run(arguments)
      }
      return 0
    } catch {
      let hint = error.kind == .misuse ? "Try kvstored admin --help.\n" : ""
      Log.standardError("kvstored admin: \(error.description)\n\(hint)")
      return error.kind.rawValue
    }
  }

  private static func run(_ arguments: AdminArguments) throws(AdminFailure) {
    switch arguments.command.work {
    case .text(let text): try write(Array(try text(arguments).utf8))
    case .files(.backup):
      let (data, copy) = try directories(arguments, "to")
      try recording(.makeBackup, to: copy, arguments) { () throws(AdminFailure) in
        try files { () throws(Server.Failure) in
          let settings = try settings(arguments)
          try Backup.make(
            of: data, files: settings.files, at: copy, keyFile: settings.encryptionKeyFile)
        }
      }
    case .files(.restore):
      let (data, copy) = try directories(arguments, "from")
      try recording(.restoreBackup, to: copy, arguments) { () throws(AdminFailure) in
        try files { () throws(Server.Failure) in
          let settings = try settings(arguments)
          try Backup.restore(
            data, files: settings.files, from: copy, keyFile: settings.encryptionKeyFile)
        }
      }
    case .files(.migrate):
      let (data, address) = try directories(arguments, "to", is: "URI")
      // The address may have a password.
      try recording(.migrateData, to: data, arguments) { () throws(AdminFailure) in
        try DataMigration.run(
          data, keyFile: AdminWay.configuration(arguments).encryptionKeyFile, to: address,
          terminal: terminal(arguments))
      }
    case .files(.encrypt):
      let data = try data(arguments)
      guard (arguments["new-key-file"] == nil) != (arguments["decrypt"] == nil) else {
        throw AdminFailure(.misuse, "either --new-key-file FILE or --decrypt is needed")
      }
      try recording(.changeEncryption, to: data, arguments) { () throws(AdminFailure) in
        try files { () throws(Server.Failure) in try encrypt(data, arguments) }
      }
    case .files(.listSecrets):
      try SecretCommands.list(try data(arguments), arguments, to: terminal(arguments))
    case .files(.addSecret):
      let data = try data(arguments)
      try recording(.addSecret, to: arguments.operands[0], arguments) { () throws(AdminFailure) in
        try SecretCommands.add(data, arguments, to: terminal(arguments))
      }
    case .files(.removeSecret):
      let data = try data(arguments)
      try recording(.removeSecret, to: arguments.operands[0], arguments) {
        () throws(AdminFailure) in
        try SecretCommands.remove(data, arguments, to: terminal(arguments))
      }
    case .files(.audit):
      guard let path = try AdminWay.configuration(arguments).auditLog else {
        throw AdminFailure(.misuse, "--audit-log FILE or --config FILE with audit-log is missing")
      }
      try AuditCommand.run(path, arguments, to: terminal(arguments))
    case .requests(let work):
      let way = try AdminWay(arguments)
      defer { way.connection.close() }
      try work(
        AdminCall(AdminApp(way.connection, key: way.app), arguments, to: terminal(arguments)))
    }
  }

  /// The settings of the server that the data belongs to.
  private static func settings(
    _ arguments: AdminArguments
  ) throws(Server.Failure) -> Server.Configuration {
    do throws(AdminFailure) { return try AdminWay.configuration(arguments) } catch {
      throw Server.Failure(error.description)
    }
  }

  private static func encrypt(
    _ data: String, _ arguments: AdminArguments
  ) throws(Server.Failure) {
    let directory = try ServerDirectory(data)
    defer { directory.unlock() }
    let vault = try EncryptionKeyFile.vault(settings(arguments).encryptionKeyFile)
    let target = try EncryptionKeyFile.vault(arguments["new-key-file"])
    do throws(SQLiteStore.Failure) {
      try SQLiteStore.changeEncryption(in: data, from: vault, to: target)
    } catch {
      throw Server.Failure(error.description)
    }
  }

  /// Runs `body`; the audit log, if there is one, gets a line for it.
  private static func recording(
    _ action: AuditEvent.Action, to subject: String, _ arguments: AdminArguments,
    run body: () throws(AdminFailure) -> Void
  ) throws(AdminFailure) {
    let auditLog = try AdminWay.configuration(arguments).openAuditLogOfCommand()
    var event = AuditEvent(action, by: AuditEvent.localActor, to: subject)
    do throws(AdminFailure) { try body() } catch {
      // What is done in part, as a migration beside a server, is no failure.
      event.outcome = error.kind == .partly ? .success : .failed
      auditLog?.add(event)
      throw error
    }
    auditLog?.add(event)
  }

  private static func terminal(_ arguments: AdminArguments) -> AdminTerminal {
    AdminTerminal(isJSON: arguments["json"] != nil, write: write) {
      Log.standardError($0 + "\n")
    }
  }

  /// The data directory, and the other place that a command works on.
  private static func directories(
    _ arguments: AdminArguments, _ other: String, is placeholder: String = "DIR"
  ) throws(AdminFailure) -> (data: String, copy: String) {
    let data = try data(arguments)
    guard try AdminWay.configuration(arguments).storage == nil else {
      throw AdminFailure(
        .misuse,
        """
        \(arguments.command.name) is for data in a directory, and this server's is on PostgreSQL: use PostgreSQL's own tools
        """)
    }
    guard let copy = arguments[other] else {
      throw AdminFailure(.misuse, "--\(other) \(placeholder) is missing")
    }
    return (data, copy)
  }

  /// The data directory that `--data` names, or the configuration file of `--config`.
  private static func data(_ arguments: AdminArguments) throws(AdminFailure) -> String {
    let data = try AdminWay.configuration(arguments).data
    guard !data.isEmpty else {
      throw AdminFailure(.misuse, "--data DIR is missing, or --config FILE with data")
    }
    return data
  }

  private static func files(_ body: () throws(Server.Failure) -> Void) throws(AdminFailure) {
    do throws(Server.Failure) { try body() } catch {
      throw AdminFailure(error.isInUse ? .unavailable : .failed, error.description)
    }
  }

  private static func write(_ bytes: [UInt8]) throws(AdminFailure) {
    let (count, cause) = writeWhole(bytes, to: STDOUT_FILENO)
    guard count == bytes.count else {
      throw AdminFailure(.failed, "cannot write: \(String(cString: strerror(cause)))")
    }
  }
}
