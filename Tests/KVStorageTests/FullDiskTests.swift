import Glibc
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Full disk") struct FullDiskTests {
  let directory = TemporaryDirectory()

  @Test(
    "a save that the disk refuses leaves everything as it was, new collections included",
    arguments: Form.allCases)
  func saves(_ form: Form) throws {
    let storage = try openStorage(in: directory, form: form)
    var failures = 0
    for count in 0..<30 {
      let collection = "c\(count)"
      do {
        _ = try DiskFault.after(count, with: ENOSPC) {
          try storage.save(#"{"_id":"a","n":1,"text":"marker"}"#, in: collection)
        }
      } catch let error as StoreError {
        #expect(error.kind == .full)
        #expect(try storage.get("a", in: collection) == nil)
        #expect(try storage.pendingCount(in: collection) == 0)
        failures += 1
      }
      try storage.save(#"{"_id":"a","n":2}"#, in: collection)
      #expect(try storage.get("a", in: collection) == #"{"_id":"a","n":2}"#)
      #expect(try storage.pendingCount(in: collection) == 1)
    }
    #expect(failures > 3)
    #expect(failures < 30)
    #expect(try storage.pendingCount(in: nil) == 30)
    #expect(form.hides("marker", in: directory))
  }
}
