import KVSQLite
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

/// Names that Swift's strings take for equal: `é` as one character, and as `e` with a mark.
@Suite("Names that only look the same, over HTTP") struct ServerNamesTests {
  /// Of collections only: what an address can name is ASCII.
  @Test("are two collections, after a restart too") func collections() throws {
    let directory = TemporaryDirectory()
    func open() throws -> Database {
      try Database(
        SQLiteSchema.configuration(directory.file("data.kvd")),
        migrations: SQLiteSchema.migrations)
    }
    let first = try open()
    let collections = try CollectionRegistry(first, defaults: Permissions())
    let app = try collections.app("kid")
    let numbers = try ["caf\u{E9}", "cafe\u{301}"].map {
      try collections.make(CollectionKey(app: app, name: $0)).number
    }
    #expect(Set(numbers).count == 2)
    #expect(collections.find(CollectionKey(app: app, name: "cafe\u{301}"))?.number == numbers[1])
    first.close()
    let second = try open()
    defer { second.close() }
    let again = try CollectionRegistry(second, defaults: Permissions())
    #expect(again.find(CollectionKey(app: app, name: "cafe\u{301}"))?.number == numbers[1])
    #expect(again.find(CollectionKey(app: app, name: "caf\u{E9}"))?.number == numbers[0])
  }

  @Test("are not another collection's name in an address") func address() throws {
    let server = try TestServer()
    #expect(try server.send(as: .master, "PUT", "/appdata/kid/Kelvin/1", body: "{}").status == 201)
    // The sign for Kelvin, which is equivalent to the letter.
    #expect(try server.send(as: .master, "GET", "/appdata/kid/%E2%84%AAelvin").status == 400)
    #expect(try server.send(as: .master, "GET", "/appdata/k%E2%84%AA/Kelvin").status == 404)
  }

  @Test("are two ids, of which a body cannot say one and the path the other") func ids() throws {
    let server = try TestServer()
    let answer = try server.send(
      as: .master, "PUT", "/appdata/kid/c/caf%C3%A9", body: "{\"_id\":\"cafe\u{301}\"}")
    #expect(answer.status == 400)
    #expect(answer.error == "InvalidIdentifier")
  }

  @Test("are two topics to listen to, and two devices that listen") func live() {
    var members = LiveMembers()
    members.register("g", device: "caf\u{E9}")
    members.register("g", device: "cafe\u{301}")
    let isSubscribed = members.subscribe("g", device: "caf\u{E9}", collection: "a\u{E9}")
    #expect(isSubscribed)
    #expect(members.isSubscribed("g", to: "a\u{E9}"))
    #expect(!members.isSubscribed("g", to: "ae\u{301}"))
    members.unregister("g", device: "cafe\u{301}")
    #expect(members.isSubscribed("g", to: "a\u{E9}"))
  }
}
