extension JSONValue {
  /// Compact JSON. Doubles come back as the same double; infinities and NaN become null.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The text as UTF-8.
  package var bytes: [UInt8] {
    var out: [UInt8] = []
    write(to: &out)
    return out
  }

  /// Appends compact JSON.
  package func write(to out: inout [UInt8]) {
    switch self {
    case .null: out.append(contentsOf: "null".utf8)
    case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
    case .int(let value): out.append(contentsOf: String(value).utf8)
    case .double(let value):
      out.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
    case .string(let value): JSONValue.write(value, to: &out)
    case .array(let values):
      out.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        value.write(to: &out)
      }
      out.append(UInt8(ascii: "]"))
    case .object(let object): object.write(to: &out)
    }
  }

  /// Appends a string with its quotes, escaping what JSON demands and nothing else.
  package static func write(_ string: String, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        out.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case 0x0A: out.append(contentsOf: "\\n".utf8)
      case 0x0D: out.append(contentsOf: "\\r".utf8)
      case 0x09: out.append(contentsOf: "\\t".utf8)
      case 0..<0x20:
        out.append(contentsOf: "\\u00".utf8)
        out.append(hexDigit(byte >> 4))
        out.append(hexDigit(byte & 15))
      default: out.append(byte)
      }
    }
    out.append(UInt8(ascii: "\""))
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value - 10)
  }
}

extension JSONObject {
  package var text: String { JSONValue.object(self).text }

  fileprivate func write(to out: inout [UInt8]) {
    out.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      JSONValue.write(member.name, to: &out)
      out.append(UInt8(ascii: ":"))
      member.value.write(to: &out)
    }
    out.append(UInt8(ascii: "}"))
  }
}
