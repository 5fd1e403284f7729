import Testing

@testable import KVServer
@testable import KVServerCore

/// Kinvey's Swift SDK, 3 to 6: version 4 of the API, later 5, and 2 for deleting users whatever else it speaks.
@Suite("Requests of the iOS SDK") struct IOSTests {
  private let server: TestServer

  init() throws { server = try TestServer() }

  private func conversation(_ version: Int) -> Conversation {
    Conversation(
      server,
      headers: """
        Accept: */*
        Accept-Encoding: gzip;q=1.0, compress;q=0.5
        Accept-Language: en;q=1.0
        Content-Type: application/json
        User-Agent: App/1.0 (iPhone; iOS 12.0; Scale/3.00) KinveySDK/3.28.0
        X-Kinvey-API-Version: \(version)
        X-Kinvey-Device-Info: {"hv":1,"md":"iPhone10,3","os":"iOS","ov":"12.0","sdk":"Swift","pv":"3.28.0"}
        X-Kinvey-Request-Id: 5D2D0C4E-4C5B-4E44-9E1B-2C3F4A5B6C7D
        """)
  }

  /// The API versions that its releases speak.
  private static let versions = [3, 4, 5]

  @Test("of users are answered as it expects", arguments: versions)
  func users(version: Int) throws {
    let ios = conversation(version)
    // User.signup(username:password:user:) with nothing, and login with what came back.
    let created = try ios.ask(
      "POST /user/kid", .app, body: "{}", status: 201,
      answer: #"{"password":"{secret}","_id":"{id}","username":"{uuid}","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","authtoken":"{token2}"}}"#)
    ios.expect(created, header: "x-kinvey-request-id", is: "5D2D0C4E-4C5B-4E44-9E1B-2C3F4A5B6C7D")
    ios.expect(created, header: "x-kinvey-api-version", is: "\(version)")
    try ios.ask(
      "POST /user/kid/login", .app, body: #"{"password":"{secret}","username":"{uuid}"}"#,
      status: 200,
      answer: #"{"_id":"{id}","username":"{uuid}","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    // user.save(newPassword:)
    try ios.ask(
      "PUT /user/kid/{id}", .session,
      body:
        #"{"email":"ana@test.org","username":"ana","_acl":{"creator":"{id}"},"_kmd":{"lmt":"2020-01-01T00:00:00.000Z","#
        + #""ect":"2020-01-01T00:00:00.000Z","authtoken":"{token}"},"_id":"{id}","password":"new"}"#,
      status: 200,
      answer: #"{"_id":"{id}","email":"ana@test.org","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    let user =
      #"{"_id":"{id}","email":"ana@test.org","username":"ana","_acl":{"creator":"{id}"},"#
      + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}"}}"#
    try ios.ask("GET /user/kid/_me", .session, status: 200, answer: user)
    try ios.ask("GET /user/kid/{id}", .session, status: 200, answer: user)
    try ios.ask(
      "GET /user/kid?query=%7B%22username%22:%22ana%22%7D", .session, status: 200,
      answer: "[\(user)]")
    try ios.ask(
      "POST /user/kid/_lookup", .session, body: #"{"username":"ana"}"#, status: 200,
      answer: #"[{"_id":"{id}","username":"ana","email":"ana@test.org"}]"#)
    try ios.ask(
      "POST /rpc/kid/check-username-exists", .app, body: #"{"username":"ana"}"#, status: 200,
      answer: #"{"usernameExists":true}"#)
    try ios.ask("POST /rpc/kid/ana/user-email-verification-initiate", .session, status: 204)
    try ios.ask("POST /rpc/kid/ana@test.org/user-password-reset-initiate", .app, status: 204)
    try ios.ask(
      "POST /rpc/kid/user-forgot-username", .app, body: #"{"email":"ana@test.org"}"#, status: 204)
    try ios.ask("POST /user/kid/_logout", .session, status: 204)
    try ios.ask(
      "GET /user/kid/_me", .session, status: 401,
      answer:
        #"{"error":"InvalidCredentials","description":"Invalid credentials. Please retry your request with correct credentials.","debug":"the session is unknown or has ended"}"#
    )
  }

  @Test("to delete a user say version 2, and are carried out", arguments: ["", "?hard=true"])
  func delete(how: String) throws {
    let ios = conversation(2)
    try ios.ask(
      "POST /user/kid", .app, body: #"{"username":"ana","password":"pw"}"#, status: 201,
      answer: #"{"password":"pw","_id":"{id}","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","authtoken":"{token}"}}"#)
    try ios.ask("DELETE /user/kid/{id}\(how)", .session, status: 204)
    let error = how.isEmpty ? 409 : 201
    try ios.ask("POST /user/kid", .app, body: #"{"username":"ana","password":"pw"}"#, status: error)
  }

  @Test("of data are answered as it expects", arguments: versions)
  func data(version: Int) throws {
    let ios = conversation(version)
    try ios.ask(
      "POST /user/kid", .app, body: #"{"username":"ana","password":"pw"}"#, status: 201,
      answer: #"{"password":"pw","_id":"{id}","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","authtoken":"{token}"}}"#)
    let book =
      #"{"_id":"{id2}","title":"Emma","pages":3,"_acl":{"creator":"{id}"},"_kmd":{"ect":"{time}","lmt":"{time}"}}"#
    try ios.ask(
      "POST /appdata/kid/books", .session, body: #"{"title":"Emma","pages":3}"#, status: 201,
      answer: book)
    // Queries come after a slash.
    try ios.ask(
      "GET /appdata/kid/books/?query=%7B%22title%22:%22Emma%22%7D&sort=%7B%22pages%22:1%7D&fields=title,pages",
      .session, status: 200, answer: "[\(book)]")
    try ios.ask("GET /appdata/kid/books/", .session, status: 200, answer: "[\(book)]")
    try ios.ask("GET /appdata/kid/books/_count", .session, status: 200, answer: #"{"count":1}"#)
    try ios.ask(
      "PUT /appdata/kid/books/{id2}", .session,
      body:
        #"{"_id":"{id2}","title":"Emma","pages":4,"_acl":{"creator":"{id}"},"_kmd":{"lmt":"2020-01-01T00:00:00.000Z"}}"#,
      status: 200,
      answer:
        #"{"_id":"{id2}","title":"Emma","pages":4,"_acl":{"creator":"{id}"},"_kmd":{"ect":"{time}","lmt":"{time}"}}"#
    )
    let device = #"{"deviceId":"7B1C5D5E-0000-4000-8000-000000000001"}"#
    try ios.ask(
      "POST /user/kid/{id}/register-realtime", .session, body: device, status: 200,
      answer:
        #"{"subscribeKey":"sub-c-{secret}","publishKey":"pub-c-{secret2}","userChannelGroup":"{secret3}"}"#
    )
    try ios.ask(
      "POST /appdata/kid/books/_subscribe", .session, body: device, status: 200, answer: "{}")
    try ios.ask("POST /appdata/kid/books/_unsubscribe", .session, body: device, status: 204)
    try ios.ask("POST /user/kid/{id}/unregister-realtime", .session, body: device, status: 204)
    try ios.ask("DELETE /appdata/kid/books/{id2}", .session, status: 200, answer: #"{"count":1}"#)
    try ios.ask(
      "DELETE /appdata/kid/books/?query=%7B%7D", .session, status: 200, answer: #"{"count":0}"#)
  }
}
