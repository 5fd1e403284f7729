import Testing

@testable import KVTransport

@Suite("Where the machine's certificate authorities are") struct SystemAuthoritiesTests {
  private let none = SystemAuthorities(fallback: nil, environment: [:], builtIn: nil, files: [])

  @Test("The environment outranks what the machine has")
  func environment() {
    let files = Set(SystemAuthorities.knownFiles)
    let file = SystemAuthorities(
      fallback: nil, environment: ["SSL_CERT_FILE": "/a.pem"], builtIn: none, files: files)
    #expect(file.file == "/a.pem")
    #expect(file.directory == nil)
    let directory = SystemAuthorities(
      fallback: nil, environment: ["SSL_CERT_DIR": "/certs"], builtIn: none, files: files)
    #expect(directory.file == nil)
    #expect(directory.directory == "/certs")
  }

  @Test("libcurl's own are left alone if they are there")
  func builtIn() {
    let known = SystemAuthorities.knownFiles[0]
    var own = none
    own.file = "/own.pem"
    let found = SystemAuthorities(
      fallback: "/f.pem", environment: [:], builtIn: own, files: ["/own.pem", known])
    #expect(found == none)
    let missing = SystemAuthorities(
      fallback: "/f.pem", environment: [:], builtIn: own, files: [known])
    #expect(missing.file == known)
  }

  @Test("Each distribution's file is found", arguments: SystemAuthorities.knownFiles)
  func known(file: String) {
    let found = SystemAuthorities(
      fallback: "/f.pem", environment: [:], builtIn: nil, files: [file])
    #expect(found.file == file)
  }

  @Test("Where there are none the fallback counts")
  func fallback() {
    let found = SystemAuthorities(fallback: "/f.pem", environment: [:], builtIn: nil, files: [])
    #expect(found.file == "/f.pem")
    #expect(none.file == nil && none.directory == nil)
  }
}

extension SystemAuthorities {
  /// Those of a machine with these variables and files.
  fileprivate init(
    fallback: String?, environment: [String: String], builtIn: SystemAuthorities?,
    files: Set<String>
  ) {
    self.init(
      fallback: fallback, environment: { environment[$0] },
      builtIn: builtIn ?? SystemAuthorities(file: nil, directory: nil),
      exists: { files.contains($0) })
  }
}
