import CSQLite
import Glibc
import KVJSON
import KVTestSupport
import KVWorlds

// Plays simulated worlds: see `SimulatedWorlds` for what the environment says. `KV_WORLDS_REPORT` names a file for what came of
// them, as JSON. Exits with 1 if something was found.

_ = kv_sqlite_leave_memory_uncounted()
let outcomes = SimulatedWorlds(count: 10_000).run()
let failed = outcomes.filter { !$0.findings.isEmpty }
for outcome in failed {
  for finding in outcome.findings { print("FAILED \(outcome.kind): \(finding)") }
}
if let path = SimulatedWorlds.variable("KV_WORLDS_REPORT") {
  let failures = failed.map { outcome in
    JSONValue.object([
      "seed": .string(String(outcome.seed.value)),
      "findings": .array(outcome.findings.map { .string("\($0) \(outcome.kind)") }),
    ])
  }
  let report = JSONValue.object([
    "schedules": .int(Int64(outcomes.count)), "failures": .array(failures),
  ])
  guard let file = fopen(path, "w"), fputs(report.text, file) >= 0, fclose(file) == 0 else {
    perror(path)
    exit(2)
  }
}
let passed = outcomes.count - failed.count
print(failed.isEmpty ? "\(passed) passed" : "\(failed.count) failed, \(passed) passed")
exit(failed.isEmpty ? 0 : 1)
