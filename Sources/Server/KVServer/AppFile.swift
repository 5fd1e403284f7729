internal import Glibc
internal import KVJSON
internal import KVServerCore
internal import KVServerLogic
internal import KVServerOpenID

/// The apps of a server that was told none, kept in the data directory; one is made at the first start.
enum AppFile {
  struct Loaded: Sendable {
    var apps: [Server.Configuration.App]
    /// Whether the only one was made just now.
    var isNew: Bool
    var path: String
    /// The service that the file names.
    var logic: [LogicSettings] = []
    /// The provider that the file names.
    var identity: [OpenIDSettings] = []
  }

  static let name = "app.json"

  /// The text of the file, which only its owner can have written or read.
  static func text(in directory: String) throws(Server.Failure) -> String {
    do { return try TextFile.readOwn("\(directory)/\(name)", isSecret: true) } catch {
      throw Server.Failure(error.description)
    }
  }

  /// What the file says; nil: there is none, or it has no app.
  static func read(from directory: String) throws(Server.Failure) -> Loaded? {
    let path = directory + "/" + name
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    let text = try text(in: directory)
    do throws(Arguments.Misuse) {
      var configuration = Server.Configuration(data: directory)
      try configuration.apply(try ConfigurationFile.options(in: text))
      if configuration.apps.isEmpty { return nil }
      try configuration.checkApps()
      return Loaded(
        apps: configuration.apps, isNew: false, path: path, logic: configuration.logic,
        identity: configuration.identity)
    } catch {
      throw Server.Failure("\(path): \(error.description)")
    }
  }

  /// The same; an app is made where there is none.
  static func load(from directory: String) throws(Server.Failure) -> Loaded {
    if let known = try read(from: directory) { return known }
    let path = directory + "/" + name
    let app = Server.Configuration.App(
      key: "kid_" + hexText(randomBytes(5)), secret: hexText(randomBytes(16)),
      masterSecret: hexText(randomBytes(16)))
    let credentials = "\(app.key):\(app.secret):\(app.masterSecret ?? "")"
    let text = JSONValue.object(["app": .string(credentials)]).text + "\n"
    do { try TextFile.write(text, to: path) } catch { throw Server.Failure(error.description) }
    return Loaded(apps: [app], isNew: true, path: path)
  }
}
