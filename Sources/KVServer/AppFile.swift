internal import KVJSON
internal import KVServerCore
internal import KVServerLogic

/// The app of a server that was told none: made at the first start and kept in the data directory.
enum AppFile {
  struct Loaded: Sendable {
    var app: Server.Configuration.App
    /// Whether it was made just now.
    var isNew: Bool
    var path: String
    /// The service that the file names.
    var logic: [LogicSettings] = []
  }

  static let name = "app.json"

  static func load(from directory: String) throws(Server.Failure) -> Loaded {
    let path = directory + "/" + name
    if let text = try? TextFile.read(path) {
      do {
        var configuration = Server.Configuration(data: directory)
        try configuration.apply(try ConfigurationFile.options(in: text))
        if let app = configuration.apps.first {
          return Loaded(app: app, isNew: false, path: path, logic: configuration.logic)
        }
      } catch {
        throw Server.Failure("\(path): \(error.description)")
      }
    }
    let app = Server.Configuration.App(
      key: "kid_" + hexText(randomBytes(5)), secret: hexText(randomBytes(16)),
      masterSecret: hexText(randomBytes(16)))
    let credentials = "\(app.key):\(app.secret):\(app.masterSecret ?? "")"
    let text = JSONValue.object(["app": .string(credentials)]).text + "\n"
    do { try TextFile.write(text, to: path) } catch { throw Server.Failure(error.description) }
    return Loaded(app: app, isNew: true, path: path)
  }
}
