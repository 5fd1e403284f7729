internal import Glibc
internal import KVBase

/// A file that gets a line for each event, before the request is answered. Safe from any thread.
///
/// Lines are only ever added: the file is open for that alone. Several processes may share it. A line that cannot be written is lost,
/// and the log of the server and a metric say so; the request is answered as if it had been written.
package final class AuditLog: Sendable {
  private struct State {
    var descriptor: Int32
    var failures = 0
    var isFailing = false
    /// Whether the last line ends in the middle: the disk was full.
    var isTorn = false
  }

  private let path: String
  private let log: Log
  private let state: Monitor<State>

  /// Opens the file, or makes it for its owner only. Links are not followed, and what other users can have written is refused.
  package convenience init(_ path: String, log: Log) throws(TextFile.Failure) {
    self.init(path, descriptor: try TextFile.openToAppend(path), log: log)
  }

  /// Takes a file that is open.
  init(_ path: String, descriptor: Int32, log: Log) {
    self.path = path
    self.log = log
    state = Monitor(State(descriptor: descriptor))
  }

  deinit { close(state.withLock { $0.descriptor }) }

  /// How many lines could not be written.
  package var failures: Int { state.withLock { $0.failures } }

  package func add(_ event: AuditEvent) {
    let line = Array(event.line.utf8)
    state.withLock { state in
      let start: [UInt8] = state.isTorn ? [UInt8(ascii: "\n")] : []
      // In one call, so that lines of several processes do not mix; what is left after a part, in more.
      let (count, cause) = writeWhole(start + line, to: state.descriptor)
      let isWritten = count == start.count + line.count
      if count > 0 { state.isTorn = !isWritten }
      if !isWritten {
        state.failures += 1
        if !state.isFailing {
          let reason = String(cString: strerror(cause))
          log.error("cannot write \(path): \(reason); requests are answered without their lines")
        }
      } else if state.isFailing {
        log.warning("\(path) is written again; \(state.failures) line(s) were lost since the start")
      }
      state.isFailing = !isWritten
    }
  }

  /// Closes the file and opens it by its name again, after a rotation has renamed it. If that fails, the log says why, and the former
  /// file gets the lines.
  package func reopen() {
    do throws(TextFile.Failure) {
      let next = try TextFile.openToAppend(path)
      state.withLock { state in
        close(state.descriptor)
        (state.descriptor, state.isTorn) = (next, false)
      }
    } catch {
      log.error("the former audit log is still written: \(error.description)")
    }
  }
}
