// Requests: the input is a target, then lines of headers. What is accepted has one meaning, and a path means the same when it is escaped in
// another way.

import KVBase
import KVServerCore
import KVServerHTTP

func fuzzRequest(_ input: UnsafeBufferPointer<UInt8>) {
  let lines = Array(input).split(separator: 0x0A, omittingEmptySubsequences: false)
  if let target = Target(String(decoding: lines[0], as: UTF8.self)) { checkTarget(target) }
  checkHead(lines.dropFirst())
}

private func checkTarget(_ target: Target) {
  // By bytes: a mark that follows the slash makes one character with it.
  check(target.rawPath.utf8.first == 0x2F, "a path is accepted without a slash at its start")
  check(
    target.rawPath.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x3F },
    "a path would break a line of the log, or has parameters")
  let escaped = "/" + target.path.map(percentEncoded).joined(separator: "/")
  check(Target(escaped)?.path == target.path, "a path changes when it is escaped anew")
  guard let route = Route(target.path) else { return }
  check(!route.methods.isEmpty, "a route takes no method")
  switch route {
  case .poll(_, let channels): checkChannels(channels)
  case .pubNub(.publish(_, _, let channel, _)): checkChannels(channel)
  default: break
  }
}

/// Channels of streams: each has one reading, and is written as it was read.
private func checkChannels(_ text: String) {
  for app in ["kid", "kid.s-x", ""] {
    for channel in text.utf8.split(separator: 0x2C).map({ String(Substring($0)) }) {
      guard let stream = LiveStream(channel: channel, in: app) else { continue }
      check(stream.channel(in: app).hasSameBytes(as: channel), "a channel changes when it is read")
    }
  }
}

private func checkHead(_ lines: ArraySlice<[UInt8].SubSequence>) {
  for version in ["HTTP/1.1", "HTTP/1.0"] {
    var reader = HeadReader()
    for line in lines {
      let colon = line.firstIndex(of: 0x3A) ?? line.endIndex
      Array(line[..<colon]).withUnsafeBytes { name in
        Array(line[colon...].dropFirst()).withUnsafeBytes { reader.add(name, $0) }
      }
    }
    reader.check(version: version)
    guard reader.fault == nil else { continue }
    let headers = reader.headers
    check(
      headers[.contentLength] == nil || headers[.transferEncoding] == nil,
      "a body has two lengths")
    for header in Header.allCases {
      let isClean = headers[header]?.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
      check(isClean != false, "the value of a header has a control character")
    }
    if let length = headers[.contentLength] {
      check(Int(length).map { $0 >= 0 } == true, "the length of a body is no number")
    }
  }
}
