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

  /// Has a file that is to be made take over the keys of the others.
  func adoptKeys(for file: String) throws(StoreError) {
    guard let vault, access(file, F_OK) != 0, !vault.knowsFile else { return }
    for other in try files() {
      do throws(SQLiteError) { return try Database.unlock(other, with: vault) } catch {
        throw StoreError(error)
      }
    }
  }

  /// Has another key open all files under a name, in place of the one that had it; nil: none. Gives the names of all keys.
  ///
  /// Each file changes at once and for itself. If this fails half way, both the former key and the new one open the directory's
  /// files as a whole, and it can be repeated with either.
  package func changeKey(
    _ name: String, to key: ApplicationKey?
  ) throws(StoreError) -> [String] {
    guard let vault else {
      throw StoreError(.invalid, "The data is not encrypted: encrypt it first.")
    }
    let files = try files()
    var names: [String] = []
    do throws(SQLiteError) {
      // The master key first, by whichever file still has our key.
      for file in files.reversed() { try Database.unlock(file, with: vault) }
      for file in files { names = try Database.changeKey(of: file, with: vault, name, to: key) }
    } catch {
      throw StoreError(error)
    }
    return names
  }

  /// Writes all files anew, encrypted with a new key of their own that `target` opens, or not encrypted any more (nil).
  ///
  /// Nobody may have any of them open: `.busy`. Files that `target` opens already stay as they are, so that it can be
  /// repeated after it failed half way.
  package func changeEncryption(
    to target: Vault?, within budget: WorkBudget
  ) throws(StoreError) -> (files: Int, bytes: Int64) {
    var (count, bytes) = (0, Int64(0))
    for file in try files() {
      do throws(SQLiteError) {
        guard try !Database.isOpened(file, by: target) else { continue }
        try Database.changeEncryption(of: file, from: vault, to: target, within: budget)
      } catch {
        throw StoreError(error, within: budget)
      }
      count += 1
      bytes += Self.length(file)
    }
    return (count, bytes)
  }
}
