internal import KVBase
internal import KVJSON

/// JSON that is not the query it should be. Values know no positions; the trail leads to the member or element, which
/// is looked up in the text only when there is an error to report.
struct QueryDecodingError: Error {
  enum Step: Equatable {
    case member(String)
    case element(Int)
  }

  let message: String
  let trail: [Step]
  private var isNoMemory = false

  /// There was no memory to read the query: there was no memory to read it.
  static var noMemory: QueryDecodingError {
    var error = QueryDecodingError("", [])
    error.isNoMemory = true
    return error
  }

  init(_ message: String, _ trail: [Step]) {
    self.message = message
    self.trail = trail
  }

  /// The error with the byte offset of the member name or element that the trail leads to.
  func located(in text: String) -> QueryError {
    if isNoMemory { return .noMemory }
    var text = text
    let position = text.withUTF8 { utf8 in
      QueryDecodingError.position(of: trail, in: ByteScanner(UnsafeRawBufferPointer(utf8)))
    }
    return QueryError(.syntax, message, at: position)
  }

  private static func position(of trail: [Step], in scanner: ByteScanner) -> Int {
    var value = scanner.skipSpace(0)
    var found = value
    for step in trail {
      switch step {
      case .member(let name):
        guard let member = member(name, of: value, in: scanner) else { return found }
        (found, value) = (member.name.lowerBound - 1, member.value.lowerBound)
      case .element(let index):
        guard let element = element(index, of: value, in: scanner) else { return found }
        (found, value) = (element, element)
      }
    }
    return found
  }

  private static func member(
    _ name: String, of object: Int, in scanner: ByteScanner
  ) -> MemberCursor.Member? {
    guard var members = try? MemberCursor(scanner, at: object) else { return nil }
    while let member = try? members.next() {
      if scanner.text(member.name).hasSameBytes(as: name) { return member }
    }
    return nil
  }

  private static func element(_ index: Int, of array: Int, in scanner: ByteScanner) -> Int? {
    guard var elements = try? ElementCursor(scanner, at: array) else { return nil }
    var left = index
    while let element = try? elements.next() {
      if left == 0 { return element.lowerBound }
      left -= 1
    }
    return nil
  }
}
