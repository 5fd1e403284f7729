internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Entities over HTTP") struct EntityTests {
  private let server: TestServer
  private let ana: TestServer.Who

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
  }

  @Test("are created under an id of the server, with creator and times")
  func create() throws {
    let answer = try server.send(as: ana, "POST", "/appdata/kid/notes", body: #"{"text":"milk"}"#)
    #expect(answer.status == 201)
    let id = try #require(answer.json["_id"]?.stringValue)
    #expect(id.utf8.count == 24)
    #expect(answer.json["text"] == "milk")
    #expect(answer.json["_acl"]?["creator"]?.stringValue == ana.id)
    let created = try #require(answer.json["_kmd"]?["ect"]?.stringValue)
    #expect(answer.json["_kmd"]?["lmt"]?.stringValue == created)
    #expect(answer.headers["location"] == "/appdata/kid/notes/\(id)")
    #expect(try server.send(as: ana, "GET", "/appdata/kid/notes/\(id)").body == answer.body)
  }

  @Test("keep an id of the client, which can be created once")
  func duplicate() throws {
    #expect(
      try server.send(as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"one"}"#).status == 201)
    let again = try server.send(
      as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"one","x":1}"#)
    #expect(again.status == 500 && again.error == "KinveyInternalErrorRetry")
    #expect(
      again.json["debug"]?.stringValue
        == "An entity with that _id already exists in this collection")
    #expect(try server.send(as: ana, "GET", "/appdata/kid/notes/one").json["x"] == nil)
  }

  @Test("are replaced by PUT, which keeps the creation time, and created by it when there is none")
  func put() throws {
    let new = try server.send(as: ana, "PUT", "/appdata/kid/notes/n1", body: #"{"v":1}"#)
    #expect(new.status == 201 && new.json["_id"] == "n1")
    #expect(new.headers["location"] == "/appdata/kid/notes/n1")
    let old = try server.send(as: ana, "PUT", "/appdata/kid/notes/n1", body: #"{"_id":"n1","v":2}"#)
    #expect(old.status == 200 && old.json["v"] == 2)
    #expect(old.json["_kmd"]?["ect"] == new.json["_kmd"]?["ect"])
    let other = try server.send(as: ana, "PUT", "/appdata/kid/notes/n1", body: #"{"_id":"n2"}"#)
    #expect(other.status == 400 && other.error == "InvalidIdentifier")
  }

  @Test("are stored byte for byte, apart from what is the server's to say")
  func bytes() throws {
    let sent = #"{"a" : 1.50e3, "é":"\u00e9\n", "_kmd":{"ect":"forged","x":1},"z":[ 1 , {} ]}"#
    let answer = try server.send(as: ana, "PUT", "/appdata/kid/notes/x", body: sent)
    #expect(answer.text.hasPrefix(#"{"_id":"x","a":1.50e3,"é":"\u00e9\n","z":[ 1 , {} ],"_acl":"#))
    #expect(!answer.text.contains("forged"))
  }

  @Test("are deleted once")
  func delete() throws {
    _ = try server.send(as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"d"}"#)
    let first = try server.send(as: ana, "DELETE", "/appdata/kid/notes/d")
    #expect(first.status == 200 && first.text == #"{"count":1}"#)
    let second = try server.send(as: ana, "DELETE", "/appdata/kid/notes/d")
    #expect(second.status == 404 && second.error == "EntityNotFound")
    #expect(try server.send(as: ana, "GET", "/appdata/kid/notes/d").error == "EntityNotFound")
  }

  @Test("have ids with any character that fits into a path")
  func ids() throws {
    for id in ["a b", "ü/ö", "50%", "a+b", "x?y#z"] {
      let path = "/appdata/kid/notes/" + percentEncoded(id)
      #expect(try server.send(as: ana, "PUT", path, body: "{}").json["_id"]?.stringValue == id)
      #expect(try server.send(as: ana, "GET", path).json["_id"]?.stringValue == id)
      #expect(try server.send(as: ana, "DELETE", path).status == 200)
    }
  }

  @Test("are refused under ids that are none", arguments: ["", "_count", "a\\u0001"])
  func badIds(id: String) throws {
    let answer = try server.send(as: ana, "POST", "/appdata/kid/notes", body: "{\"_id\":\"\(id)\"}")
    #expect(answer.status == 400)
    #expect(["InvalidIdentifier", "InputValidationFailed"].contains(answer.error))
  }

  @Test("are refused with reserved members of the wrong type")
  func reserved() throws {
    for body in [
      #"{"_id":7}"#, #"{"_id":null}"#, #"{"_acl":[]}"#, #"{"_acl":{"r":"x"}}"#, #"{"_kmd":1}"#,
    ] {
      let answer = try server.send(as: ana, "POST", "/appdata/kid/notes", body: body)
      #expect(answer.status == 400 && answer.error == "InputValidationFailed", "\(body)")
    }
  }

  @Test("are refused with a place that is not on earth")
  func places() throws {
    for point in ["[-300,3]", "[0,91]", "[0]", "[0,0,0]", #""here""#, #"["0","0"]"#] {
      let answer = try server.send(
        as: ana, "POST", "/appdata/kid/notes", body: "{\"_geoloc\":\(point)}")
      #expect(answer.status == 400 && answer.error == "ParameterValueOutOfRange", "\(point)")
    }
    for point in ["[-180,90]", "[8.5,47.4]", "null"] {
      let answer = try server.send(
        as: ana, "POST", "/appdata/kid/notes", body: "{\"_geoloc\":\(point)}")
      #expect(answer.status == 201, "\(point)")
    }
  }

  @Test("of a collection that nobody has written to are none")
  func missingCollection() throws {
    #expect(try server.send(as: ana, "GET", "/appdata/kid/void").text == "[]")
    #expect(try server.send(as: ana, "GET", "/appdata/kid/void/_count").text == #"{"count":0}"#)
    #expect(try server.send(as: ana, "GET", "/appdata/kid/void/x").error == "EntityNotFound")
    #expect(try server.send(as: ana, "DELETE", "/appdata/kid/void/x").error == "EntityNotFound")
    #expect(
      try server.send(as: ana, "DELETE", query("/appdata/kid/void", "{}")).text == #"{"count":0}"#)
  }

  @Test("cannot be in collections with names that are not allowed")
  func collectionNames() throws {
    for name in ["_users", "-x", "a%20b", "%C3%A9", String(repeating: "x", count: 129)] {
      let answer = try server.send(as: ana, "POST", "/appdata/kid/\(name)", body: "{}")
      #expect(answer.status == 400 && answer.error == "InvalidIdentifier", "\(name)")
    }
    #expect(try server.send(as: ana, "POST", "/appdata/kid/A-b_c.9", body: "{}").status == 201)
  }

  @Test("of one app are not those of another")
  func apps() throws {
    let server = try TestServer {
      $0.apps.append(.init(key: "two", secret: "sec", masterSecret: "mas"))
    }
    let ana = try server.user("ana")
    _ = try server.send(as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"x"}"#)
    let master = TestServer.Who.header("Basic dHdvOm1hcw==")
    #expect(try server.send(as: master, "GET", "/appdata/two/notes").text == "[]")
    #expect(try server.send(as: ana, "GET", "/appdata/two/notes").error == "InvalidCredentials")
  }
}
