internal import KVBase
internal import KVJSON
internal import KVServerCore

/// `kvstored admin import`.
enum Import {
  /// Lines that are sent together, and about how many bytes.
  private static let batch = 100
  private static let batchBytes = 4 << 20

  @Sendable static func run(_ call: AdminCall) throws(AdminFailure) {
    let lines = try LineReader(call.arguments["from"])
    let skipped = try call.number("skip") ?? 0
    var progress = Progress(skipped: skipped)
    var writes: [Line] = []
    var (number, bytes) = (0, 0)
    while let text = try lines.next() {
      number += 1
      guard number > skipped, !text.allSatisfy(isSpace) else { continue }
      let line: Line
      do throws(JSONError) { line = try Line(text, number: number) } catch {
        progress.refuse(number, error.message, to: call.terminal)
        continue
      }
      if writes.contains(where: { $0.id.hasSameBytes(as: line.id) }) || writes.count == batch
        || bytes + text.count > batchBytes
      {
        try send(writes, call, counting: &progress)
        (writes, bytes) = ([], 0)
      }
      writes.append(line)
      bytes += text.count
    }
    try send(writes, call, counting: &progress)
    call.terminal.tell("imported \(progress.saved) entities into \(call.operand(0))")
    guard progress.refused == 0 else {
      throw AdminFailure(
        progress.saved == 0 ? .failed : .partly, "\(progress.refused) lines were not imported")
    }
  }

  /// Whether a byte is white space of JSON.
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D
  }

  /// A batch is one transaction: all of it is saved, or nothing. Lines before those of a failure are saved.
  private static func send(
    _ lines: [Line], _ call: AdminCall, counting progress: inout Progress
  ) throws(AdminFailure) {
    guard let first = lines.first else { return }
    let body = lines.map(\.write).jsonArray
    let answer: JSONValue
    do throws(AdminFailure) {
      let bytes = try call.app.send(
        "POST", "appdata", path: [call.operand(0), "_batch"], body: body)
      answer = try EntityPages.value(bytes)
    } catch {
      throw progress.stop(error, at: first.number)
    }
    for (line, result) in zip(lines, answer.arrayValue ?? []) {
      guard let status = result["status"]?.intValue, status >= 300 else {
        progress.save()
        continue
      }
      let texts = ["debug", "description"].compactMap { result[$0]?.stringValue }
      progress.refuse(line.number, texts.first { !$0.isEmpty } ?? "was refused", to: call.terminal)
    }
    progress.tell(call.terminal)
  }

  private struct Progress {
    private static let step = 10_000
    /// Lines that a former run has saved.
    let skipped: Int
    private(set) var saved = 0
    private(set) var refused = 0
    private var told = 0

    init(skipped: Int) { self.skipped = skipped }

    mutating func save() { saved += 1 }

    /// The failure of a batch that begins with a line: with what a later run can leave out.
    func stop(_ failure: AdminFailure, at line: Int) -> AdminFailure {
      guard saved > 0 else { return failure }
      return AdminFailure(
        failure.kind == .failed ? .partly : failure.kind,
        "\(failure.description) (lines before \(line) are done: go on with --skip \(line - 1))")
    }

    mutating func refuse(_ line: Int, _ why: String, to terminal: AdminTerminal) {
      refused += 1
      terminal.tell("line \(line): \(why)")
    }

    mutating func tell(_ terminal: AdminTerminal) {
      guard saved >= told + Self.step else { return }
      told = saved
      terminal.tell("imported \(saved) entities")
    }
  }

  /// An entity to save.
  private struct Line {
    let number: Int
    let id: String
    /// The write of a batch.
    let write: [UInt8]

    /// Throws if it is no entity. One without an id gets one that follows from its text and its place, so that another
    /// run saves the same entity.
    init(_ text: [UInt8], number: Int) throws(JSONError) {
      let outline = try EntityScanner.outline(of: text, isInput: true)
      self.number = number
      let made = hexText(SHA256.hash(Array("\(number) ".utf8) + text)).prefix(24)
      id = outline.id ?? String(made)
      var write = JSONObjectWriter(reservingCapacity: text.count + 96)
      write.add("method", .string("PUT"))
      write.add("id", .string(id))
      write.add("entity", json: text)
      self.write = write.finish()
    }
  }
}
