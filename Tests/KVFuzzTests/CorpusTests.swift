import Glibc
import KVFuzzTargets
import Testing

/// The inputs that fuzzing has found interesting, replayed without a fuzzer.
@Suite("Stored corpora") struct CorpusTests {
  @Test("no stored input of a fuzz target breaks a promise", arguments: FuzzTarget.all)
  func replays(target: FuzzTarget) throws {
    let inputs = try Self.inputs(of: target.name)
    #expect(!inputs.isEmpty)
    for input in inputs { input.withUnsafeBufferPointer(target.run) }
  }

  @Test("every stored corpus has a target")
  func complete() throws {
    #expect(Set(try Self.files(in: Self.corpora)) == Set(FuzzTarget.all.map(\.name)))
  }

  private static let corpora = "Tests/Fuzz/corpus"

  private static func inputs(of name: String) throws -> [[UInt8]] {
    try files(in: "\(corpora)/\(name)").map { try contents(of: "\(corpora)/\(name)/\($0)") }
  }

  private static func files(in directory: String) throws -> [String] {
    let stream = try #require(opendir(directory), "\(directory) is read from the tree's root")
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  private static func contents(of path: String) throws -> [UInt8] {
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer[..<count]
    }
    return bytes
  }
}
