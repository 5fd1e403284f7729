internal import KVBase
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("The access log") struct AccessLogTests {
  @Test("has one line for each request, without parameters and names of people")
  func lines() {
    #expect(
      AccessLog.line(record("/appdata/kid/books"))
        == "1970-01-01T00:00:01.000Z 127.0.0.1 GET /appdata/kid/books 200 17 12.345 abc\n")
    let line = AccessLog.line(record("/rpc/kid/ana@example.com/user-password-reset-initiate"))
    #expect(line.contains(" /rpc/kid/*/user-password-reset-initiate "))
    #expect(AccessLog.line(record("/a\nb c")).contains(" /a?b?c "))
    var strange = record("/")
    strange.method = "G\u{1B}[2J\nÉT"
    for format in [AccessLog.Format.text, .json] {
      #expect(AccessLog.line(strange, format).contains("G?[2J???T"))
    }
  }

  @Test("is one JSON object for each request, if that is asked for")
  func json() {
    #expect(
      AccessLog.line(record("/appdata/kid/b\"\\"), .json)
        == """
        {"time":"1970-01-01T00:00:01.000Z","client":"127.0.0.1","method":"GET",\
        "path":"/appdata/kid/b\\"\\\\","route":"collection","status":200,"bytes":17,\
        "milliseconds":12.345,"requestId":"abc"}

        """)
  }

  @Test("goes to a file that only its owner may read, and follows when that is renamed")
  func files() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("access.log")
    let log = try AccessLog(path)
    log.add(record("/one"))
    #expect(permissions(of: path) == 0o600)
    log.reopen()
    log.add(record("/two"))
    log.close()
    let text = String(decoding: contents(of: path) ?? [], as: UTF8.self)
    #expect(text.split(separator: "\n").count == 2)
    #expect(text.contains("/one") && text.contains("/two"))
  }

  @Test("that cannot be written is an error")
  func misuse() {
    do {
      _ = try AccessLog("/nonexistent/access.log")
      Issue.record("opened")
    } catch {
      #expect(error.message.hasPrefix("cannot write /nonexistent/access.log"))
    }
  }

  @Test(
    "has a companion on standard error, in which nothing from outside makes a line or moves the cursor"
  )
  func messages() {
    let lines = Monitor<[String]>([])
    let log = Log(.error) { line in lines.withLock { $0.append(line) } }
    log.error("ERROR: no\nDETAIL: \u{1B}[2J\r\u{9B}\u{2028}\u{202E}é")
    let line = lines.withLock { $0.first } ?? ""
    #expect(
      line.hasSuffix(" error: ERROR: no | DETAIL: \u{FFFD}[2J\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}é\n"))
    #expect(line.unicodeScalars.filter { $0 == "\n" }.count == 1)
  }

  private func record(_ path: String) -> RequestRecord {
    RequestRecord(
      startedAt: Timestamp(milliseconds: 1000), nanoseconds: 12_345_678, client: "127.0.0.1",
      method: "GET", path: path, route: .collection,
      status: 200, bytes: 17, requestId: "abc")
  }
}
