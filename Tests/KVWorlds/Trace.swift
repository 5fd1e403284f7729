import KVBase

/// Prints what becomes of one record: of that whose id is, or begins with, what `KV_TRACE` says. To be used with `KV_TEST_SEED`.
func trace(_ id: String, _ what: @autoclosure () -> String) {
  guard let wanted, id.hasPrefix(wanted) else { return }
  print("\(id) \(what())")
}

private let wanted = SimulatedWorlds.variable("KV_TRACE")
