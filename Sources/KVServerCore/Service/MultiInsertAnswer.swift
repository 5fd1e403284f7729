internal import KVJSON

/// The answer to an insert of several entities: `{"entities":[…],"errors":[…]}`.
enum MultiInsertAnswer {
  static func response(
    _ results: [Result<WrittenEntity?, ServerError>]
  ) -> Response {
    let body = Payload(capacity: 4096)
    var errors: [JSONValue] = []
    body.append("{\"entities\":[")
    for (index, result) in results.enumerated() {
      if index > 0 { body.append(byte: UInt8(ascii: ",")) }
      switch result {
      case .success(let written): body.append(written?.body ?? Array("null".utf8))
      case .failure(let error):
        body.append("null")
        var object = error.json
        object.members.insert(.init("index", .int(Int64(index))), at: 0)
        errors.append(.object(object))
      }
    }
    body.append("],\"errors\":")
    body.append(JSONValue.array(errors).bytes)
    body.append("}")
    return Response.json(207, body)
  }
}
