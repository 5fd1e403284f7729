internal import Glibc
internal import KVBase
internal import KVJSON
internal import KVServerAdmin
internal import KVServerCore

/// `kvstored admin secrets`: the master secrets in the file of the apps. A running server reads them at a reload.
enum SecretCommands {
  static func list(_ data: String, _ arguments: AdminArguments, to terminal: AdminTerminal)
    throws(AdminFailure)
  {
    let app = try pick(arguments["app"], from: try apps(AppFile.text(in: data)))
    var rows = app.masterSecrets.map { master in
      row(master.name, MasterSecret.scopeNames(master.scopes), expires: master.expires)
    }
    if app.masterSecret != nil {
      rows.append(
        row(MasterSecret.plainName, MasterSecret.scopeNames(MasterScope.allCases), expires: nil))
    }
    try terminal.show(
      rows,
      columns: [.init("name", "NAME"), .init("scopes", "SCOPES"), .init("expires", "EXPIRES")])
  }

  private static func row(_ name: String?, _ scopes: String, expires: Timestamp?) -> JSONValue {
    [
      "name": .string(name ?? ""), "scopes": .string(scopes),
      "expires": expires.map { .string($0.description) } ?? .null,
    ]
  }

  /// Makes a secret, of which the file gets the hash, and shows it once.
  static func add(_ data: String, _ arguments: AdminArguments, to terminal: AdminTerminal)
    throws(AdminFailure)
  {
    let name = arguments.operands[0]
    guard MasterSecret.isName(name) else {
      throw AdminFailure(.misuse, "a secret has \(MasterSecret.nameRule)")
    }
    let scopes: Set<MasterScope>
    do throws(SettingsReader.Failure) {
      scopes = try MasterSecret.scopes(
        (arguments["scopes"] ?? "").split(separator: ",").map(String.init))
    } catch {
      throw AdminFailure(
        .misuse, "--scopes takes some of \(MasterSecret.scopeNames(MasterScope.allCases))")
    }
    let expires = try end(arguments["days"])
    let secret = hexText(randomBytes(32))
    try change(data, arguments["app"]) { (app) throws(AdminFailure) in
      guard !app.masterSecrets.contains(where: { $0.name == name }) else {
        throw AdminFailure(.failed, "there is a secret \(name) already")
      }
      if app.seal == nil { app.seal = hexText(randomBytes(32)) }
      app.masterSecrets.append(
        MasterSecret(
          name: name, sha256: MasterSecret.hash(secret), scopes: scopes, expires: expires))
    }
    try terminal.report(
      secret,
      [
        "name": .string(name), "secret": .string(secret),
        "scopes": .string(MasterSecret.scopeNames(scopes)),
        "expires": expires.map { .string($0.description) } ?? .null,
      ])
    terminal.tell(
      "this is the only time that the secret is shown; a running server takes it at a reload (SIGHUP)"
    )
  }

  private static func end(_ days: String?) throws(AdminFailure) -> Timestamp? {
    guard let days else { return nil }
    guard let days = Int64(days), (1...3650).contains(days) else {
      throw AdminFailure(.misuse, "--days needs a number from 1 to 3650")
    }
    return Timestamp(milliseconds: Timestamp.now().milliseconds + days * 86_400_000)
  }

  static func remove(_ data: String, _ arguments: AdminArguments, to terminal: AdminTerminal)
    throws(AdminFailure)
  {
    let name = arguments.operands[0]
    try change(data, arguments["app"]) { (app) throws(AdminFailure) in
      let count = app.masterSecrets.count
      app.masterSecrets.removeAll { $0.name == name }
      if name == MasterSecret.plainName, app.masterSecret != nil {
        app.masterSecret = nil
        return
      }
      guard app.masterSecrets.count < count else {
        throw AdminFailure(.notFound, "there is no secret \(name)")
      }
    }
    try terminal.report("the secret \(name) is removed", ["name": .string(name)])
    terminal.tell("a running server takes it until a reload (SIGHUP)")
  }

  // MARK: The file

  /// The file as JSON, and where its apps are in it.
  private struct Apps {
    var object: JSONObject
    var all: [AppCredentials]

    func pick(_ wanted: String?) throws(AdminFailure) -> Int {
      guard let wanted else {
        guard all.count == 1 else {
          throw AdminFailure(
            .misuse, "--app must be one of \(all.map(\.key).joined(separator: ", "))")
        }
        return 0
      }
      guard let index = all.firstIndex(where: { $0.key.hasSameBytes(as: wanted) }) else {
        throw AdminFailure(.notFound, "there is no app \(wanted)")
      }
      return index
    }
  }

  private static func pick(_ wanted: String?, from apps: Apps) throws(AdminFailure)
    -> AppCredentials
  {
    apps.all[try apps.pick(wanted)]
  }

  private static func apps(
    _ read: @autoclosure () throws(Server.Failure) -> String
  ) throws(AdminFailure) -> Apps {
    do {
      let text = try read()
      let object = try JSONValue(parsing: text).objectValue ?? JSONObject()
      let values = object["app"]?.arrayValue ?? object["app"].map { [$0] } ?? []
      let all = try values.map { try AppCredentials.read($0.stringValue ?? $0.text) }
      return Apps(object: object, all: all)
    } catch {
      throw AdminFailure(.failed, "\(AppFile.name): \(error)")
    }
  }

  /// Changes an app in the file, which is replaced as a whole. Other commands that change it wait.
  private static func change(
    _ data: String, _ wanted: String?, by body: (inout AppCredentials) throws(AdminFailure) -> Void
  ) throws(AdminFailure) {
    let directory = open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0, flock(directory, LOCK_EX) == 0 else {
      throw AdminFailure(.notFound, "cannot open \(data): \(String(cString: strerror(errno)))")
    }
    // The lock goes with the descriptor.
    defer { close(directory) }
    var apps = try apps(AppFile.text(in: data))
    let index = try apps.pick(wanted)
    try body(&apps.all[index])
    let values = apps.all.enumerated().map { number, app in
      number == index ? app.json : apps.object["app"]?.arrayValue?[number] ?? app.json
    }
    apps.object["app"] = .array(values)
    do throws(TextFile.Failure) {
      try TextFile.write(
        JSONValue.object(apps.object).text + "\n", to: "\(data)/\(AppFile.name)")
    } catch {
      throw AdminFailure(.failed, error.description)
    }
  }
}
