import Glibc
import KVJSON
import KVQuery
import KVStorage
import KVSync

/// Forks with an open store and an open cursor; gives 0 if the child is refused everything, opening the same file anew
/// included, and the parent notices nothing of it. What was closed before the fork, and what is only made after it, opens.
func fork(with path: String) throws(StoreError) -> Int32 {
  let storage = try Storage(path: path, durability: .normal)
  try perform(0, as: "before", on: storage)
  let cursor = try storage.find(.init(), in: "c", writtenSince: nil)
  try Storage(path: path + "-closed", durability: .normal).close()
  // Swift hides fork(), because most of a Swift program must not run in the child. This may.
  guard let symbol = dlsym(nil, "fork") else { return 70 }
  let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
  let child = fork()
  if child == 0 {
    let isRefused =
      isMisuse { () throws(StoreError) in try perform(2, as: "child", on: storage) }
      && isMisuse { () throws(StoreError) in _ = try storage.entity("x", in: "c", writtenSince: nil)
      }
      && isMisuse { () throws(StoreError) in _ = try cursor.next { _ in } }
    cursor.close()
    storage.close()
    let isRefusedAnew =
      isMisuse { () throws(StoreError) in _ = try Storage(path: path, durability: .normal) }
    guard isRefused, isRefusedAnew else { _exit(1) }
    for other in [path + "-closed", path + "-new"] {
      let own = try Storage(path: other, durability: .normal)
      try perform(0, as: "child", on: own)
      own.close()
      try Storage(path: other, durability: .normal).close()
    }
    _exit(0)
  }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  try perform(4, as: "after", on: storage)
  let row: Void? = try cursor.next { _ in }
  let count = try storage.pendingCount(in: "c")
  return status == 0 && row != nil && count == 2 ? 0 : 1
}

private func isMisuse(_ body: () throws(StoreError) -> Void) -> Bool {
  do throws(StoreError) {
    try body()
    return false
  } catch {
    return error.kind == .misuse
  }
}
