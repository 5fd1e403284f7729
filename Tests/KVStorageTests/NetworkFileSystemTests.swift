import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Network file systems") struct NetworkFileSystemTests {
  private static let mounts = """
    22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
    40 22 0:45 / /home rw,relatime shared:2 master:3 - nfs4 server:/home rw,vers=4.2
    41 22 0:46 / /mnt/share rw - cifs //server/share rw
    42 22 0:47 / /mnt/c rw - 9p drvfs rw
    43 22 0:48 / /mnt/remote rw - fuse.sshfs ana@server:/data rw
    44 22 0:49 / /mnt/disk rw - fuse.ntfs-3g /dev/sdb1 rw
    45 22 0:50
    """

  @Test(
    "are known by the table of mounts",
    arguments: [
      ("8:1", nil), ("0:45", "nfs4"), ("0:46", "cifs"), ("0:47", "9p"), ("0:48", "fuse.sshfs"),
      ("0:49", nil), ("0:50", nil), ("0:51", nil),
    ] as [(String, String?)])
  func types(device: String, type: String?) {
    #expect(NetworkFileSystem.type(ofDevice: device, in: Self.mounts) == type)
    #expect(NetworkFileSystem.type(ofDevice: device, in: "") == nil)
  }

  @Test("are refused before any file is made, unless they are allowed")
  func refused() throws {
    let root = TemporaryDirectory()
    let refusing = DataDirectory(root: root.path, appKey: "kid", networkType: { _ in "nfs4" })
    let error = try #require(throws: StoreError.self) { try refusing.prepare() }
    #expect(error.kind == .unsupported)
    #expect(error.message.contains("nfs4"))
    #expect(error.message.contains("allowNetworkFileSystem"))
    try DataDirectory(root: root.path, appKey: "kid", networkType: nil).prepare()
    try DataDirectory(root: root.path, appKey: "kid").prepare()
  }
}
