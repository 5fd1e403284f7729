internal import KVBase
internal import KVJSON
internal import KVSync
internal import KVTransport

/// Many writes in one request, an extension of our server: the body, and what the answer says about each.
enum WriteBatch {
  /// `[{"method":"PUT","id":"…","ifMatch":"\"…\"","entity":{…}},…]`. The entities are JSON objects.
  static func body(of writes: [RemoteWrite]) throws(StoreError) -> [UInt8] {
    try writes.map(element).jsonArray(or: StoreError.noMemory)
  }

  private static func element(of write: RemoteWrite) throws(StoreError) -> [UInt8] {
    // The writer, and the text that it gives.
    try Memory.require(2 * write.byteCount + 256, or: StoreError.noMemory)
    var element = JSONObjectWriter(reservingCapacity: write.byteCount + 128)
    switch write {
    case .create(let entity):
      element.add("method", "POST")
      element.add("entity", json: entity)
    case .update(let id, let entity, let condition, _):
      element.add("method", "PUT")
      element.add("id", .string(id))
      element.add(condition)
      element.add("entity", json: entity)
    case .delete(let id, let condition):
      element.add("method", "DELETE")
      element.add("id", .string(id))
      element.add(condition)
    case .change(let id, let updates):
      element.add("method", "PATCH")
      element.add("id", .string(id))
      element.add("operators", json: updates)
    case .createMany, .batch:
      // A batch in a batch: the backend refuses such an element.
      break
    }
    return element.bytes
  }

  /// The answer to each write as a request of its own would have had it; nil where the backend said nothing usable.
  static func answers(in response: HTTPResponse) throws(StoreError) -> [HTTPResponse?] {
    do throws(JSONError) {
      return try response.body.withBorrowedBytes { bytes throws(JSONError) in
        try EntityScanner.validate(bytes)
        let scanner = ByteScanner(bytes)
        var elements = try ElementCursor(scanner, at: scanner.skipSpace(0))
        var answers: [HTTPResponse?] = []
        while let element = try elements.next() {
          answers.append(
            try ifAnswer(UnsafeRawBufferPointer(rebasing: bytes[element]), response.head))
        }
        return answers
      }
    } catch {
      throw KinveyErrors.unusable(
        response.head, "The backend's answer is not a result", cause: error)
    }
  }

  /// An answer; nil for what is none. An answer that there is no memory to read is an error.
  private static func ifAnswer(
    _ bytes: UnsafeRawBufferPointer, _ head: HTTPHead
  ) throws(JSONError) -> HTTPResponse? {
    do throws(JSONError) { return try answer(bytes, head) } catch {
      guard error.reason == .noMemory else { return nil }
      throw error
    }
  }

  private static func answer(
    _ bytes: UnsafeRawBufferPointer, _ head: HTTPHead
  ) throws(JSONError) -> HTTPResponse? {
    var status: Int?
    var entity: Range<Int>?
    var members = try MemberCursor(ByteScanner(bytes), at: 0)
    while let member = try members.next() {
      if members.isName(member.name, "entity") {
        entity = member.value
      } else if members.isName(member.name, "status") {
        let value = try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[member.value]))
        status = value.intValue.flatMap { Int(exactly: $0) }
      }
    }
    guard let status, (200..<600).contains(status) else { return nil }
    var head = head
    head.status = status
    return HTTPResponse(head: head, body: Array(entity.map { bytes[$0] } ?? bytes[...]))
  }
}

extension JSONObjectWriter {
  fileprivate mutating func add(_ condition: RemoteCondition) {
    switch condition {
    case .none: break
    case .version(let version), .matches(_, let version): add("ifMatch", .string(version.text))
    case .isMissing: add("ifNoneMatch", "*")
    }
  }
}
