internal import KVJSON

/// Copies an item of a validated text, without what is no part of a record: members that are null – those of objects
/// inside, and of the objects in a list, included –, the name of its type, and that it is not deleted. Time: linear,
/// however deep it is.
struct RecordCopier {
  private let scanner: ByteScanner
  private(set) var isDeletion = false

  init(_ scanner: ByteScanner) { self.scanner = scanner }

  /// Copies the object that starts at `position`. Afterwards `isDeletion` says whether it tells one.
  mutating func copy(objectAt position: Int, to out: inout [UInt8]) {
    isDeletion = false
    _ = copyObject(at: position, isItem: true, to: &out)
  }

  /// Gives the position after it.
  private mutating func copyObject(at position: Int, isItem: Bool, to out: inout [UInt8]) -> Int {
    out.append(UInt8(ascii: "{"))
    var run = Run(scanner)
    var at = position &+ 1
    while true {
      at = scanner.pass(UInt8(ascii: ","), at)
      guard at < scanner.end, scanner.base[at] == UInt8(ascii: "\"") else { break }
      let start = at
      let nameEnd = scanner.passString(start)
      let value = scanner.pass(UInt8(ascii: ":"), nameEnd)
      guard value < scanner.end, nameEnd &- start >= 2 else { break }
      let first = scanner.base[value]
      if first == UInt8(ascii: "n") || isItem && !isWanted(start &+ 1..<nameEnd &- 1, first) {
        run.end(in: &out)
        at = scanner.passValue(value)
      } else if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
        run.extend(start..<value)
        run.end(in: &out)
        at = copyContainer(at: value, to: &out)
      } else {
        at = scanner.passValue(value)
        run.extend(start..<at)
      }
    }
    run.end(in: &out)
    out.append(UInt8(ascii: "}"))
    return min(at &+ 1, scanner.end)
  }

  /// Copies an object, or a list, whose objects are copied likewise. Gives the position after it.
  private mutating func copyContainer(at position: Int, to out: inout [UInt8]) -> Int {
    guard scanner.base[position] == UInt8(ascii: "[") else {
      return copyObject(at: position, isItem: false, to: &out)
    }
    out.append(UInt8(ascii: "["))
    var run = Run(scanner)
    var at = position &+ 1
    while true {
      at = scanner.pass(UInt8(ascii: ","), at)
      guard at < scanner.end, scanner.base[at] != UInt8(ascii: "]") else { break }
      if scanner.base[at] == UInt8(ascii: "{") {
        run.extend(at..<at)
        run.end(in: &out)
        at = copyObject(at: at, isItem: false, to: &out)
      } else {
        let start = at
        at = scanner.passValue(start)
        run.extend(start..<at)
      }
    }
    run.end(in: &out)
    out.append(UInt8(ascii: "]"))
    return min(at &+ 1, scanner.end)
  }

  /// Whether a member of the item belongs to the record.
  private mutating func isWanted(_ name: Range<Int>, _ first: UInt8) -> Bool {
    guard scanner.base[name.lowerBound] == UInt8(ascii: "_") else { return true }
    if scanner.text(name, equals: "__typename") { return false }
    guard scanner.text(name, equals: "_deleted") else { return true }
    isDeletion = first == UInt8(ascii: "t")
    return isDeletion
  }
}

/// What stands side by side in an object or list, and is copied as one.
private struct Run {
  private let scanner: ByteScanner
  private var range: Range<Int>?
  private var isFirst = true

  init(_ scanner: ByteScanner) { self.scanner = scanner }

  mutating func extend(_ next: Range<Int>) {
    range = (range?.lowerBound ?? next.lowerBound)..<next.upperBound
  }

  mutating func end(in out: inout [UInt8]) {
    guard let range else { return }
    if !isFirst { out.append(UInt8(ascii: ",")) }
    isFirst = false
    out.append(contentsOf: scanner.bytes(range))
    self.range = nil
  }
}
