internal import KVJSON
internal import KVModels
package import KVSync

extension AppSyncRemote {
  /// Asks the API whether it has the models and fields of the schema: `{"models":[…]}`, the names of what was asked about.
  /// Throws `.invalid`, with the API's words, for the first that does not fit.
  package func check(_ call: Call) throws(StoreError) -> [UInt8] {
    var names: [JSONValue] = []
    for table in tables where !table.documents.model.missingOperations.contains(.sync) {
      let name = table.documents.model.name
      do throws(StoreError) {
        _ = try service.data(
          table.documents.check, [:], in: table.modes[.sync] ?? [], call: call)
      } catch {
        guard error.kind == .invalid else { throw error }
        var unfit = error
        unfit.message = "The schema's \(name) does not fit the API. \(error.message)"
        throw unfit
      }
      names.append(.string(name))
    }
    return JSONValue.object(["models": .array(names)]).bytes
  }
}
