/// A parser or evaluator under fuzzing, by the name of its corpus.
///
/// Tests/Fuzz/run makes a program of each for libFuzzer; CorpusTests replays the stored corpora.
public struct FuzzTarget: Sendable, CustomStringConvertible {
  public let name: String
  /// Ends the process where the input breaks a promise.
  public let run: @Sendable (UnsafeBufferPointer<UInt8>) -> Void

  public static let all = [
    FuzzTarget(name: "appsync", run: fuzzAppSync),
    FuzzTarget(name: "evaluator", run: fuzzEvaluator),
    FuzzTarget(name: "format", run: fuzzFormat),
    FuzzTarget(name: "grouping", run: fuzzGrouping),
    FuzzTarget(name: "json", run: fuzzJSON),
    FuzzTarget(name: "proxy", run: fuzzProxy),
    FuzzTarget(name: "query", run: fuzzQuery),
    FuzzTarget(name: "regex", run: fuzzRegex),
    FuzzTarget(name: "request", run: fuzzRequest),
    FuzzTarget(name: "schema", run: fuzzSchema),
    FuzzTarget(name: "token", run: fuzzToken),
    FuzzTarget(name: "update", run: fuzzUpdate),
  ]

  public var description: String { name }
}

/// Ends the process with a message: libFuzzer, like a test, reports that as a crash.
func check(_ condition: Bool, _ message: @autoclosure () -> String) {
  guard condition else { fatalError(message()) }
}
