// Entities: what the scanner accepts, the parser for small JSON accepts; an array splits into the same
// entities in one piece and in many; edited entities are entities again.

import KVJSON

func fuzzJSON(_ input: UnsafeBufferPointer<UInt8>) {
  let bytes = UnsafeRawBufferPointer(input)
  checkAgreement(bytes)
  checkSplitting(bytes)
  if let outline = try? EntityScanner.outline(of: bytes) {
    checkInput(bytes)
    checkEditing(bytes, outline)
    checkFormats(bytes, outline)
  }
}

private func checkAgreement(_ bytes: UnsafeRawBufferPointer) {
  let isValid = (try? EntityScanner.validate(bytes)) != nil
  do throws(JSONError) {
    let value = try JSONValue(parsing: bytes)
    let depth = depth(of: value)
    check(isValid || depth > EntityScanner.maximumDepth, "the scanner refuses valid JSON")
    let isFinite = (try? EntityScanner.validate(bytes, numbers: .finite)) != nil
    check(isFinite || !isValid, "the scanner refuses a number that the parser takes")
    let text = value.bytes
    check((try? JSONValue(parsing: text)) == value, "a value does not survive printing")
  } catch {
    guard isValid else { return }
    switch error.reason {
    case .syntax(let message):
      // The parser refuses some things that are legal: repeated names and NUL in names.
      let isExcused = ["duplicate", "NUL"].contains { message.contains($0) }
      check(isExcused, "the scanner accepts invalid JSON")
    case .numberOutOfRange:
      let isFinite = (try? EntityScanner.validate(bytes, numbers: .finite)) != nil
      check(!isFinite, "the scanner takes a number that the parser refuses")
    default: check(false, "the scanner accepts what ends too early")
    }
  }
}

/// Of an entity: it may come in if the parser takes it, which refuses members that come twice.
private func checkInput(_ bytes: UnsafeRawBufferPointer) {
  let isInput = (try? EntityScanner.outline(of: bytes, isInput: true)) != nil
  do throws(JSONError) {
    _ = try JSONValue(parsing: bytes)
    check(isInput, "an entity may not come in that the parser takes")
  } catch {
    guard case .syntax(let message) = error.reason, message.contains("duplicate") else { return }
    check(!isInput, "a member comes twice")
  }
}

private func depth(of value: JSONValue) -> Int {
  switch value {
  case .array(let elements): 1 + (elements.map { depth(of: $0) }.max() ?? 0)
  case .object(let object): 1 + (object.members.map { depth(of: $0.value) }.max() ?? 0)
  case .null, .bool, .int, .double, .string: 0
  }
}

private func checkSplitting(_ bytes: UnsafeRawBufferPointer) {
  let whole = try? EntityScanner.outlines(ofArray: bytes)
  for size in [1, 7, max(1, bytes.count)] {
    check(split(bytes, size) == whole.map { $0.map(\.id) }, "pieces of \(size) split differently")
  }
}

private func split(_ bytes: UnsafeRawBufferPointer, _ size: Int) -> [String?]? {
  var splitter = ArraySplitter()
  var ids: [String?] = []
  do throws(JSONError) {
    for start in stride(from: 0, to: bytes.count, by: size) {
      let end = min(start + size, bytes.count)
      try splitter.append(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
      splitter.drain { _, outlines in ids += outlines.map(\.id) }
    }
    try splitter.finish()
  } catch {
    return nil
  }
  splitter.drain { _, outlines in ids += outlines.map(\.id) }
  return ids
}

private func checkEditing(_ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline) {
  let id = outline.id ?? "new"
  if outline.id == nil {
    let edited = EntityEditing.inserting(id: id, into: bytes, outline: outline)
    check((try? EntityScanner.outline(of: edited))?.id == id, "inserting an id breaks the entity")
  }
  let edited = try? EntityEditing.rewriting(
    bytes, outline, id: id, replacing: [("_acl", nil), ("_kmd", Array(#"{"lmt":"x"}"#.utf8))])
  let again = edited.flatMap { try? EntityScanner.outline(of: $0) }
  check(
    again?.id == id && again?.permissions == nil
      && again?.version(in: edited ?? []) == RecordVersion("x"), "rewriting breaks the entity")
}

/// Records keyed by an integer, and by two members, with a version that is an integer.
private let otherFormats = [
  RecordFormat(id: [.init("id", .integer)], version: ["rev"], versionOrder: .integer),
  RecordFormat(
    id: [.init("a"), .init("b", .integer)], version: ["m", "rev"], versionOrder: .text),
]

/// A record of another format has the same bounds, or an id that does not fit.
private func checkFormats(_ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline) {
  for format in otherFormats {
    guard let other = try? EntityScanner.outline(of: bytes, format) else { continue }
    check(other.range == outline.range, "a format changes the bounds of a record")
    check(
      other.id == format.key(of: Array(bytes)), "the key of a record differs from its outline's")
  }
}
