internal import Glibc
internal import KVBase
internal import KVTestSupport

@testable import KVServerCore
@testable import KVServerPostgres

/// Where test servers keep their data: in SQLite, or, with `KVSTORED_TEST_STORAGE=postgres` in the environment, in
/// PostgreSQL.
enum TestStorage {
  static let isPostgres = environment("KVSTORED_TEST_STORAGE") == "postgres"

  /// The address for the `--storage` of a server in a directory; nil: SQLite.
  static func address(for directory: String) throws -> String? {
    try isPostgres ? schema(for: directory) : nil
  }

  /// The address of a schema of its own, which is made if there is none of this name.
  static func schema(for name: String) throws -> String {
    let schema = "test_" + hexText(SHA256.hash(name.utf8)).prefix(32)
    _ = try PostgresConnection(to: server, setup: "CREATE SCHEMA IF NOT EXISTS \(sql: schema)")
    return server + "&options=-csearch_path%3D\(schema)"
  }

  /// The address of the PostgreSQL server that the tests share: that in the environment, or one that is started for this
  /// process, and ends with it.
  private static let server: String =
    environment("KVSTORED_TEST_POSTGRES") ?? started?.address ?? ""

  private static let started: (address: String, process: ChildProcess)? = {
    let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
    let command = "echo \"$KVSTORED_TEST_POSTGRES\"; exec tail --pid=\(getpid()) -f /dev/null"
    guard let process = try? ChildProcess([root + "/scripts/with-postgres", "sh", "-c", command])
    else { return nil }
    var output = ""
    while !output.hasSuffix("\n") {
      let piece = process.readPiece()
      if piece.isEmpty { return nil }
      output += piece
    }
    return (String(output.dropLast()), process)
  }()

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
