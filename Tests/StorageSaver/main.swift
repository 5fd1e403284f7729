// Saves and removes until it is killed, and says so after each acknowledged step: what it has said must
// be there afterwards.
//
//   storage-saver FILE ROUND THREADS
//   storage-saver FILE open            opens the file, with whatever that changes, and ends
//   storage-saver FILE full            fills a small disk, and ends with 0 if there is a way out of it
//   storage-saver FILE read            reads from a file that cannot be written, and ends with 0 if that goes
//   storage-saver FILE fork            forks instead, and ends with 0 if that went as it should
//   storage-saver FILE index SPEC      makes an index instead
//
// With a last word "encrypted" the first two and `full` work on a file that is encrypted with a key of 32 ones.
import Glibc
import KVBase
import KVCrypto
import KVJSON
import KVStorage
import KVSync

/// Step `number` of a thread. Of each four steps: save one, save it again, save another one, remove that.
func perform(_ number: Int, as name: String, on storage: Storage) throws(StoreError) {
  let id = "\(name)-\(number - (number % 2))"
  if number % 4 == 3 {
    _ = try storage.remove(id, in: "c")
  } else {
    let entity = Array(#"{"_id":"\#(id)","step":\#(number)}"#.utf8)
    let outline = EntityOutline(range: 0..<entity.count, id: id)
    _ = try entity.withBorrowedBytes { (bytes) throws(StoreError) in
      try storage.save(bytes, [outline], in: "c")
    }
  }
}

/// Runs the steps of one thread for ever.
func run(_ name: String, on storage: Storage) {
  for number in 0..<Int.max {
    do throws(StoreError) {
      try perform(number, as: name, on: storage)
    } catch {
      print("\(name): \(error)")
      exit(1)
    }
    // One write of less than a page goes into a pipe as a whole.
    let line = Array("\(name) \(number)\n".utf8)
    guard write(1, line, line.count) == line.count else { exit(2) }
  }
}

let isEncrypted = CommandLine.arguments.last == "encrypted"
let arguments = Array(CommandLine.arguments.dropLast(isEncrypted ? 1 : 0))
let vault =
  isEncrypted
  ? Vault(
    .bytes(SecretBytes(count: 32) { $0.initializeMemory(as: UInt8.self, repeating: 1, count: 32) }))
  : nil
if arguments.count == 3, arguments[2] == "fork" { exit(try fork(with: arguments[1])) }
if arguments.count == 3, arguments[2] == "full" { exit(try fill(arguments[1], with: vault)) }
if arguments.count == 3, arguments[2] == "read" { exit(try read(arguments[1])) }
if arguments.count == 3, arguments[2] == "open" {
  try Storage(path: arguments[1], vault: vault).close()
  exit(0)
}
if arguments.count == 4, arguments[2] == "index" {
  try index(arguments[1], arguments[3])
  exit(0)
}
guard arguments.count == 4, let threads = Int(arguments[3]) else { exit(64) }
let storage = try Storage(path: arguments[1], vault: vault, durability: .normal)
let round = arguments[2]
let workers = (0..<threads).map { thread in
  Worker("saver") { run("\(round)-\(thread)", on: storage) }
}
for worker in workers { worker?.join() }
