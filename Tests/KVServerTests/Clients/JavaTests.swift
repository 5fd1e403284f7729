import Testing

@testable import KVServer
@testable import KVServerCore

/// Kinvey's Java and Android SDKs, 3 to 4: version 3 of the API, later 4 and 5. Google's HTTP library writes the names
/// of headers in lower case.
@Suite("Requests of the Java SDK") struct JavaTests {
  private let server: TestServer

  init() throws { server = try TestServer() }

  private func conversation(_ version: Int) -> Conversation {
    Conversation(
      server,
      headers: """
        accept-encoding: gzip
        content-type: application/json; charset=UTF-8
        user-agent: android-kinvey-http/4.4.0
        x-kinvey-api-version: \(version)
        x-kinvey-device-info: {"hv":1,"md":"Pixel","os":"Android","ov":"9","sdk":"Android","pv":"4.4.0","id":"a1b2"}
        Connection: close
        """)
  }

  @Test("of users are answered as it expects", arguments: 3...5)
  func users(version: Int) throws {
    let java = conversation(version)
    // An implicit user: an object without members, a path with a slash at its end.
    try java.ask(
      "POST /user/kid/", .app, body: "{}", status: 201,
      answer: #"{"password":"{secret}","_id":"{id}","username":"{uuid}","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","authtoken":"{token2}"}}"#)
    try java.ask(
      "POST /user/kid/login", .app, body: #"{"username":"{uuid}","password":"{secret}"}"#,
      status: 200,
      answer: #"{"_id":"{id}","username":"{uuid}","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    try java.ask(
      "PUT /user/kid/{id}", .session,
      body:
        #"{"_acl":{"creator":"{id}"},"_id":"{id}","_kmd":{"authtoken":"{token}","lmt":"2020-01-01T00:00:00.000Z"},"#
        + #""email":"ana@test.org","username":"ana"}"#,
      status: 200,
      answer: #"{"_id":"{id}","email":"ana@test.org","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    let user =
      #"{"_id":"{id}","email":"ana@test.org","username":"ana","_acl":{"creator":"{id}"},"#
      + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}"}}"#
    try java.ask("GET /user/kid/{id}", .session, status: 200, answer: user)
    try java.ask(
      "GET /user/kid/?query=%7B%22username%22:%22ana%22%7D", .session, status: 200,
      answer: "[\(user)]")
    try java.ask(
      "POST /user/kid/_lookup", .session, body: #"{"username":"ana"}"#, status: 200,
      answer: #"[{"_id":"{id}","username":"ana","email":"ana@test.org"}]"#)
    try java.ask(
      "POST /rpc/kid/check-username-exists", .app, body: #"{"username":"ana"}"#, status: 200,
      answer: #"{"usernameExists":true}"#)
    try java.ask("POST /rpc/kid/ana/user-password-reset-initiate", .app, status: 204)
    try java.ask("POST /rpc/kid/{id}/user-email-verification-initiate", .app, status: 204)
    try java.ask(
      "POST /rpc/kid/user-forgot-username", .app, body: #"{"email":"ana@test.org"}"#, status: 204)
    try java.ask("POST /user/kid/_logout", .session, status: 204)
    try java.ask(
      "GET /user/kid/unexistUser", .master, status: 404,
      answer:
        #"{"error":"UserNotFound","description":"This user does not exist for this app backend.","debug":""}"#
    )
    try java.ask("DELETE /user/kid/{id}?hard=true", .master, status: 204)
  }

  @Test("of data are answered as it expects", arguments: 3...5)
  func data(version: Int) throws {
    let java = conversation(version)
    try java.ask(
      "POST /user/kid/", .app, body: #"{"username":"ana","password":"pw"}"#, status: 201,
      answer: #"{"password":"pw","_id":"{id}","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","authtoken":"{token}"}}"#)
    let book =
      #"{"_id":"{id2}","title":"Emma","pages":3,"_acl":{"creator":"{id}"},"_kmd":{"ect":"{time}","lmt":"{time}"}}"#
    try java.ask(
      "POST /appdata/kid/books", .session, body: #"{"title":"Emma","pages":3}"#, status: 201,
      answer: book)
    let found = try java.ask(
      "GET /appdata/kid/books/?query=%7B%22title%22:%22Emma%22%7D&limit=10&skip=0", .session,
      headers: "x-kinvey-include-items-count: true", status: 200, answer: "[\(book)]")
    java.expect(found, header: "x-kinvey-items-count", is: "1")
    try java.ask("GET /appdata/kid/books/{id2}", .session, status: 200, answer: book)
    try java.ask(
      "GET /appdata/kid/books/_count?query=%7B%7D", .session, status: 200, answer: #"{"count":1}"#)
    try java.ask(
      "PUT /appdata/kid/books/{id2}", .session,
      body:
        #"{"_id":"{id2}","pages":4,"title":"Emma","_acl":{"creator":"{id}"},"_kmd":{"ect":"2020-01-01T00:00:00.000Z"}}"#,
      status: 200,
      answer:
        #"{"_id":"{id2}","pages":4,"title":"Emma","_acl":{"creator":"{id}"},"_kmd":{"ect":"{time}","lmt":"{time}"}}"#
    )
    let device = #"{"deviceId":"7b1c5d5e-0000-4000-8000-000000000001"}"#
    try java.ask(
      "POST /user/kid/{id}/register-realtime", .session, body: device, status: 200,
      answer:
        #"{"subscribeKey":"sub-c-{secret}","publishKey":"pub-c-{secret2}","userChannelGroup":"{secret3}"}"#
    )
    try java.ask(
      "POST /appdata/kid/books/_subscribe", .session, body: device, status: 200, answer: "{}")
    try java.ask("POST /user/kid/{id}/unregister-realtime", .session, body: device, status: 204)
    try java.ask("DELETE /appdata/kid/books/{id2}", .session, status: 200, answer: #"{"count":1}"#)
    try java.ask(
      "DELETE /appdata/kid/books/?query=%7B%7D", .session, status: 200, answer: #"{"count":0}"#)
  }
}
