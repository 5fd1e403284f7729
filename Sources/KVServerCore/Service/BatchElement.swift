internal import KVBase
internal import KVJSON

/// One write of a batch, as it stands in the body:
/// `{"method":"PUT","id":"…","entity":{…},"ifMatch":"…"}`, and what a single request has of it in its path and headers.
struct BatchElement {
  private var method: String?
  private var id: String?
  private var ifMatch: String?
  private var ifNoneMatch: String?
  private var entity: Range<Int>?
  private let bytes: UnsafeRawBufferPointer

  /// Reads one element. The bytes are valid JSON, and borrowed for as long as this lives.
  static func read(_ bytes: UnsafeRawBufferPointer) throws(ServerError) -> EntityWrite {
    let element: BatchElement
    do throws(JSONError) { element = try BatchElement(bytes) } catch { throw ServerError(error) }
    return try element.write()
  }

  private init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
    self.bytes = bytes
    guard bytes.first == UInt8(ascii: "{") else {
      throw JSONError(.notAnEntity("a write of a batch must be an object"), at: 0)
    }
    var members = try MemberCursor(ByteScanner(bytes), at: 0)
    while let member = try members.next() {
      if members.isName(member.name, "entity") {
        entity = member.value
      } else if members.isName(member.name, "method") {
        method = try text(member.value)
      } else if members.isName(member.name, "id") {
        id = try text(member.value)
      } else if members.isName(member.name, "ifMatch") {
        ifMatch = try text(member.value)
      } else if members.isName(member.name, "ifNoneMatch") {
        ifNoneMatch = try text(member.value)
      } else {
        // A condition that is misspelt must not be taken for none.
        throw JSONError(
          .notAnEntity("a write can have method, id, entity, ifMatch and ifNoneMatch only"),
          at: member.name.lowerBound)
      }
    }
  }

  private func text(_ range: Range<Int>) throws(JSONError) -> String {
    let value = try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[range]))
    guard let text = value.stringValue else {
      throw JSONError(
        .notAnEntity("the members of a write must be strings, except entity"), at: range.lowerBound)
    }
    return text
  }

  private func write() throws(ServerError) -> EntityWrite {
    let condition = try Precondition(ifMatch: ifMatch, ifNoneMatch: ifNoneMatch)
    switch (method, id, entity) {
    case ("POST", _, let entity?) where condition == .none:
      return .create(try draft(entity))
    case ("PUT", _?, let entity?): return .put(try draft(entity), if: condition)
    case ("DELETE", let id?, nil): return .delete(id: id, if: condition)
    default:
      throw ServerError(
        .badRequest,
        "a write must be a POST with entity, a PUT with id and entity, or a DELETE with id; POST has no condition"
      )
    }
  }

  private func draft(_ range: Range<Int>) throws(ServerError) -> EntityDraft {
    try Service.draft(UnsafeRawBufferPointer(rebasing: bytes[range]), id: id)
  }
}
