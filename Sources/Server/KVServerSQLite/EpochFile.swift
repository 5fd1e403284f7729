internal import CSystem
internal import Glibc
internal import KVBase
internal import KVJSON
internal import KVServerCore

/// A small file beside the database that says which data the server used last, and in which files. It tells a copy that
/// was put back from the original.
struct EpochFile: Sendable {
  struct Content {
    var epoch: String
    /// How often the data was marked; a copy was marked less often.
    var generation: Int64
  }

  private let path: String
  private let database: String

  init(in directory: String, database: String) {
    path = directory + "/kvstored.epoch"
    self.database = database
  }

  var exists: Bool { access(path, F_OK) == 0 }

  /// Reads its content; nil if there is none, or if the database or the file itself is not the one that was there when it was
  /// written.
  func read() -> Content? {
    guard let text = try? TextFile.readOwn(path, isSecret: false),
      let json = try? JSONValue(parsing: text),
      let epoch = json["epoch"]?.stringValue, let generation = json["generation"]?.intValue,
      let own = json["file"]?.stringValue, let other = json["database"]?.stringValue,
      own == Self.identity(of: path), other == Self.identity(of: database)
    else { return nil }
    return Content(epoch: epoch, generation: generation)
  }

  /// Replaces the file; it is on the disk when this returns.
  func write(_ content: Content) throws(TextFile.Failure) {
    try TextFile.write(to: path) { draft in
      let object: JSONObject = [
        "epoch": .string(content.epoch), "generation": .int(content.generation),
        "database": .string(Self.identity(of: database)), "file": .string(Self.identity(of: draft)),
      ]
      return JSONValue.object(object).text + "\n"
    }
  }

  /// What tells a file from every other one that has had or will have its path: its number, which may be given again,
  /// and when it was made, where the file system knows.
  private static func identity(of path: String) -> String {
    var found = statx()
    let wanted = UInt32(STATX_INO | STATX_BTIME)
    guard statx(AT_FDCWD, path, 0, wanted, &found) == 0 else { return "" }
    guard found.stx_mask & UInt32(STATX_BTIME) != 0 else { return "\(found.stx_ino)" }
    return "\(found.stx_ino) \(found.stx_btime.tv_sec).\(found.stx_btime.tv_nsec)"
  }
}
