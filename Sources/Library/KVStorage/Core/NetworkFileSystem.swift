internal import Glibc

/// File systems that machines share over a network. Each machine has its own view of the memory that processes share through
/// a file, and some give locks to several machines at once: SQLite's log loses what was acknowledged there.
package enum NetworkFileSystem {
  /// The types of such file systems, in the kernel's words. Those in the user space name their program behind `fuse.`.
  private static let types: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "gfs2", "ocfs2", "coda",
    "beegfs", "gpfs",
    "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse",
    "fuse.davfs", "fuse.davfs2",
    "fuse.curlftpfs", "fuse.gcsfuse", "fuse.goofys", "fuse.juicefs", "fuse.smbnetfs",
    "fuse.gvfsd-fuse",
  ]

  /// The type of the network file system that a directory is on; nil: it is on another one, or on an unknown one.
  @Sendable package static func type(of path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    // The layout of Linux's `dev_t`, whose parts are macros.
    let device = UInt64(status.st_dev)
    let major = (device >> 8 & 0xFFF) | (device >> 32 & ~0xFFF)
    let minor = (device & 0xFF) | (device >> 12 & ~0xFF)
    return type(ofDevice: "\(major):\(minor)", in: mounts())
  }

  /// The type that a table of mounts, as in `/proc/self/mountinfo`, says a device has; nil: it is not one of a network, or
  /// not in the table.
  package static func type(ofDevice device: String, in mounts: String) -> String? {
    for line in mounts.utf8.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "))
      guard words.count > 3, words[2].elementsEqual(device.utf8),
        let dash = words.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash + 1 < words.count
      else { continue }
      let type = String(Substring(words[dash + 1]))
      return types.contains(type) ? type : nil
    }
    return nil
  }

  /// What the kernel knows of this process's mounts; empty if it cannot be read.
  private static func mounts() -> String {
    let file = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = read(file, &piece, piece.count)
      guard count > 0 else { return String(decoding: text, as: UTF8.self) }
      text += piece[..<count]
    }
  }
}
