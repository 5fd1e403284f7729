import KVQuery
import KVStorage
import KVSync

/// Makes an index and fills it.
func index(_ path: String, _ spec: String) throws {
  let storage = try Storage(path: path, durability: .normal)
  try storage.createIndex(IndexSpec(parsing: spec), in: "c")
  storage.close()
}
