// Headers of the PROXY protocol: where one ends does not depend on how its bytes arrive, and what is malformed stays so.

import KVServerHTTP

func fuzzProxy(_ input: UnsafeBufferPointer<UInt8>) {
  let bytes = Array(input)
  let reading = ProxyHeader.read(bytes)
  switch reading {
  case .incomplete:
    check(bytes.count < ProxyHeader.maxBytes, "a header is longer than the longest")
  case .malformed:
    check(ProxyHeader.read(bytes + [0x0A]) == .malformed, "more bytes mend a header")
  case .complete(let header):
    check(header.count > 0 && header.count <= bytes.count, "a header is longer than what has come")
    check(
      ProxyHeader.read(Array(bytes.prefix(header.count))) == reading,
      "what follows a header changes it")
    for count in [1, 12, 13, 15, 16, header.count / 2, header.count - 1] where count < header.count
    {
      check(
        ProxyHeader.read(Array(bytes.prefix(count))) == .incomplete, "a part of a header is one")
    }
  }
}
