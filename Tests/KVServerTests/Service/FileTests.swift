internal import Glibc
internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("Files") struct FileTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let directory: TemporaryDirectory

  init() throws {
    directory = TemporaryDirectory()
    let files = directory.path + "/files"
    server = try TestServer(in: directory) { $0.files = files }
    ana = try server.user("ana")
  }

  private func announce(
    _ members: String, as who: TestServer.Who? = nil, id: String? = nil
  ) throws -> HTTPAnswer {
    let path = "/blob/kid" + (id.map { "/" + $0 } ?? "")
    return try server.send(as: who ?? ana, id == nil ? "POST" : "PUT", path, body: members)
  }

  /// What an answer says about a file's address, without the server.
  private func path(_ answer: HTTPAnswer, _ member: String) throws -> String {
    let address = try #require(answer.json[member]?.stringValue, "\(answer.text)")
    let start = "http://test"
    #expect(address.hasPrefix(start))
    return String(address.dropFirst(start.count))
  }

  private func send(_ path: String, _ bytes: String?, range: String? = nil) throws -> HTTPAnswer {
    try server.send(
      as: .nobody, "PUT", path, body: bytes, version: nil,
      headers: range.map { [("Content-Range", $0)] } ?? [])
  }

  /// Sends the head and a part of the body of a request, once the server wants it. The connection has to live on.
  private func begin(_ path: String, _ bytes: [UInt8], of size: Int) throws -> RawConnection {
    let connection = try #require(RawConnection(port: server.port))
    connection.send(
      "PUT \(path) HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: \(size)\r\n\r\n"
    )
    #expect(connection.line()?.hasPrefix("HTTP/1.1 100") == true && connection.line() == "")
    connection.send(bytes)
    return connection
  }

  /// The files in the directory.
  private var stored: [String] {
    let files = directory.path + "/files"
    return names(in: files).flatMap {
      names(in: files + "/" + $0)
    }
  }

  private func read(
    _ path: String, _ headers: [(String, String)] = [], method: String = "GET"
  ) throws -> HTTPAnswer {
    try server.send(as: .nobody, method, path, version: nil, headers: headers)
  }

  /// A file of ten bytes that is there, and the path of its bytes.
  private func file(_ more: String = "") throws -> (id: String, path: String) {
    let made = try announce(#"{"_filename":"a b.txt","mimeType":"text/html","size":10\#(more)}"#)
      .expect(201)
    try send(try path(made, "_uploadURL"), "0123456789").expect(201)
    let id = try #require(made.json["_id"]?.stringValue)
    let found = try server.send(as: ana, "GET", "/blob/kid/\(id)").expect(200)
    return (id, try path(found, "_downloadURL"))
  }

  @Test("take the steps of the JavaScript SDK: announced, asked for, sent, found, read and removed")
  func lifeOfAFile() throws {
    let made = try announce(
      #"{"_filename":"a.png","_public":false,"size":10,"mimeType":"image/png","mine":1}"#
    ).expect(201)
    #expect(made.json["_acl"]?["creator"]?.stringValue == ana.id && made.json["mine"] == 1)
    #expect(made.json["_requiredHeaders"] == .object(JSONObject()))
    #expect(made.json["_expiresAt"]?.stringValue != nil && made.json["_bytes"] == nil)
    let upload = try path(made, "_uploadURL")
    let nothing = try send(upload, nil, range: "bytes */10").expect(308)
    #expect(nothing.headers["range"] == nil)
    let part = try send(upload, "0123", range: "bytes 0-3/10").expect(308)
    #expect(part.headers["range"] == "bytes=0-3")
    #expect(try send(upload, nil, range: "bytes */10").expect(308).headers["range"] == "bytes=0-3")
    try send(upload, "456789", range: "bytes 4-9/10").expect(201)
    try send(upload, nil, range: "bytes */10").expect(200)

    let id = try #require(made.json["_id"]?.stringValue)
    let found = try server.send(as: ana, "GET", "/blob/kid/\(id)?tls=true&ttl_in_seconds=60")
    #expect(found.json["_filename"] == "a.png" && found.json["_bytes"] == nil)
    // The default of `tls` is what the server has.
    #expect(found.json["_downloadURL"]?.stringValue?.hasPrefix("http") == true)
    let bytes = try read(try path(found, "_downloadURL")).expect(200)
    #expect(bytes.text == "0123456789" && bytes.headers["content-type"] == "image/png")
    #expect(bytes.headers["content-length"] == "10")
    #expect(bytes.headers["x-content-type-options"] == "nosniff")
    #expect(bytes.headers["content-disposition"] == "attachment; filename*=UTF-8''a.png")

    let removed = try server.send(as: ana, "DELETE", "/blob/kid/\(id)").expect(200)
    #expect(removed.json == ["count": 1])
    for method in ["GET", "DELETE"] {
      let gone = try server.send(as: ana, method, "/blob/kid/\(id)").expect(404)
      #expect(gone.error == "BlobNotFound")
    }
    try read(try path(found, "_downloadURL")).expect(404)
  }

  @Test("are found by queries, with the addresses of their bytes")
  func queries() throws {
    for name in ["c", "a", "b"] {
      try announce(#"{"_filename":"\#(name)","size":1}"#).expect(201)
    }
    let found = try server.send(
      as: ana, "GET",
      target(
        "/blob/kid/",
        [("query", #"{"size":1}"#), ("sort", #"{"_filename":1}"#), ("limit", "2")])
    ).expect(200)
    let files = try #require(found.json.arrayValue)
    #expect(files.map { $0["_filename"] } == ["a", "b"])
    #expect(files.allSatisfy { $0["_downloadURL"] != nil && $0["_bytes"] == nil })
  }

  @Test("are read in parts, and not again if they are known")
  func ranges() throws {
    let path = try file().path
    for (range, bytes) in [("0-3", "0123"), ("4-", "456789"), ("-2", "89"), ("8-99", "89")] {
      let answer = try read(path, [("Range", "bytes=\(range)")]).expect(206)
      #expect(answer.text == bytes)
    }
    let outside = try read(path, [("Range", "bytes=10-")]).expect(416)
    #expect(outside.headers["content-range"] == "bytes */10")
    for other in ["bytes=5-2", "bytes=0-1,3-4", "lines=1-2", "bytes=--1"] {
      #expect(try read(path, [("Range", other)]).expect(200).text == "0123456789")
    }
    let tag = try #require(try read(path, method: "HEAD").expect(200).headers["etag"])
    try read(path, [("If-None-Match", tag)]).expect(304)
    try read(path, [("Range", "bytes=0-1"), ("If-Range", tag)]).expect(206)
    try read(path, [("Range", "bytes=0-1"), ("If-Range", "\"other\"")]).expect(200)
  }

  @Test("are sent only as they were announced")
  func wrongBytes() throws {
    let made = try announce(#"{"size":4,"_filename":"x"}"#).expect(201)
    let upload = try path(made, "_uploadURL")
    for range in ["bytes 0-3/5", "bytes 0-4/4", "bytes 3-1/4", "bytes x", "bytes 0-1/4"] {
      #expect(try (400...413).contains(send(upload, "abcd", range: range).status))
    }
    try send(upload, "abcde").expect(400)
    // A gap is no part of a file.
    try send(upload, "cd", range: "bytes 2-3/4").expect(308)
    try send(upload, "abcd").expect(201)
    for size in ["-1", "\"1\"", "null", "4294967297"] {
      #expect(try (400...413).contains(announce("{\"size\":\(size)}").status))
    }
    try announce(#"{"size":1,"mimeType":"text/html\r\nX: 1"}"#).expect(400)
    let digest = String(repeating: "0", count: 64)
    let other = try announce(#"{"size":1,"sha256":"\#(digest)"}"#).expect(201)
    try send(try path(other, "_uploadURL"), "a").expect(400)
    let right = hexText(SHA256.hash("a".utf8))
    let good = try announce(#"{"size":1,"sha256":"\#(right)"}"#).expect(201)
    try send(try path(good, "_uploadURL"), "a").expect(201)
  }

  @Test("go on after a restart of the server from what it has")
  func restart() throws {
    let directory = TemporaryDirectory()
    let files = directory.path + "/files"
    var first: TestServer? = try TestServer(in: directory) { $0.files = files }
    let made = try #require(try first?.send(as: .master, "POST", "/blob/kid", body: #"{"size":4}"#))
    let upload = try path(made, "_uploadURL")
    let range = [("Content-Range", "bytes 0-1/4")]
    _ = try first?.send(as: .nobody, "PUT", upload, body: "ab", headers: range).expect(308)
    first?.stop()
    first = nil
    let second = try TestServer(in: directory) { $0.files = files }
    let asked = [("Content-Range", "bytes */4")]
    let answer = try second.send(as: .nobody, "PUT", upload, headers: asked).expect(308)
    #expect(answer.headers["range"] == "bytes=0-1")
    let rest = [("Content-Range", "bytes 2-3/4")]
    try second.send(as: .nobody, "PUT", upload, body: "cd", headers: rest).expect(201)
  }

  @Test("are for those whom their access lists name, and who have an address that is good")
  func access() throws {
    let (id, path) = try file(#","_acl":{"gr":false}"#)
    let eve = try server.user("eve")
    #expect(try server.send(as: eve, "GET", "/blob/kid/\(id)").status != 200)
    #expect(try server.send(as: eve, "DELETE", "/blob/kid/\(id)").status != 200)
    #expect(try announce(#"{"size":1}"#, as: eve, id: id).status >= 400)
    #expect(try server.send(as: eve, "GET", "/blob/kid").expect(200).json == [])
    try server.send(as: .nobody, "GET", "/blob/kid/\(id)").expect(401)
    #expect(try read(path).expect(200).text == "0123456789")
    let last = path.last == "A" ? "B" : "A"
    for other in [path.dropLast(5) + "AAAA" + last, path + "AAAA", "/blob/kid/_bytes/AAAA"] {
      try read(String(other)).expect(401)
    }
    // An address to read is none to write.
    try send(path, "0123456789").expect(401)
  }

  @Test("have names that lead nowhere else, and members that only the server writes")
  func hostileMembers() throws {
    let victim = try file().id
    try announce(#"{"size":3,"_bytes":"../x","_bytes":"../x"}"#).expect(400)
    let stolen = try announce(
      #"{"_id":"..%2f..%2fx","_bytes":"../../etc/passwd","_former":"../x","size":3,"#
        + #""_filename":"../\"\r\n<x>"}"#
    ).expect(201)
    #expect(stolen.json["_bytes"] == nil)
    try send(try path(stolen, "_uploadURL"), "abc").expect(201)
    let id = "..%252f..%252fx"
    let found = try server.send(as: ana, "GET", "/blob/kid/\(id)").expect(200)
    let bytes = try read(try path(found, "_downloadURL")).expect(200)
    #expect(bytes.text == "abc")
    #expect(
      bytes.headers["content-disposition"]
        == "attachment; filename*=UTF-8''..%2F%22%0D%0A%3Cx%3E")
    try server.send(as: ana, "GET", "/blob/kid/..").expect(404)
    try server.send(as: ana, "GET", "/appdata/kid/_files/\(victim)").expect(400)
  }

  @Test("that are replaced have their new bytes only")
  func replacement() throws {
    let (id, path) = try file()
    let again = try announce(#"{"size":3}"#, id: id).expect(200)
    try send(try self.path(again, "_uploadURL"), "new").expect(201)
    try read(path).expect(404)
    let found = try server.send(as: ana, "GET", "/blob/kid/\(id)").expect(200)
    #expect(try read(try self.path(found, "_downloadURL")).text == "new")
  }

  @Test("can be empty, and can be chosen an id by a user")
  func emptyFile() throws {
    let made = try announce(#"{"size":0}"#, id: "mine").expect(201)
    let upload = try path(made, "_uploadURL")
    try read(try path(server.send(as: ana, "GET", "/blob/kid/mine"), "_downloadURL")).expect(404)
    try send(upload, "").expect(201)
    try send(upload, nil, range: "bytes */0").expect(200)
    let found = try server.send(as: ana, "GET", "/blob/kid/mine").expect(200)
    #expect(try read(try path(found, "_downloadURL")).expect(200).body == [])
  }

  @Test("are not there on a server that has no directory for them")
  func noDirectory() throws {
    guard TestStorage.isPostgres else { return }
    let server = try TestServer()
    let answer = try server.send(as: .master, "POST", "/blob/kid", body: #"{"size":1}"#)
    #expect(answer.expect(403).error == "MissingConfiguration")
  }

  @Test("go on where a connection was cut")
  func cut() throws {
    let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) }
    let digest = hexText(SHA256.hash(bytes))
    let made = try announce(#"{"size":700000,"sha256":"\#(digest)"}"#).expect(201)
    let upload = try path(made, "_uploadURL")
    var connection: RawConnection? = try begin(upload, Array(bytes[..<600_000]), of: 700_000)
    #expect(connection != nil)
    // What is asked meanwhile finds that another request is at it.
    try send(upload, nil, range: "bytes */700000").expect(503)
    connection = nil
    var asked = try send(upload, nil, range: "bytes */700000")
    while asked.status == 503 { asked = try send(upload, nil, range: "bytes */700000") }
    let range = try #require(asked.expect(308).headers["range"])
    let received = try #require(Int(range.dropFirst("bytes=0-".count))) + 1
    #expect((256 << 10...600_000).contains(received))
    let rest = try server.client().send(
      "PUT", upload, headers: [("Content-Range", "bytes \(received)-699999/700000")],
      body: Array(bytes[received...]))
    #expect(rest?.status == 201)
    let id = try #require(made.json["_id"]?.stringValue)
    let found = try server.send(as: ana, "GET", "/blob/kid/\(id)").expect(200)
    #expect(try read(try path(found, "_downloadURL")).body == bytes)
  }

  @Test("are sent by one of two requests that race, and the other one is told")
  func race() throws {
    let upload = try path(try announce(#"{"size":300000}"#).expect(201), "_uploadURL")
    let first = try begin(upload, [UInt8](repeating: 1, count: 290_000), of: 300_000)
    let second = try server.client().send(
      "PUT", upload, body: [UInt8](repeating: 2, count: 300_000))
    #expect(second?.status == 503)
    first.send([UInt8](repeating: 1, count: 10_000))
    #expect(HTTPClient.receive(first)?.status == 201)
    try send(upload, nil, range: "bytes */300000").expect(200)
    #expect(stored.count == 1)
  }

  @Test("are not bound to the limits of other bodies")
  func large() throws {
    let directory = TemporaryDirectory()
    let files = directory.path + "/files"
    let server = try TestServer(in: directory) {
      $0.files = files
      $0.limits.bodyBytes = 64 << 10
      $0.limits.bodyMemory = 512 << 10
      $0.fileBytes = 3 << 20
    }
    try server.send(as: .master, "POST", "/blob/kid", body: #"{"size":3145729}"#).expect(413)
    let made = try server.send(as: .master, "POST", "/blob/kid", body: #"{"size":3145728}"#)
    let bytes = (0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 7 / 3) }
    let upload = try path(made.expect(201), "_uploadURL")
    let sent = try server.client().send("PUT", upload, body: bytes)
    #expect(sent?.status == 201, "\(sent?.text ?? "no answer")")
    let id = try #require(made.json["_id"]?.stringValue)
    let found = try server.send(as: .master, "GET", "/blob/kid/\(id)").expect(200)
    #expect(try server.client().send("GET", path(found, "_downloadURL"))?.body == bytes)
  }

  @Test("come in chunks, too, but not more than was announced")
  func chunks() throws {
    let upload = try path(try announce(#"{"size":6}"#).expect(201), "_uploadURL")
    for (chunks, status) in [("4\r\nabcd\r\n3\r\nefg\r\n", 413), ("4\r\nabcd\r\n2\r\nef\r\n", 201)]
    {
      let connection = try #require(RawConnection(port: server.port))
      connection.send(
        "PUT \(upload) HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n"
      )
      #expect(HTTPClient.receive(connection)?.status == status)
    }
  }

  @Test(
    "are read by those with whom their access lists share them, and by all while they are public")
  func sharing() throws {
    let eve = try server.user("eve")
    let shared = try file(#","_acl":{"r":["\#(eve.id)"]}"#)
    let found = try server.send(as: eve, "GET", "/blob/kid/\(shared.id)").expect(200)
    #expect(try read(try path(found, "_downloadURL")).text == "0123456789")
    #expect(found.json["_expiresAt"] != nil)
    try server.send(as: eve, "DELETE", "/blob/kid/\(shared.id)").expect(401)
    #expect(try read(shared.path).status == 200)

    let open = try file(#","_public":true"#)
    let asked = try server.send(as: ana, "GET", "/blob/kid/\(open.id)").expect(200)
    #expect(asked.json["_expiresAt"] == nil)
    #expect(try read(open.path).text == "0123456789")
    try announce(#"{"size":10,"_public":false}"#, id: open.id).expect(200)
    try read(open.path).expect(404)
  }

  @Test("are not for addresses that have ended, are for something else, or that others have sealed")
  func sealedAddresses() throws {
    let good = try file()
    let name = try #require(stored.first)
    let now = Timestamp.now().milliseconds / 1000
    let members: JSONObject = [
      "_bytes": .string(name), "_id": .string(good.id), "size": 10, "_filename": "x",
    ]
    let address = { (secret: String, app: String, kind: String, end: Int64) in
      "/blob/kid/_bytes/" + Seal(secret: secret, app: app).seal(kind, members, until: end)
    }
    try read(address("mas", "kid", "download", now + 60)).expect(200)
    try read(address("mas", "kid", "download", now - 1)).expect(401)
    try read(address("mas", "kid", "upload", now + 60)).expect(401)
    try read(address("other", "kid", "download", now + 60)).expect(401)
    try read(address("mas", "other", "download", now + 60)).expect(401)
    try send(address("mas", "kid", "upload", now + 60), "0123456789").expect(200)
    try send(address("mas", "kid", "upload", now - 1), "0123456789").expect(401)
    try send(address("mas", "kid", "download", now + 60), "0123456789").expect(401)
  }

  @Test("are gone with their bytes, and do not come back by an address that was given before")
  func removal() throws {
    let (id, path) = try file()
    let made = try announce(#"{"size":4}"#, id: "half").expect(201)
    let upload = try self.path(made, "_uploadURL")
    try send(upload, "ab", range: "bytes 0-1/4").expect(308)
    #expect(stored.count == 2)
    for id in [id, "half"] {
      try server.send(as: ana, "DELETE", "/blob/kid/\(id)").expect(200)
    }
    #expect(stored == [])
    try read(path).expect(404)
    try send(upload, "cd", range: "bytes 2-3/4").expect(404)
    try send(upload, "abcd").expect(404)
    try send(upload, nil, range: "bytes */4").expect(404)
    #expect(stored == [])
  }

  @Test("that are removed while they are sent are not kept")
  func removalMeanwhile() throws {
    let made = try announce(#"{"size":8}"#, id: "mine").expect(201)
    let connection = try begin(try path(made, "_uploadURL"), Array("abcd".utf8), of: 8)
    try server.send(as: ana, "DELETE", "/blob/kid/mine").expect(200)
    connection.send("efgh")
    #expect(HTTPClient.receive(connection)?.status == 404)
    #expect(stored == [])
  }

  @Test("can be read until the bytes that replace them have come, and only these are refused")
  func formerBytes() throws {
    let (id, old) = try file()
    // What is said about it can change without its bytes.
    try announce(#"{"size":3,"_filename":"new"}"#, id: id).expect(200)
    let again = try announce(#"{"size":3,"_filename":"new"}"#, id: id).expect(200)
    let upload = try path(again, "_uploadURL")
    try send(upload, "ne", range: "bytes 0-1/3").expect(308)
    let between = try server.send(as: ana, "GET", "/blob/kid/\(id)").expect(200)
    #expect(between.json["_former"] == nil && between.json["_filename"] == "new")
    #expect(try read(try path(between, "_downloadURL")).text == "0123456789")
    try send(upload, "w", range: "bytes 2-2/3").expect(201)
    try read(old).expect(404)
    let found = try server.send(as: ana, "GET", "/blob/kid/\(id)").expect(200)
    #expect(try read(try path(found, "_downloadURL")).text == "new")
    #expect(stored.count == 1)
  }

  @Test("have sizes that are numbers, and names of some length")
  func members() throws {
    for wrong in [
      #"{}"#, #"{"size":-1}"#, #"{"size":"1"}"#, #"{"size":null}"#, #"{"size":1.5}"#,
      #"{"size":1,"_public":1}"#, #"{"size":1,"_filename":1}"#, #"{"size":1,"mimeType":"text"}"#,
      #"{"size":1,"_filename":"\#(String(repeating: "x", count: 1025))"}"#,
      #"{"size":1,"sha256":"x"}"#,
    ] {
      try announce(wrong).expect(400)
    }
    let upload = try path(try announce(#"{"size":4}"#).expect(201), "_uploadURL")
    for range in [
      "bytes 0-3/*", "bytes 0-9223372036854775807/9223372036854775807", "bytes -1-3/4",
      "bytes 99999999999999999999-3/4", "bytes 0-3/4/4", "bytes 4-4/4", "bytes 0 - 3/4",
    ] {
      try send(upload, "abcd", range: range).expect(400)
    }
  }

  @Test("have addresses at the place that the server is told")
  func publicURL() throws {
    let directory = TemporaryDirectory()
    let files = directory.path + "/files"
    let server = try TestServer(in: directory) {
      $0.files = files
      $0.publicURL = "https://data.example/kv"
    }
    let made = try server.send(as: .master, "POST", "/blob/kid", body: #"{"size":1}"#)
    let address = made.expect(201).json["_uploadURL"]?.stringValue
    #expect(address?.hasPrefix("https://data.example/kv/blob/kid/_bytes/") == true)
  }

  @Test("leave nothing for ever: uploads that were given up, and bytes whose metadata is gone")
  func janitor() throws {
    let service = server.server.service
    let janitor = try #require(service.fileJanitor)
    let now = Timestamp.now().milliseconds / 1000
    let kept = try file()
    let lost = try file()
    let half = try path(try announce(#"{"size":4}"#).expect(201), "_uploadURL")
    try send(half, "ab", range: "bytes 0-1/4").expect(308)
    let app = try service.store.app("kid")
    _ = try service.store.entities.perform(
      .delete(id: lost.id, if: .none), in: .files(of: app), for: .principal(.master))

    #expect(try janitor.run(at: now + 3600) == (0, 0))
    #expect(stored.count == 3)
    #expect(try janitor.run(at: now + 2 * 86_400) == (0, 1))
    #expect(try janitor.run(at: now + 8 * 86_400) == (1, 0))
    #expect(stored.count == 1)
    #expect(try read(kept.path).text == "0123456789")
    try read(lost.path).expect(404)
  }

  @Test("stay where other data may name them")
  func foreignDirectory() throws {
    let other = FileDirectory.newName()
    try TextFile.write("another epoch\n", to: directory.path + "/files/epoch")
    let folder = directory.path + "/files/" + other.prefix(2)
    #expect(mkdir(folder, 0o700) == 0)
    try TextFile.write("x", to: folder + "/" + other)
    let now = Timestamp.now().milliseconds / 1000
    #expect(try server.server.service.fileJanitor?.run(at: now + 30 * 86_400).files == 0)
    #expect(stored.contains(other))
  }
}
