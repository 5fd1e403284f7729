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
  private var operators: Range<Int>?
  private let maxBytes: Int
  private let bytes: UnsafeRawBufferPointer

  /// Reads one element. The bytes are valid JSON, and borrowed for as long as this lives.
  /// `maxBytes`: as many as an entity may have after a change.
  static func read(
    _ bytes: UnsafeRawBufferPointer, maxBytes: Int
  ) throws(ServerError) -> EntityWrite {
    let element: BatchElement
    do throws(JSONError) { element = try BatchElement(bytes, maxBytes: maxBytes) } catch {
      throw ServerError(error)
    }
    return try element.write()
  }

  private init(_ bytes: UnsafeRawBufferPointer, maxBytes: Int) throws(JSONError) {
    (self.bytes, self.maxBytes) = (bytes, maxBytes)
    guard bytes.first == UInt8(ascii: "{") else {
      throw JSONError(.notAnEntity("a write of a batch must be an object"), at: 0)
    }
    var members = try MemberCursor(ByteScanner(bytes), at: 0)
    while let member = try members.next() {
      if members.isName(member.name, "entity") {
        entity = member.value
      } else if members.isName(member.name, "operators") {
        operators = member.value
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
          .notAnEntity(
            "a write can have method, id, entity, operators, ifMatch and ifNoneMatch only"),
          at: member.name.lowerBound)
      }
    }
  }

  private func text(_ range: Range<Int>) throws(JSONError) -> String {
    let value = try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[range]))
    guard let text = value.stringValue else {
      throw JSONError(
        .notAnEntity("the members of a write must be strings, except entity and operators"),
        at: range.lowerBound)
    }
    return text
  }

  private func write() throws(ServerError) -> EntityWrite {
    let condition = try Precondition(ifMatch: ifMatch, ifNoneMatch: ifNoneMatch)
    if let operators, method == "PATCH", let id, entity == nil {
      return .change(
        try EntityChange(
          UnsafeRawBufferPointer(rebasing: bytes[operators]), of: id, if: condition,
          maxBytes: maxBytes))
    }
    switch (method, id, operators == nil ? entity : nil) {
    case ("POST", _, let entity?) where condition == .none:
      return .create(try draft(entity))
    case ("PUT", _?, let entity?): return .put(try draft(entity), if: condition)
    case ("DELETE", let id?, nil) where operators == nil: return .delete(id: id, if: condition)
    default:
      throw ServerError(
        .badRequest,
        "a write must be a POST with entity, a PUT with id and entity, a PATCH with id and operators, or a DELETE with id; POST has no condition"
      )
    }
  }

  private func draft(_ range: Range<Int>) throws(ServerError) -> EntityDraft {
    try Service.draft(UnsafeRawBufferPointer(rebasing: bytes[range]), id: id)
  }
}
