package import KVJSON
package import KVSync

extension Options {
  /// The options of one call.
  package init(_ object: JSONObject) throws(StoreError) {
    var reader = OptionReader(object)
    self = try Options(from: &reader)
    try reader.finish()
  }

  /// The options of a call that writes entities by their ids, and the condition among them.
  package static func ofWrite(
    _ object: JSONObject
  ) throws(StoreError) -> (options: Options, condition: WriteCondition) {
    var reader = OptionReader(object)
    let condition = try reader.condition("if") ?? .none
    let options = try Options(from: &reader)
    try reader.finish()
    return (options, condition)
  }

  var refreshing: CollectionEngine.Refreshing {
    var how = CollectionEngine.Refreshing(
      paging: autoPagination == true ? .pages(of: maxSizePerResultSet ?? 10_000, ranges: 3) : .off,
      usesChanges: deltaSet == true, comparesVersions: deltaSetCaching == true)
    how.confirmsUnchanged = ttl != nil
    return how
  }
}
