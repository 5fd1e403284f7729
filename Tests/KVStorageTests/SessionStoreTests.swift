import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Session") struct SessionStoreTests {
  let directory = TemporaryDirectory()

  private func open(_ appKey: String = "kid_test") throws -> SessionStore {
    try DataDirectory(root: directory.path, appKey: appKey).openSession(tag: "kinvey")
  }

  @Test("the user survives a restart and ends with the logout") func user() throws {
    let session = try open()
    #expect(try session.user() == nil)
    try session.save(user: #"{"_id":"u","token":"grüße"}"#)
    session.close()
    #expect(throws: StoreError.self) { try session.user() }
    let again = try open()
    #expect(try again.user() == #"{"_id":"u","token":"grüße"}"#)
    try again.clearUser()
    #expect(try open().user() == nil)
  }

  @Test("the file is for its owner only") func modes() throws {
    let session = try open()
    try session.save(user: "{}")
    let path = DataDirectory(root: directory.path, appKey: "kid_test").sessionFile
    for suffix in ["", "-wal", "-shm"] { #expect(permissions(of: path + suffix) == 0o600) }
  }
}

@Suite("Data directory") struct DataDirectoryTests {
  @Test(
    "names cannot leave the directory or meet each other",
    arguments: [
      ("kid_1", "kid%5F1"), ("..", "%2E%2E"), ("a/b", "a%2Fb"), ("A-z09", "A-z09"), ("ü", "%C3%BC"),
    ])
  func names(_ key: String, _ safe: String) {
    let directory = DataDirectory(root: "/data", appKey: key)
    #expect(directory.path == "/data/\(safe)")
    #expect(directory.file(tag: key) == "/data/\(safe)/\(safe).kvs")
    #expect(
      DataDirectory(root: "/data", appKey: "k").file(tag: "_session") != directory.sessionFile)
  }

  @Test("a tag's file is not taken for a session, nor the other way round") func kinds() throws {
    let directory = TemporaryDirectory()
    _ = try openStorage(in: directory)
    let path = DataDirectory(root: directory.path, appKey: "kid_test").file(tag: "kinvey")
    let before = contents(of: path)
    let error = #expect(throws: StoreError.self) { try SessionStore(path: path, tag: "kinvey") }
    #expect(error?.kind == .corrupt)
    let isUntouched = contents(of: path) == before
    #expect(isUntouched)
  }
}
