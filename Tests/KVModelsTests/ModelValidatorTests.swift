import KVBase
import KVJSON
import KVModels
import Testing

@Suite("Records of a model") struct ModelValidatorTests {
  private func validator() throws -> ModelValidator {
    let schema = try ModelSchema(
      sdl: """
        type Post @model {
          id: ID!
          title: String!
          rating: Int
          score: Float
          isOpen: Boolean
          day: AWSDate
          hour: AWSTime
          at: AWSDateTime
          seen: AWSTimestamp
          kind: Kind
          tags: [String!]
          parts: [Part]
          note: String! @default(value: "none")
          comments: [Comment] @hasMany
          author: Author @belongsTo
        }
        type Comment @model { id: ID! }
        type Author @model { id: ID! }
        type Part { size: Float! inner: Part }
        enum Kind { NEWS STORY }
        """)
    return ModelValidator(try #require(schema.model("Post")), in: schema)
  }

  private func record(_ text: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: text).objectValue)
  }

  @Test(
    "are taken with any values of their fields' types",
    arguments: [
      #"{"title":"a"}"#,
      #"{"id":"1","title":"a","_version":3,"_deleted":null,"createdAt":"2026-11-22T12:30:00Z"}"#,
      #"{"title":"a","rating":2147483647,"score":1,"isOpen":false,"kind":"NEWS","tags":["x"]}"#,
      #"{"title":"a","rating":3.0,"score":0.5,"seen":1700000000,"tags":[],"parts":[null]}"#,
      #"{"title":"a","day":"2026-11-22","hour":"12:30","at":"2026-11-22T12:30Z"}"#,
      #"{"title":"a","day":"2026-11-22+01:00","hour":"12:30:01.123Z","at":"2026-11-22T12:30:00.123456-05:30:15"}"#,
      #"{"title":"a","parts":[{"size":1,"inner":{"size":2,"inner":null}}],"postAuthorId":"7"}"#,
      #"{"title":"a","rating":null,"parts":null,"note":"b"}"#,
      #"{ "t\u0069tle" : "a" , "k\u0069nd" : "NEW\u0053" }"#,
    ])
  func accepted(text: String) throws {
    let completed = try validator().completed(Array(text.utf8))
    #expect(try record(String(decoding: completed, as: UTF8.self))["note"] != nil)
    #expect(try validator().completed(completed) == completed)
  }

  @Test(
    "are refused with the field that is wrong",
    arguments: [
      (#"{}"#, "title", "is required"), (#"{"title":null}"#, "title", "is required"),
      (#"{"title":1}"#, "title", "a string"), (#"[]"#, "", "an object"),
      (#"{"title":"a","note":null}"#, "note", "is required"),
      (#"{"title":"a","rating":2147483648}"#, "rating", "32 bits"),
      (#"{"title":"a","rating":1.5}"#, "rating", "32 bits"),
      (#"{"title":"a","rating":"1"}"#, "rating", "32 bits"),
      (#"{"title":"a","isOpen":1}"#, "isOpen", "true or false"),
      (#"{"title":"a","day":"2026-13-01"}"#, "day", "a date"),
      (#"{"title":"a","hour":"24:00"}"#, "hour", "a time"),
      (#"{"title":"a","at":"2026-11-22T12:30"}"#, "at", "a date and time"),
      (#"{"title":"a","at":"2026-11-22T12:30Zx"}"#, "at", "a date and time"),
      (#"{"title":"a","kind":"OTHER"}"#, "kind", "a value of Kind"),
      (#"{"title":"a","tags":"x"}"#, "tags", "an array"),
      (#"{"title":"a","tags":["x",null]}"#, "tags[1]", "null"),
      (#"{"title":"a","parts":[{"size":1},{"size":"2"}]}"#, "parts[1].size", "a number"),
      (#"{"title":"a","parts":[{}]}"#, "parts[0].size", "is required"),
      (#"{"title":"a","parts":[{"size":1,"_version":1}]}"#, "parts[0]._version", "no field"),
      (#"{"title":"a","other":1}"#, "other", "Post has no field other"),
      (#"{"title":"a","author":{"id":"7"}}"#, "author", "its key is postAuthorId"),
      (#"{"title":"a","comments":[]}"#, "comments", "the Comment holds its key"),
    ])
  func refused(text: String, path: String, message: String) throws {
    let validator = try validator()
    let error = try #require(throws: ModelError.self) {
      try validator.completed(Array(text.utf8))
    }
    #expect(error.path == path)
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test("get what fields have by default, also where they have nothing else") func defaults() throws
  {
    let schema = try ModelSchema(
      sdl:
        #"type Flag @model { id: ID! name: String @default(value: "a") n: Int @default(value: "1") }"#
    )
    let validator = ModelValidator(try #require(schema.model("Flag")), in: schema)
    for (record, completed) in [
      ("{}", #"{"name":"a","n":1}"#), ("{ }", #"{ "name":"a","n":1}"#),
      (#"{"n":null}"#, #"{"n":null,"name":"a"}"#), (#"{"n":2,"name":""}"#, #"{"n":2,"name":""}"#),
    ] {
      #expect(
        try String(decoding: validator.completed(Array(record.utf8)), as: UTF8.self) == completed)
    }
  }

  @Test("have the id, the version and the backend's members of their model")
  func format() throws {
    let schema = try ModelSchema(
      sdl: """
        type Order @model @key(name: "byDay", fields: ["day", "number"]) {
          tenant: ID! @primaryKey(sortKeyFields: ["number"]) number: Int! day: AWSDate
          customer: Customer! @belongsTo
        }
        type Customer @model { id: ID! }
        """)
    let format = try #require(schema.model("Order")).recordFormat
    #expect(format.id == [.init("tenant"), .init("number", .integer)])
    #expect(format.version == ["_version"] && format.versionOrder == .integer)
    for name in [
      "tenant", "number", "_version", "_deleted", "_lastChangedAt", "createdAt", "updatedAt",
    ] {
      #expect(format.isReserved(name), "\(name)")
    }
    #expect(!format.isReserved("day"))
    #expect(
      schema.model("Order")?.servedIndexes.map(\.fields) == [
        ["day", "number"], ["orderCustomerId"],
      ])
    #expect(schema.model("Customer")?.recordFormat.hasTextID == true)
  }
}
