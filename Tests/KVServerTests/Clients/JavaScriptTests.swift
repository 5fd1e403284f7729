import Testing

@testable import KVServer
@testable import KVServerCore

/// kinvey-js-sdk 3 to 8, whose applications choose the version of the API.
@Suite("Requests of the JavaScript SDK") struct JavaScriptTests {
  private let server: TestServer

  init() throws { server = try TestServer() }

  private func conversation(_ version: Int) -> Conversation {
    Conversation(
      server,
      headers: """
        Accept: application/json; charset=utf-8
        Content-Type: application/json; charset=utf-8
        X-Kinvey-Api-Version: \(version)
        """)
  }

  @Test("of users are answered as it expects", arguments: 3...6)
  func users(version: Int) throws {
    let js = conversation(version)
    let token = version < 6 ? #","authtoken":"{token2}""# : ""
    try js.ask(
      "GET /appdata/kid", .app, status: 200,
      answer:
        #"{"version":"\#(Version.text)","kinvey":"hello kid","appName":"kvstored","environmentName":"kid"}"#
    )
    try js.ask(
      "POST /rpc/kid/check-username-exists", .app, body: #"{"username":"ana"}"#, status: 200,
      answer: #"{"usernameExists":false}"#)
    // Kinvey.User.signup()
    let created = try js.ask(
      "POST /user/kid", .app, status: 201,
      answer: #"{"password":"{secret}","_id":"{id}","username":"{uuid}","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}"\#(token)}}"#)
    js.expect(created, header: "location", is: "/user/kid/{id}")
    try js.ask(
      "POST /user/kid/login", .app, body: #"{"username":"{uuid}","password":"{secret}"}"#,
      status: 200,
      answer: #"{"_id":"{id}","username":"{uuid}","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    try js.ask(
      "GET /user/kid/_me", .session, status: 200,
      answer: #"{"_id":"{id}","username":"{uuid}","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}"}}"#)
    // User.update() sends what it has, and keeps the answer as its session.
    try js.ask(
      "PUT /user/kid/{id}", .session,
      body: #"{"_id":"{id}","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"2020-01-01T00:00:00.000Z","authtoken":"{token}"},"#
        + #""email":"ana@test.org","password":"new"}"#,
      status: 200,
      answer: #"{"_id":"{id}","email":"ana@test.org","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    try js.ask(
      "POST /user/kid/_lookup", .session, body: #"{"email":"ana@test.org"}"#, status: 200,
      answer: #"[{"_id":"{id}","username":"ana","email":"ana@test.org"}]"#)
    try js.ask("POST /rpc/kid/ana/user-email-verification-initiate", .app, status: 204)
    try js.ask(
      "GET /user/kid/_me", .session, status: 200,
      answer: #"{"_id":"{id}","email":"ana@test.org","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","emailVerification":"#
        + #"{"status":"sent","lastStateChangeAt":"{time}","emailAddress":"ana@test.org"}}}"#)
    try js.ask("POST /rpc/kid/ana/user-password-reset-initiate", .app, status: 204)
    try js.ask(
      "POST /rpc/kid/user-forgot-username", .app, body: #"{"email":"ana@test.org"}"#, status: 204)
    try js.ask(
      "POST /user/kid/login", .app, body: #"{"username":"ana","password":"old"}"#, status: 401,
      answer:
        #"{"error":"InvalidCredentials","description":"Invalid credentials. Please retry your request with correct credentials.","debug":""}"#
    )
    try js.ask("POST /user/kid/_logout", .session, status: 204)
    try js.ask(
      "GET /user/kid/_me", .session, status: 401,
      answer:
        #"{"error":"InvalidCredentials","description":"Invalid credentials. Please retry your request with correct credentials.","debug":"the session is unknown or has ended"}"#
    )
    try js.ask("DELETE /user/kid/{id}?hard=true", .master, status: 204)
    try js.ask(
      "DELETE /user/kid/{id}", .master, status: 404,
      answer:
        #"{"error":"UserNotFound","description":"This user does not exist for this app backend.","debug":""}"#
    )
  }

  @Test("with a name and a password sign up, and tell what was given", arguments: 3...6)
  func signUp(version: Int) throws {
    let js = conversation(version)
    let token = version < 6 ? #","authtoken":"{token}""# : ""
    try js.ask(
      "POST /user/kid", .app,
      body: #"{"username":"ana","password":"pw","email":"a@test.org","age":7}"#,
      status: 201,
      answer:
        #"{"password":"pw","_id":"{id}","email":"a@test.org","age":7,"username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}"\#(token)}}"#)
    // A password of null is made up.
    try js.ask(
      "POST /user/kid", .app, body: #"{"username":"ben","password":null}"#, status: 201,
      answer: #"{"password":"{secret}","_id":"{id2}","username":"ben","_acl":{"creator":"{id2}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}"\#(version < 6 ? #","authtoken":"{token2}""# : "")}}"#
    )
    try js.ask(
      "POST /user/kid", .app, body: #"{"username":"ana","password":"pw"}"#, status: 409,
      answer:
        #"{"error":"UserAlreadyExists","description":"This user name is taken. Choose another.","debug":""}"#
    )
  }

  @Test("of data are answered as it expects", arguments: 3...6)
  func data(version: Int) throws {
    let js = conversation(version)
    try js.ask("POST /user/kid", .app, body: #"{"username":"ana","password":"pw"}"#, status: 201)
    let login = try js.ask(
      "POST /user/kid/login", .app, body: #"{"username":"ana","password":"pw"}"#, status: 200,
      answer: #"{"_id":"{id}","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    #expect(login.headers["content-type"] == "application/json; charset=utf-8")
    let book =
      #"{"_id":"{id2}","title":"Emma","pages":3,"_acl":{"creator":"{id}"},"_kmd":{"ect":"{time}","lmt":"{time}"}}"#
    let created = try js.ask(
      "POST /appdata/kid/books", .session, body: #"{"title":"Emma","pages":3}"#, status: 201,
      answer: book)
    js.expect(created, header: "location", is: "/appdata/kid/books/{id2}")
    try js.ask(
      "GET /appdata/kid/books?query=%7B%22title%22%3A%22Emma%22%7D&sort=%7B%22pages%22%3A-1%7D&limit=20",
      .session, status: 200, answer: "[\(book)]")
    try js.ask("GET /appdata/kid/books", .session, status: 200, answer: "[\(book)]")
    try js.ask("GET /appdata/kid/books/{id2}", .session, status: 200, answer: book)
    try js.ask(
      "GET /appdata/kid/books/_count?query=%7B%22pages%22%3A%7B%22%24gt%22%3A2%7D%7D", .session,
      status: 200,
      answer: #"{"count":1}"#)
    try js.ask(
      "PUT /appdata/kid/books/{id2}", .session,
      body:
        #"{"_id":"{id2}","title":"Emma","pages":4,"_acl":{"creator":"{id}"},"_kmd":{"ect":"2020-01-01T00:00:00.000Z"}}"#,
      status: 200,
      answer:
        #"{"_id":"{id2}","title":"Emma","pages":4,"_acl":{"creator":"{id}"},"_kmd":{"ect":"{time}","lmt":"{time}"}}"#
    )
    try insertMany(js, version)
    try js.ask("DELETE /appdata/kid/books/{id2}", .session, status: 200, answer: #"{"count":1}"#)
    try js.ask(
      "DELETE /appdata/kid/books/{id2}", .session, status: 404,
      answer:
        #"{"error":"EntityNotFound","description":"There is no such entity in this collection.","debug":""}"#
    )
    try js.ask(
      "DELETE /appdata/kid/books?query=%7B%7D", .session, status: 200,
      answer: "{\"count\":\(version < 5 ? 0 : 2)}")
    try js.ask(
      "POST /rpc/kid/custom/mine", .session, body: #"{"a":1}"#, status: 404,
      answer:
        #"{"error":"EndpointDoesNotExist","description":"The custom endpoint you tried to access does not exist. Please configure custom Business Logic endpoints through the Kinvey Console.","debug":""}"#
    )
  }

  private func insertMany(_ js: Conversation, _ version: Int) throws {
    let body = #"[{"title":"Persuasion"},{"title":"Sanditon"}]"#
    guard version >= 5 else {
      try js.ask(
        "POST /appdata/kid/books", .session, body: body, status: 400,
        answer:
          #"{"error":"FeatureUnavailable","description":"This feature is not available with this request or server.","debug":"inserting several entities needs X-Kinvey-API-Version 5 or later"}"#
      )
      return
    }
    let rest = #""_acl":{"creator":"{id}"},"_kmd":{"ect":"{time}","lmt":"{time}"}}"#
    try js.ask(
      "POST /appdata/kid/books", .session, body: body, status: 207,
      answer:
        #"{"entities":[{"_id":"{id3}","title":"Persuasion",\#(rest),{"_id":"{id4}","title":"Sanditon",\#(rest)],"errors":[]}"#
    )
  }

  @Test("of changes since a moment are answered as it expects", arguments: 3...6)
  func deltaSet(version: Int) throws {
    let js = conversation(version)
    try js.ask("POST /user/kid", .app, body: #"{"username":"ana","password":"pw"}"#, status: 201)
    try js.ask(
      "POST /user/kid/login", .app, body: #"{"username":"ana","password":"pw"}"#, status: 200,
      answer: #"{"_id":"{id}","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    let since = "GET /appdata/kid/books/_deltaset?since="
    try js.ask(
      since + "2024-03-12T21%3A00%3A00.000Z", .session, status: 403,
      answer:
        #"{"error":"MissingConfiguration","description":"This feature is not configured for this app or collection.","debug":"the collection keeps no history"}"#
    )
    try js.ask("PUT /appdata/kid/books/_history", .master, body: #"{"enabled":true}"#, status: 200)
    let first = try js.ask("GET /appdata/kid/books", .session, status: 200, answer: "[]")
    let start = try #require(first.headers["x-kinvey-request-start"])
    let book =
      #"{"_id":"{id2}","title":"Emma","_acl":{"creator":"{id}"},"_kmd":{"ect":"{time}","lmt":"{time}"}}"#
    try js.ask(
      "POST /appdata/kid/books", .session, body: #"{"title":"Emma"}"#, status: 201, answer: book)
    let escaped = start.split(separator: ":").joined(separator: "%3A")
    try js.ask(
      since + escaped, .session, status: 200, answer: #"{"changed":[\#(book)],"deleted":[]}"#)
    try js.ask("DELETE /appdata/kid/books/{id2}", .session, status: 200, answer: #"{"count":1}"#)
    try js.ask(
      since + escaped, .session, status: 200, answer: #"{"changed":[],"deleted":[{"_id":"{id2}"}]}"#
    )
  }

  @Test("of live data and of cleaning up are answered as it expects", arguments: 3...6)
  func liveAndCleaning(version: Int) throws {
    let js = conversation(version)
    try js.ask("POST /user/kid", .app, body: #"{"username":"ana","password":"pw"}"#, status: 201)
    try js.ask(
      "POST /user/kid/login", .app, body: #"{"username":"ana","password":"pw"}"#, status: 200,
      answer: #"{"_id":"{id}","username":"ana","_acl":{"creator":"{id}"},"#
        + #""_kmd":{"ect":"{time}","lmt":"{time}","llt":"{time}","authtoken":"{token}"}}"#)
    let device = #"{"deviceId":"7b1c5d5e-0000-4000-8000-000000000001"}"#
    try js.ask(
      "POST /user/kid/{id}/register-realtime", .session, body: device, status: 200,
      answer:
        #"{"subscribeKey":"sub-c-{secret}","publishKey":"pub-c-{secret2}","userChannelGroup":"{secret3}"}"#
    )
    try js.ask(
      "POST /appdata/kid/books/_subscribe", .session, body: device, status: 200, answer: "{}")
    try js.ask("POST /appdata/kid/books/_unsubscribe", .session, body: device, status: 204)
    try js.ask("POST /user/kid/{id}/unregister-realtime", .session, body: device, status: 204)
    try js.ask("POST /appdata/kid/books", .session, body: #"{"title":"Emma"}"#, status: 201)
    for (name, count) in [("books", 1), ("user", 1)] {
      try js.ask(
        "POST /rpc/kid/remove-collection", .master, body: "{\"collectionName\":\"\(name)\"}",
        headers: """
          X-Kinvey-Delete-Entire-Collection: true
          X-Kinvey-Retain-collection-Metadata: true
          """, status: 200, answer: "{\"count\":\(count)}")
    }
  }
}
