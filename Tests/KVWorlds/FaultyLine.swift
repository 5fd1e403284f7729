import KVBase
package import KVJSON
package import KVSync
package import KVTestSupport

/// One client's way to a backend: it loses, delays and doubles requests and answers, as a seed tells it.
///
/// `@unchecked Sendable`: a simulated world runs on one thread.
package class FaultyLine: @unchecked Sendable {
  /// How likely a request is lost, an answer is lost or lacks something, the backend fails, a request arrives twice, or is
  /// overtaken by those of others, in percent; and how likely a create that is lost is only late.
  package struct Weather {
    package var lostRequests: UInt64 = 0
    package var lostAnswers: UInt64 = 0
    /// Of a batch: some of its writes are not in the answer.
    package var halfAnswers: UInt64 = 0
    package var serverErrors: UInt64 = 0
    package var doubledRequests: UInt64 = 0
    package var overtakenRequests: UInt64 = 0
    package var lateCreates: UInt64 = 0
    /// A read shows a record as it was before its last write.
    package var staleReads: UInt64 = 0
  }

  package var random: Seed
  package var weather = Weather()
  /// What else happens in the client while the backend has carried a request out and the answer travels.
  package var meanwhile: (inout Seed) -> Void = { _ in }
  /// Live messages arrive, before a request was carried out and while the answer travels.
  package var deliver: (inout Seed) -> Void = { _ in }
  /// What others do before a request arrives that is overtaken.
  package var before: (inout Seed) -> Void = { _ in }
  /// The version of a record, or of its deletion, that the client's file has; nil: none.
  package var versionHere: (String) -> RecordVersion? = { _ in nil }
  /// Runs before the backend carries a request out, while its answer travels, and between the parts of an answer.
  package var pause: () -> Void = {}

  init(_ random: Seed) { self.random = random }

  /// Whether the backend is not there; each request that finds nobody brings the end of that nearer.
  package func meetsAbsence() -> Bool { false }

  /// One request: perhaps it does not arrive, perhaps its answer does not. `lose` is called if it does not arrive now.
  /// `mayDouble`: it may arrive twice.
  package func exchange<R>(
    mayDouble: Bool = true, losing lose: () -> Void = {}, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let lost = StoreError(.network, "Lost.")
    if random.next() % 100 < weather.lostRequests {
      lose()
      throw lost
    }
    if random.next() % 100 < weather.overtakenRequests { before(&random) }
    if meetsAbsence() { throw lost }
    if random.next() % 100 < weather.serverErrors {
      var error = StoreError(.server, "Out of order.")
      error.statedClass = .passing
      throw error
    }
    deliver(&random)
    pause()
    // What arrives twice is answered twice; the first answer is the one that counts.
    let outcome = Result { () throws(StoreError) in try body() }
    pause()
    let result = try outcome.get()
    if random.next() % 100 < weather.doubledRequests, mayDouble { _ = try? body() }
    if random.next() % 4 == 0 { meanwhile(&random) }
    deliver(&random)
    if random.next() % 100 < weather.lostAnswers { throw lost }
    return result
  }
}
