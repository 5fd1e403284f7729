internal import Glibc
internal import KVSQLite

extension Database {
  /// How many bytes the files of the database have.
  var fileBytes: [(part: String, count: Int)] {
    [("database", ""), ("log", "-wal")].compactMap { part, suffix in
      var status = stat()
      guard stat(configuration.path + suffix, &status) == 0 else { return nil }
      return (part, Int(status.st_size))
    }
  }
}
