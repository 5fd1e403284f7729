internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

/// Kinvey's .NET SDK, 3 to 5: version 3 of the API, later 4, and 5 where an application asks for it.
@Suite("Requests of the .NET SDK") struct DotNetTests {
  private let server: TestServer

  init() throws { server = try TestServer() }

  private func conversation(_ version: Int) -> Conversation {
    Conversation(
      server,
      headers: """
        user-agent: xamarin-kinvey-http/4.3.2
        X-Kinvey-API-Version: \(version)
        X-Kinvey-Device-Info: {"hv":1,"md":"","os":"Windows","pv":".NET","ov":"","sdk":"4.3.2"}
        Content-Type: application/json; charset=utf-8
        """)
  }

  @Test("of users are answered as it expects", arguments: 3...5)
  func users(version: Int) throws {
    let net = conversation(version)
    // User.SignupAsync(): the path ends with a slash.
    try net.ask(
      "POST /user/kid/", .app, body: #"{"username":"ana","password":"pw","email":"ana@test.org"}"#,
      status: 201,
      answer:
        #"{"password":"pw","_id":"{id}","email":"ana@test.org","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","authtoken":"{token2}"}}"#)
    // User.LoginAsync() without a name: an implicit user, from a login without a body.
    try net.ask("POST /user/kid/", .app, status: 201)
    try net.ask(
      "POST /user/kid/login", .app, body: #"{"username":"ana","password":"pw"}"#, status: 200,
      answer: #"{"_id":"{id}","email":"ana@test.org","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    let user =
      #"{"_id":"{id}","email":"ana@test.org","username":"ana","_acl":{"creator":"{id}"},"#
      + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}"}}"#
    try net.ask("GET /user/kid/{id}", .session, status: 200, answer: user)
    try net.ask(
      "GET /user/kid/?query=%7B%22username%22%3A%22ana%22%7D&resolve=&resolve_depth=1", .session,
      status: 200, answer: "[\(user)]")
    // The user that an update gives becomes the active one.
    try net.ask(
      "PUT /user/kid/{id}", .session,
      body:
        #"{"_id":"{id}","username":"ana","_kmd":{"authtoken":"{token}","ect":"2020-01-01T00:00:00.000Z"},"#
        + #""_acl":{"creator":"{id}"},"email":"ana@test.org","age":7}"#,
      status: 200,
      answer:
        #"{"_id":"{id}","email":"ana@test.org","age":7,"username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    try net.ask(
      "POST /user/kid/_lookup", .session, body: #"{"username":"ana"}"#, status: 200,
      answer: #"[{"_id":"{id}","username":"ana","email":"ana@test.org"}]"#)
    try net.ask(
      "POST /rpc/kid/check-username-exists", .app, body: #"{"username":"ben"}"#, status: 200,
      answer: #"{"usernameExists":false}"#)
    try net.ask(
      "POST /rpc/kid/user-forgot-username", .app, body: #"{"email":"ana@test.org"}"#, status: 204)
    try net.ask("POST /rpc/kid/{id}/user-password-reset-initiate", .app, status: 204)
    // Users are named by their ids.
    try net.ask("POST /rpc/kid/{id}/user-email-verification-initiate", .app, status: 204)
    let verified = try net.ask("GET /user/kid/{id}", .session, status: 200)
    #expect(verified.json["_kmd"]?["emailVerification"]?["status"] == "sent")
    try net.ask("DELETE /user/kid/{id}?hard=True", .session, status: 204)
    try net.ask(
      "GET /user/kid/{id}", .master, status: 404,
      answer:
        #"{"error":"UserNotFound","description":"This user does not exist for this app backend.","debug":""}"#
    )
  }

  @Test("of data are answered as it expects", arguments: 3...5)
  func data(version: Int) throws {
    let net = conversation(version)
    try net.ask(
      "POST /user/kid/", .app, body: #"{"username":"ana","password":"pw"}"#, status: 201,
      answer: #"{"password":"pw","_id":"{id}","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","authtoken":"{token}"}}"#)
    let book =
      #"{"_id":"{id2}","title":"Emma","pages":3,"_acl":{"creator":"{id}"},"_kmd":{"ect":"{time}","lmt":"{time}"}}"#
    try net.ask(
      "POST /appdata/kid/books", .session, body: #"{"title":"Emma","pages":3}"#, status: 201,
      answer: book)
    try net.ask(
      "GET /appdata/kid/books?query=%7B%22title%22%3A%22Emma%22%7D&skip=0&limit=10", .session,
      status: 200,
      answer: "[\(book)]")
    try net.ask("GET /appdata/kid/books/{id2}", .session, status: 200, answer: book)
    try net.ask(
      "GET /appdata/kid/books/_count?query=%7B%22title%22%3A%22Emma%22%7D", .session, status: 200,
      answer: #"{"count":1}"#)
    try net.ask(
      "PUT /appdata/kid/books/{id2}", .session,
      body:
        #"{"_id":"{id2}","title":"Emma","pages":4,"_acl":{"creator":"{id}"},"_kmd":{"ect":"2020-01-01T00:00:00.000Z"}}"#,
      status: 200,
      answer:
        #"{"_id":"{id2}","title":"Emma","pages":4,"_acl":{"creator":"{id}"},"_kmd":{"ect":"{time}","lmt":"{time}"}}"#
    )
    let device = #"{"deviceId":"7b1c5d5e-0000-4000-8000-000000000001"}"#
    try net.ask(
      "POST /user/kid/{id}/register-realtime", .session, body: device, status: 200,
      answer:
        #"{"subscribeKey":"sub-c-{secret}","publishKey":"pub-c-{secret2}","userChannelGroup":"{secret3}"}"#
    )
    try net.ask(
      "POST /appdata/kid/books/_subscribe", .session, body: device, status: 200, answer: "{}")
    try net.ask("POST /user/kid/{id}/unregister-realtime", .session, body: device, status: 204)
    try net.ask(
      "DELETE /appdata/kid/books?query=%7B%22pages%22%3A4%7D", .session, status: 200,
      answer: #"{"count":1}"#)
    try net.ask("DELETE /appdata/kid/books/{id2}", .session, status: 404)
  }
}
