extension RecordFormat {
  /// The layout of records where no other is given: Kinvey's, which our own server has as well.
  ///
  ///     {"_id":"…", "_acl":{"creator":"…",…}, "_kmd":{"ect":"…","lmt":"…"}, content…}
  ///
  /// `_id` is a text, `_acl` says who may do what, `_kmd` has the times of the creation and of the last change. The
  /// latter is the version: a time of the backend in a notation that orders as text. Predicates of its SDKs name these
  /// members `entityId`, `acl` and `metadata`.
  ///
  /// The only file of the core that knows these names.
  package static let `default` = RecordFormat(
    id: [IDMember("_id")], version: ["_kmd", "lmt"], versionOrder: .text, versionsAreTimes: true,
    backendMembers: ["_kmd"], permissions: "_acl", creator: "creator",
    aliases: [
      Alias("entityId", for: "_id"),
      Alias(
        "acl", for: "_acl",
        inner: ["readers": "r", "writers": "w", "globalRead": "gr", "globalWrite": "gw"]),
      Alias(
        "metadata", for: "_kmd",
        inner: ["lastModifiedTime": "lmt", "entityCreationTime": "ect"]),
    ])
}
