internal import Glibc
package import KVBase
package import KVCrypto
internal import KVSQLite
package import KVSync

extension DataDirectory {
  /// The files that there are, the sessions' last: as long as that one opens with a key, the others can be opened.
  private func files() throws(StoreError) -> [String] {
    (try tags().map { file(tag: $0) } + [sessionFile]).filter { access($0, F_OK) == 0 }
  }

  /// Opens a file; if our key does not, it may open another one of the directory, after a change of keys that was interrupted half
  /// way: all have the same master key.
  func learningKeys<R>(_ open: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) { return try open() } catch {
      guard error.kind == .key, let vault, try learnKey(vault) else { throw error }
      return try open()
    }
  }

  /// Whether the key of a vault opens one of the files.
  private func learnKey(_ vault: Vault) throws(StoreError) -> Bool {
    for file in try files() {
      do throws(SQLiteError) {
        try Database.unlock(file, with: vault)
        return true
      } catch {
        guard error.kind == .key else { throw StoreError(error) }
      }
    }
    return false
  }

  /// Has another key open all files under a name, in place of the one that had it; nil: none. Gives the names of all keys.
  ///
  /// Each file changes at once and for itself. If this is interrupted half way, the former key and the new one open all files, and
  /// it can be repeated with either.
  package func changeKey(
    _ name: String, to key: ApplicationKey?
  ) throws(StoreError) -> [String] {
    guard let vault else {
      throw StoreError(.invalid, "The data is not encrypted: encrypt it first.")
    }
    let files = try files()
    guard try learnKey(vault) else { throw StoreError(SQLiteError(EncryptionError.wrongKey)) }
    var names: [String] = []
    do throws(SQLiteError) {
      for file in files { names = try Database.changeKey(of: file, with: vault, name, to: key) }
    } catch {
      throw StoreError(error)
    }
    return names
  }

  /// Writes all files anew, encrypted with a new key of their own that `target` opens, or not encrypted any more (nil).
  ///
  /// Throws `.busy` while another connection has one of them open. Files that only `target` opens stay as they are, so that it can be
  /// repeated after it failed half way. Only the key of `target` opens the others afterwards.
  package func changeEncryption(
    to target: Vault?, within budget: WorkBudget
  ) throws(StoreError) -> (files: Int, bytes: Int64) {
    var (count, bytes) = (0, Int64(0))
    let writer = target?.renewed()
    for file in try files() {
      do throws(SQLiteError) {
        if try Database.isOpened(file, by: target), try !Database.isOpened(file, by: vault) {
          // The others get the keys that it has.
          if let writer { try Database.unlock(file, with: writer) }
          continue
        }
        try Database.changeEncryption(of: file, from: vault, to: writer, within: budget)
      } catch {
        throw StoreError(error, within: budget)
      }
      count += 1
      bytes += Self.length(file)
    }
    return (count, bytes)
  }
}
