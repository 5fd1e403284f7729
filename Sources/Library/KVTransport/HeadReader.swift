/// Reads the header lines of an answer, as libcurl hands them out one by one.
struct HeadReader {
  /// A server that never stops sending headers is stopped here.
  static let maxBytes = 256 << 10
  static let maxHeaders = 512

  enum Progress {
    case more
    case complete(HTTPHead)
    case tooLarge
  }

  /// Whether "101 Switching Protocols" is the answer that is waited for; other interim answers are passed over.
  var acceptsUpgrade = false

  private var head = HTTPHead(status: 0)
  private var byteCount = 0
  private var lineCount = 0
  private(set) var isComplete = false

  /// Whether a complete head says that the body is compressed.
  var isPacked: Bool { isComplete && head["Content-Encoding"] != nil }

  /// Reads one line with its line end. Counts every line, those of interim answers (1xx) and trailers
  /// too, so that no part of an answer can go on for ever.
  mutating func read(_ line: UnsafeRawBufferPointer) -> Progress {
    byteCount += line.count
    lineCount += 1
    guard byteCount <= Self.maxBytes, lineCount <= Self.maxHeaders else { return .tooLarge }
    guard !isComplete else { return .more }
    let text = Self.trimmed(line[...])
    if line.starts(with: "HTTP/".utf8) {
      head = HTTPHead(status: Self.status(in: text))
    } else if text.isEmpty {
      return finish()
    } else if let first = line.first, first == 0x20 || first == 0x09 {
      foldIntoLast(text)
    } else {
      add(text)
    }
    return .more
  }

  private mutating func finish() -> Progress {
    let isAnswer = head.status == 101 && acceptsUpgrade || !(100..<200).contains(head.status)
    guard isAnswer else { return .more }
    isComplete = true
    return .complete(head)
  }

  private mutating func add(_ text: Slice<UnsafeRawBufferPointer>) {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return }
    let name = String(decoding: text[..<colon], as: UTF8.self)
    let value = Self.trimmed(text[text.index(after: colon)...])
    head.headers.append(HTTPHeader(name, String(decoding: value, as: UTF8.self)))
  }

  /// A line that starts with a space goes on with the one before (obsolete, RFC 9112 §5.2).
  private mutating func foldIntoLast(_ text: Slice<UnsafeRawBufferPointer>) {
    guard let last = head.headers.indices.last else { return }
    head.headers[last].value += " " + String(decoding: text, as: UTF8.self)
  }

  private static func status(in text: Slice<UnsafeRawBufferPointer>) -> Int {
    guard let space = text.firstIndex(of: 0x20) else { return 0 }
    let digits = text[text.index(after: space)...].prefix(3)
    return Int(String(decoding: digits, as: UTF8.self)) ?? 0
  }

  private static func trimmed(
    _ text: Slice<UnsafeRawBufferPointer>
  ) -> Slice<UnsafeRawBufferPointer> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    var text = text.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
  }
}
