internal import KVJSON

/// The answer to an insert of several entities: `{"entities":[…],"errors":[…]}`.
enum MultiInsertAnswer {
  static func response(
    _ results: [Result<WrittenEntity?, ServerError>]
  ) -> Response {
    var entities: [[UInt8]] = []
    var errors: [JSONValue] = []
    for (index, result) in results.enumerated() {
      switch result {
      case .success(let written): entities.append(written?.body ?? JSONValue.null.bytes)
      case .failure(let error):
        entities.append(JSONValue.null.bytes)
        var object = error.json
        object.members.insert(.init("index", .int(Int64(index))), at: 0)
        errors.append(.object(object))
      }
    }
    var answer = JSONObjectWriter()
    answer.add("entities", json: entities.jsonArray)
    answer.add("errors", .array(errors))
    return Response.json(207, answer.finish())
  }
}
