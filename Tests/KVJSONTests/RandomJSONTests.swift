import KVJSON
import KVTestSupport
import Testing

@Suite("Random JSON") struct RandomJSONTests {
  @Test("is accepted and refused alike by the scanner and by jansson") func agrees() {
    var random = RandomJSON(seed: Seed())
    let seed = random.seed
    for _ in 0..<20_000 {
      let good = random.value().bytes
      #expect(scannerAccepts(good) && janssonAccepts(good), "\(seed)")
      let bad = random.spoilt(good)
      guard scannerAccepts(bad) != janssonAccepts(bad) else { continue }
      Issue.record("\(seed): \(String(decoding: bad, as: UTF8.self))")
    }
  }

  @Test("is split alike wherever the pieces are cut") func splitsAlike() throws {
    var random = RandomJSON(seed: Seed())
    let seed = random.seed
    for _ in 0..<500 {
      let objects = (0..<Int.random(in: 0..<20, using: &random.seed)).map { _ in
        random.object(depth: 3)
      }
      let bytes = JSONValue.array(objects.map { .object($0) }).bytes
      let found = try split(bytes, using: &random.seed)
      #expect(found == objects.map { $0.text }, "\(seed)")
    }
  }

  private func scannerAccepts(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { (try? EntityScanner.validate($0)) != nil }
  }

  /// Jansson refuses some legal things too: those count as accepted.
  private func janssonAccepts(_ bytes: [UInt8]) -> Bool {
    do {
      _ = try JSONValue(parsing: bytes)
      return true
    } catch {
      return ["duplicate", "NUL byte", "outside the range"].contains {
        error.message.contains($0)
      }
        && scannerAccepts(bytes)
    }
  }

  private func split(_ bytes: [UInt8], using seed: inout Seed) throws -> [String] {
    var splitter = ArraySplitter()
    var found: [String] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + Int.random(in: 1...200, using: &seed))
      try bytes[start..<end].withUnsafeBytes { try splitter.append($0) }
      start = end
      if Bool.random(using: &seed) { take(&splitter, &found) }
    }
    try splitter.finish()
    take(&splitter, &found)
    return found
  }

  private func take(_ splitter: inout ArraySplitter, _ found: inout [String]) {
    splitter.drain { buffer, outlines in
      found += outlines.map { String(decoding: buffer[$0.range], as: UTF8.self) }
    }
  }
}
