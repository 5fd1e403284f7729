package import KVJSON

/// Responses in JSON.
extension Response {
  package static func json(_ status: Int, _ value: JSONValue) -> Response {
    json(status, Payload(value.bytes))
  }

  package static func json(_ status: Int, _ body: Payload) -> Response {
    Response(status, .whole(body), headers: [contentType])
  }

  package static func json(_ status: Int, _ bytes: [UInt8]) -> Response {
    json(status, Payload(bytes))
  }

  private static let contentType = (name: "Content-Type", value: "application/json; charset=utf-8")
}
