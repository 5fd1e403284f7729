internal import Glibc
internal import KVBase

/// What happens in the server, as lines on standard error. Safe from any thread.
package struct Log: Sendable {
  package enum Level: String, Sendable, CaseIterable, Comparable {
    case error, warning, info, debug

    package static func < (left: Level, right: Level) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
  }

  private let level: Level
  private let sink: @Sendable (String) -> Void

  /// `sink` takes whole lines with their ends.
  package init(_ level: Level, sink: @escaping @Sendable (String) -> Void = Log.standardError) {
    self.level = level
    self.sink = sink
  }

  package func error(_ text: @autoclosure () -> String) { write(.error, text) }
  package func warning(_ text: @autoclosure () -> String) { write(.warning, text) }
  package func info(_ text: @autoclosure () -> String) { write(.info, text) }
  package func debug(_ text: @autoclosure () -> String) { write(.debug, text) }

  private func write(_ level: Level, _ text: () -> String) {
    guard level <= self.level else { return }
    // Messages of databases have several lines; in others, line ends come from outside.
    let text = text().split(separator: "\n").joined(separator: " | ").visible
    sink("\(Timestamp.now()) \(level.rawValue): \(text)\n")
  }

  @Sendable package static func standardError(_ line: String) {
    var line = line
    line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
