internal import KVJSON

extension IndexValue {
  /// Bytes that sort as the values do, for a database that has no order of its own for values of several types.
  package var key: [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .null: ValueEncoding.append(.null, to: &bytes)
    case .int(let number): ValueEncoding.append(.int(number), to: &bytes)
    case .double(let number): ValueEncoding.append(.double(number), to: &bytes)
    case .text(let text):
      bytes.append(RawValue.Kind.string.rawValue)
      text.withUnsafeBufferPointer { ValueEncoding.append(text: $0, to: &bytes) }
    // Behind all texts, before all other blobs.
    case .blob(let blob): bytes = blob.isEmpty ? [RawValue.Kind.object.rawValue - 1] : blob
    }
    return bytes
  }
}
