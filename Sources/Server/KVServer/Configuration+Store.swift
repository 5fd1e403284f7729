internal import Glibc
internal import KVBase
internal import KVServerAdmin
internal import KVServerCore
internal import KVServerHTTP
internal import KVServerPostgres
internal import KVServerSQLite

extension AuditEvent {
  /// Who runs a command on this machine.
  static var localActor: String { "local:\(getuid())" }
}

extension Server.Configuration {
  /// The audit log that a command adds lines to; nil: it was told none.
  func openAuditLogOfCommand() throws(AdminFailure) -> AuditLog? {
    do throws(Server.Failure) { return try openAuditLog(log: Log(.error)) } catch {
      throw AdminFailure(.failed, error.description)
    }
  }

  func openAuditLog(log: Log) throws(Server.Failure) -> AuditLog? {
    guard let auditLog else { return nil }
    do { return try AuditLog(auditLog, log: log) } catch { throw Server.Failure(error.description) }
  }

  /// What the service is told, without the operator's services and without the audit log.
  var serviceSettings: Service.Settings {
    var settings = Service.Settings()
    settings.passwordCost = UInt(clamping: passwordCost)
    settings.sessionLife = SessionLife(
      idleSeconds: Int64(sessionIdleDays) * 86_400, longestSeconds: Int64(sessionDays) * 86_400)
    settings.signUp = signUp
    settings.passwordLength = passwordLength
    settings.asksOldPassword = asksOldPassword
    settings.limits = useLimits
    settings.loginClock = loginClock
    settings.liveClock = liveClock
    settings.discovery = discovery
    settings.bodyBytes = limits.bodyBytes
    settings.workSeconds = limits.workSeconds
    settings.fileBytes = fileBytes
    settings.publicURL = publicURL
    settings.hasTLS = tls != nil
    return settings
  }

  /// The directory of the bytes of files beside SQLite's data.
  static let filesName = "files"

  /// Opens the directory of the bytes of files; nil: these settings name none.
  func openFiles() throws(Server.Failure) -> FileDirectory? {
    let isBesideData = storage == nil && encryptionKeyFile == nil
    guard let path = files ?? (isBesideData ? data + "/" + Self.filesName : nil) else {
      return nil
    }
    do { return try FileDirectory(path) } catch { throw Server.Failure(error.description) }
  }

  /// What invitations of an app are sealed with, as these settings or the file of the data directory say; nil: neither knows it.
  func seal(of app: String) throws(Server.Failure) -> String? {
    var apps = apps
    if apps.isEmpty, !data.isEmpty { apps = try AppFile.read(from: data)?.apps ?? [] }
    let found = apps.first { $0.key.hasSameBytes(as: app) }
    return found.flatMap { $0.seal ?? $0.masterSecret }
  }

  /// Opens the data. `isVisit`: these settings are not those of the server that it belongs to.
  func openStore(log: Log, isVisit: Bool = false) throws(Server.Failure) -> any ServerStore {
    if let address = storage {
      guard encryptionKeyFile == nil else {
        throw Server.Failure(
          "--encryption-key-file is for data in a directory: PostgreSQL's has to be encrypted by its own disk"
        )
      }
      return try postgresStore(address, log: log, isVisit: isVisit)
    }
    var settings = SQLiteStore.Settings()
    settings.vault = try EncryptionKeyFile.vault(encryptionKeyFile)
    settings.permissions = permissions
    settings.historyDays = historyDays ?? 0
    settings.isVisit = isVisit
    settings.isRestored = isRestored
    settings.automaticIndexes = makesIndexes && !isVisit ? AutomaticIndexes() : nil
    settings.isDurable = isDurable
    settings.cacheMiB = cacheMiB
    do { return try SQLiteStore(in: data, settings, log: log) } catch {
      throw Server.Failure(error.description)
    }
  }

  private func postgresStore(
    _ address: String, log: Log, isVisit: Bool
  ) throws(Server.Failure) -> any ServerStore {
    var settings = PostgresStore.Settings()
    settings.permissions = permissions
    settings.historyDays = historyDays ?? 0
    settings.isVisit = isVisit
    settings.isRestored = isRestored
    settings.automaticIndexes = makesIndexes && !isVisit ? AutomaticIndexes() : nil
    settings.isDurable = isDurable
    // One for each thread that may ask, so that none waits for another.
    settings.connections = workers + hashers + 2
    do { return try PostgresStore(address, settings, log: log) } catch {
      throw Server.Failure(error.description)
    }
  }
}
