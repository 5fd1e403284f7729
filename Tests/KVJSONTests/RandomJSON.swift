import KVJSON
import KVTestSupport

/// JSON texts of every shape, and the same with a few bytes spoilt.
struct RandomJSON {
  var seed: Seed

  mutating func value(depth: Int = 4) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &seed) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &seed))
    case 2: return .int(Int64.random(in: .min ... .max, using: &seed))
    case 3: return .double(Double.random(in: -1e20...1e20, using: &seed))
    case 4, 5: return .string(text())
    case 6, 7: return .object(object(depth: depth - 1))
    default:
      return .array((0..<Int.random(in: 0..<5, using: &seed)).map { _ in value(depth: depth - 1) })
    }
  }

  mutating func object(depth: Int) -> JSONObject {
    var object = JSONObject()
    for index in 0..<Int.random(in: 0..<6, using: &seed) {
      object["\(text())\(index)"] = value(depth: depth)
    }
    return object
  }

  mutating func text() -> String {
    let alphabet: [Character] = ["a", "b", "_", "\"", "\\", "\n", "\u{1}", "é", "€", "😀", " ", "0"]
    return String(
      (0..<Int.random(in: 0..<12, using: &seed)).map { _ in
        alphabet.randomElement(using: &seed) ?? "a"
      })
  }

  /// One to three bytes changed, left out or doubled.
  mutating func spoilt(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...3, using: &seed) {
      guard let index = bytes.indices.randomElement(using: &seed) else { return bytes }
      switch Int.random(in: 0..<4, using: &seed) {
      case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &seed)
      case 1: bytes[index] = Array("{}[]\",:\\0e-".utf8).randomElement(using: &seed) ?? 0
      case 2: bytes.remove(at: index)
      default: bytes.insert(bytes[index], at: index)
      }
    }
    return bytes
  }
}
