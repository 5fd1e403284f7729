import KVBase
import KVCrypto
import KVJSON
import KVQuery
import KVStorage
import KVSync

/// Saves one entity of some 2 KB.
private func save(_ number: Int, on storage: Storage) throws(StoreError) {
  let text = String(repeating: "x", count: 2000)
  let entity = Array(#"{"_id":"\#(number)","text":"\#(text)"}"#.utf8)
  let outline = EntityOutline(range: 0..<entity.count, id: "\(number)")
  _ = try entity.withBorrowedBytes { (bytes) throws(StoreError) in
    try storage.save(bytes, [outline], in: "c")
  }
}

/// Saves until the disk is full; gives how many were saved.
private func saveUntilFull(_ storage: Storage, from first: Int) throws(StoreError) -> Int {
  for number in first..<1_000_000 {
    do throws(StoreError) { try save(number, on: storage) } catch {
      guard error.kind == .full else { throw error }
      return number
    }
  }
  throw StoreError(.internal, "The disk is too large for this.")
}

private func pending(_ storage: Storage) throws(StoreError) -> [PendingWrite] {
  try storage.pending(in: "c", after: 0, limit: 1_000_000, onlyWaiting: false)
}

/// Fills the disk, sends, removes and clears on it, closes and opens again. Gives the number of the step that failed, or 0.
func fill(_ path: String, with vault: Vault?) throws(StoreError) -> Int32 {
  var storage = try Storage(path: path, vault: vault, durability: .normal)
  let count = try saveUntilFull(storage, from: 0)
  guard count > 500 else { return 1 }
  guard try storage.count(Query(), in: "c", writtenSince: nil) == count else { return 2 }
  // What was sent can be confirmed, and removed: the backend's versions need a little more room than ours.
  let metadata = Array(#"{"_kmd":{"lmt":"2024-03-12T21:00:01.120Z"},"#.utf8)
  for some in try pending(storage).chunks(of: 100) {
    let sent = try storage.beginSending(Array(some))
    guard sent.count == some.count else { return 8 }
    try storage.confirm(
      sent.map { sent in
        AcceptedWrite(sent.write, stored: sent.body.map { metadata + $0.dropFirst() })
      })
  }
  guard try pending(storage).isEmpty else { return 9 }
  // Removing makes room for as much again, though each removal is queued.
  for number in 0..<count / 2 { _ = try storage.remove("\(number)", in: "c") }
  guard try storage.purge(nil, in: "c") > 0 else { return 3 }
  let more = try saveUntilFull(storage, from: count) - count
  guard more > count / 4 else { return 4 }
  storage.close()
  storage = try Storage(path: path, vault: vault, durability: .normal)
  let left = try storage.count(Query(), in: "c", writtenSince: nil)
  guard left == count - count / 2 + more else { return 5 }
  guard try storage.clear(nil, in: "c") == left else { return 6 }
  guard try saveUntilFull(storage, from: 0) > count / 2 else { return 7 }
  storage.close()
  return 0
}

/// Reads from a file that cannot be written, and tries to write to it. Gives the number of the step that failed, or 0.
func read(_ path: String) throws(StoreError) -> Int32 {
  let storage = try Storage(path: path)
  guard try storage.count(Query(), in: "c", writtenSince: nil) == 1 else { return 1 }
  guard try storage.entity("1", in: "c", writtenSince: nil) != nil else { return 2 }
  do throws(StoreError) { try save(2, on: storage) } catch {
    guard error.kind == .storage, error.message.contains("read-only") else { return 3 }
    return 0
  }
  return 4
}
