// swift-tools-version: 6.1
import PackageDescription

/// What every target of ours is compiled with: Swift 6 mode is the default of this tools version.
let house: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// Whether this is the build of the shared library that is shipped (`scripts/build-library`). Only it uses flags that
/// SwiftPM calls unsafe: it refuses them in the targets that a package of another version uses.
let isShipped = Context.environment["KVSTORE_SHIPPED"] == "1"

/// Without this every file imports Swift's regular expressions, and the library carries a megabyte of them.
let noRegex: [SwiftSetting] =
  isShipped
  ? [.unsafeFlags(["-Xfrontend", "-disable-implicit-string-processing-module-import"])] : []

/// Nothing in the library prints a value by what the compiler knows of its type, for which it would keep the names of all fields
/// and cases. `scripts/check-library` looks whether it is still so.
let noReflection: [SwiftSetting] =
  isShipped ? [.unsafeFlags(["-Xfrontend", "-disable-reflection-metadata"])] : []

/// What Swift emits as well: the valgrind of Debian 12 cannot read what clang emits otherwise.
let olderDebugInformation: [CSetting] = isShipped ? [.unsafeFlags(["-gdwarf-4"])] : []

/// A section for each function, so that the linker can drop those that nothing refers to, and put the others in order.
let functionSections: [SwiftSetting] =
  isShipped
  ? [.unsafeFlags(["-Xfrontend", "-function-sections", "-Xfrontend", "-internalize-at-link"])] : []

/// The library does not check at run time that no thread changes a variable while another one uses it: such checks take up to a
/// twentieth of a read. Debug builds, which the tests run, check it.
let uncheckedExclusivity: [SwiftSetting] =
  isShipped ? [.unsafeFlags(["-enforce-exclusivity=unchecked"])] : []

/// Rooms whose time goes elsewhere, to the disk or the network, are made small, not fast.
let small: [SwiftSetting] = isShipped ? [.unsafeFlags(["-Osize"])] : []

/// The rooms that have a page of their own.
let described: Set = [
  "KVClient", "KVQuery", "KVSQLite", "KVServerCore", "KVStorage", "KVStore", "KVStoreC", "KVSync",
]

/// A room of the library or of the server; `rooms` are the rooms it may look into. Arrows point down only.
func room(
  _ name: String, looksInto rooms: [Target.Dependency] = [], _ more: [SwiftSetting] = []
) -> Target {
  let ofServer = name.hasPrefix("KVServer")
  return .target(
    name: name, dependencies: rooms, path: "Sources/\(ofServer ? "Server" : "Library")/\(name)",
    exclude: described.contains(name) ? ["README.md"] : [],
    swiftSettings: house + noRegex + functionSections + uncheckedExclusivity
      + (ofServer ? [] : noReflection) + more)
}

/// The tests of one room.
func tests(of name: String, with more: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.target(name: name), "KVTestSupport"] + more,
    swiftSettings: house)
}

let package = Package(
  name: "kvstore",
  products: [
    // For Swift programs; and for all others.
    .library(name: "KVStore", targets: ["KVStore"]),
    .library(name: "kvstore", type: .dynamic, targets: ["kvstore"]),
    .executable(name: "kvstored", targets: ["kvstored"]),
  ],
  targets: [
    // The C libraries, each behind a module map and a shim.
    .systemLibrary(name: "CKVStore", path: "include"),
    .systemLibrary(name: "CSystem", path: "Sources/Shims/CSystem"),
    .systemLibrary(name: "CScan", path: "Sources/Shims/CScan"),
    .systemLibrary(
      name: "CSQLite", path: "Sources/Shims/CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CCurl", path: "Sources/Shims/CCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CJansson", path: "Sources/Shims/CJansson", pkgConfig: "jansson",
      providers: [.apt(["libjansson-dev"])]),
    .systemLibrary(
      name: "CDigest", path: "Sources/Shims/CDigest", providers: [.apt(["libmd-dev"])]),
    .systemLibrary(
      name: "CSodium", path: "Sources/Shims/CSodium", providers: [.apt(["libsodium-dev"])]),
    // Not a library of the system: Debian's package of it has no archive. Its own tests are not here; see its README.
    .target(
      name: "CWslay", path: "Sources/Shims/CWslay", exclude: ["COPYING", "README.md"],
      cSettings: [
        .define("HAVE_ARPA_INET_H"), .define("HAVE_NETINET_IN_H"), .define("NDEBUG"),
      ] + olderDebugInformation),
    // A table that scripts/generate_collation.py makes.
    .target(
      name: "CCollation", path: "Sources/Shims/CCollation", exclude: ["COPYING"],
      cSettings: olderDebugInformation),
    .systemLibrary(
      name: "CPCRE2", path: "Sources/Shims/CPCRE2", providers: [.apt(["libpcre2-dev"])]),
    .systemLibrary(
      name: "CXXHash", path: "Sources/Shims/CXXHash", providers: [.apt(["libxxhash-dev"])]),
    .systemLibrary(
      name: "CMicrohttpd", path: "Sources/Shims/CMicrohttpd", pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(
      name: "CGnuTLS", path: "Sources/Shims/CGnuTLS", pkgConfig: "gnutls",
      providers: [.apt(["libgnutls28-dev"])]),
    .systemLibrary(
      name: "CPostgres", path: "Sources/Shims/CPostgres", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"])]),
    .systemLibrary(
      name: "CCrypt", path: "Sources/Shims/CCrypt", pkgConfig: "libcrypt",
      providers: [.apt(["libcrypt-dev"])]),

    // The rooms, from the ground up.
    room("KVBase", looksInto: ["CSystem", "CDigest"]),
    room("KVJSON", looksInto: ["CJansson", "CScan", "KVBase"]),
    room("KVCollation", looksInto: ["CCollation"]),
    room(
      "KVQuery", looksInto: ["CPCRE2", "KVCollation", "KVJSON", "CScan", "CSystem", "KVBase"]),
    room("KVModels", looksInto: ["KVJSON", "KVBase"], small),
    room("KVCrypto", looksInto: ["CSodium", "KVBase"]),
    room(
      "KVSQLite", looksInto: ["CSQLite", "CXXHash", "KVCrypto", "KVQuery", "KVJSON", "KVBase"]),
    room("KVSync", looksInto: ["KVQuery", "KVJSON", "KVBase"], small),
    room(
      "KVStorage",
      looksInto: ["CSystem", "KVSQLite", "KVCrypto", "KVSync", "KVQuery", "KVJSON", "KVBase"]),
    room("KVTransport", looksInto: ["CCurl", "CWslay", "KVBase"], small),
    room("KVHTTP", looksInto: ["KVTransport", "KVSync", "KVBase"], small),
    room(
      "KVKinvey",
      looksInto: ["KVHTTP", "KVTransport", "KVSync", "KVQuery", "KVJSON", "KVBase"], small),
    room(
      "KVAppSync",
      looksInto: [
        "KVHTTP", "KVTransport", "KVModels", "KVSync", "KVQuery", "KVJSON", "KVBase",
      ], small),
    room("KVObjects", looksInto: ["KVSync", "KVQuery", "KVJSON", "KVBase"], small),
    room("KVCallback", looksInto: ["KVObjects", "KVSync", "KVQuery", "KVJSON", "KVBase"], small),
    room(
      "KVClient",
      looksInto: [
        "KVStorage", "KVKinvey", "KVAppSync", "KVTransport", "KVObjects", "KVSync", "KVModels",
        "KVCrypto", "KVQuery", "KVJSON", "KVBase",
      ], small),
    room(
      "KVStore",
      looksInto: [
        "KVClient", "KVCallback", "KVObjects", "KVSync", "KVQuery", "KVJSON", "KVBase",
      ]),
    room(
      "KVStoreC",
      looksInto: [
        "CKVStore", "KVClient", "KVCallback", "KVObjects", "KVSync", "KVQuery", "KVJSON", "KVBase",
      ], small),

    // The shared library. Linker flags live here and nowhere else: on a target that tests link
    // they would leak into the test bundle and break it. Functions of the same code become one: their addresses
    // are not compared. Those that a program uses first stand together: the kernel maps whole pieces of
    // the file around what is used (scripts/startup_order.py).
    .target(
      name: "kvstore", dependencies: ["KVStoreC"], path: "Sources/Library/kvstore",
      exclude: ["exports.map", "startup.order"],
      swiftSettings: house + noRegex,
      linkerSettings: [
        .unsafeFlags([
          "-static-stdlib",
          "-Xlinker", "-soname=libkvstore.so.0",
          "-Xlinker", "--version-script=Sources/Library/kvstore/exports.map",
          "-Xlinker", "-z", "-Xlinker", "nodelete",
          "-Xlinker", "--gc-sections", "-Xlinker", "--icf=all",
          "-Xlinker", "--symbol-ordering-file=Sources/Library/kvstore/startup.order",
          "-Xlinker", "--no-warn-symbol-ordering",
          "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
        ]),
        // Not in debug builds: a sanitizer's functions come from the program that loads the library.
        .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "defs"], .when(configuration: .release)),
      ]),

    // The server.
    room("KVServerCore", looksInto: ["CCrypt", "CGnuTLS", "KVQuery", "KVJSON", "KVBase"]),
    room(
      "KVServerSQLite",
      looksInto: [
        "KVServerCore", "CSystem", "KVSQLite", "KVCrypto", "KVQuery", "KVJSON", "KVBase",
      ]),
    room(
      "KVServerPostgres",
      looksInto: ["KVServerCore", "CPostgres", "KVQuery", "KVJSON", "KVBase"]),
    room(
      "KVServerLogic",
      looksInto: ["KVServerCore", "KVTransport", "CGnuTLS", "KVJSON", "KVBase"]),
    room(
      "KVServerOpenID",
      looksInto: ["KVServerCore", "KVTransport", "CGnuTLS", "KVJSON", "KVBase"]),
    room("KVServerHTTP", looksInto: ["CMicrohttpd", "CSystem", "KVServerCore", "KVBase"]),
    room(
      "KVServerAdmin", looksInto: ["KVServerCore", "KVTransport", "KVJSON", "KVBase"]),
    room(
      "KVServer",
      looksInto: [
        "KVServerAdmin", "KVServerHTTP", "KVServerLogic", "KVServerOpenID", "KVServerSQLite",
        "KVServerPostgres", "KVServerCore", "KVCrypto",
        "KVJSON", "KVBase",
      ]),
    .executableTarget(
      name: "kvstored", dependencies: ["KVServer"], path: "Sources/Server/kvstored",
      swiftSettings: house,
      linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]),

    // Tests.
    .target(
      name: "KVTestSupport", dependencies: ["CSQLite", "KVSync", "KVBase"],
      path: "Tests/KVTestSupport",
      swiftSettings: house),
    tests(of: "KVBase"),
    .testTarget(
      name: "KVCollationTests", dependencies: ["KVCollation"], exclude: ["root-order.txt"],
      swiftSettings: house),
    tests(of: "KVJSON"),
    tests(of: "KVModels", with: ["KVJSON", "KVBase"]),
    tests(of: "KVQuery", with: ["KVCollation", "KVJSON"]),
    tests(of: "KVCrypto"),
    tests(of: "KVSQLite", with: ["KVCrypto", "KVQuery", "KVJSON"]),
    tests(
      of: "KVSync",
      with: [
        "KVWorlds", "KVStorage", "KVCallback", "KVAppSync", "KVModels", "KVTransport", "KVQuery",
        "KVJSON", "KVBase",
      ]),
    // Clients and backends in one process, whose steps come from a seed: a few for the tests of the room, thousands for a
    // program that is built as the library is shipped.
    .target(
      name: "KVWorlds",
      dependencies: [
        "KVTestSupport", "KVStorage", "KVCallback", "KVAppSync", "KVModels", "KVTransport",
        "KVSync", "KVQuery", "KVJSON", "KVBase",
      ],
      path: "Tests/KVWorlds", swiftSettings: house),
    .executableTarget(
      name: "simulated-worlds", dependencies: ["KVWorlds", "KVTestSupport", "KVJSON", "CSQLite"],
      path: "Tests/SimulatedWorlds",
      swiftSettings: house),
    tests(
      of: "KVStorage",
      with: ["KVSQLite", "KVCrypto", "KVSync", "KVQuery", "KVJSON", "KVBase", "storage-saver"]),
    // Saves until it is killed, for the tests of the room.
    .executableTarget(
      name: "storage-saver",
      dependencies: ["KVStorage", "KVCrypto", "KVSync", "KVQuery", "KVJSON", "KVBase"],
      path: "Tests/StorageSaver", swiftSettings: house),
    // What libFuzzer runs (Tests/Fuzz/run), and the replay of its stored corpora.
    .target(
      name: "KVFuzzTargets",
      dependencies: [
        "KVServerHTTP", "KVServerOpenID", "KVServerCore",
        "KVAppSync", "KVTransport", "KVSync", "KVModels", "KVQuery", "KVJSON", "KVBase",
      ],
      path: "Tests/KVFuzzTargets", swiftSettings: house),
    .testTarget(name: "KVFuzzTests", dependencies: ["KVFuzzTargets"], swiftSettings: house),
    tests(of: "KVObjects", with: ["KVStorage", "KVSync", "KVQuery", "KVJSON", "KVBase"]),
    tests(of: "KVTransport"),
    tests(of: "KVKinvey", with: ["KVTransport", "KVSync", "KVQuery", "KVJSON"]),
    tests(of: "KVAppSync", with: ["KVSync", "KVJSON", "KVBase"]),
    tests(of: "KVCallback", with: ["KVStorage", "KVSync", "KVQuery", "KVJSON", "KVBase"]),
    tests(
      of: "KVClient",
      with: [
        "KVKinvey", "KVTransport", "KVSync", "KVQuery", "KVJSON", "KVBase", "KVServer",
        "KVServerHTTP", "KVServerCore",
      ]),
    tests(of: "KVStore", with: ["KVServer", "KVServerHTTP", "KVServerCore", "KVBase"]),
    tests(
      of: "KVStoreC",
      with: ["CKVStore", "KVServer", "KVServerHTTP", "KVServerCore", "KVSync", "KVBase"]),
    tests(
      of: "KVServer",
      with: [
        "KVServerAdmin", "KVServerHTTP", "KVServerLogic", "KVServerOpenID", "KVServerSQLite",
        "KVServerPostgres", "KVServerCore",
        "KVSQLite",
        "KVQuery", "KVJSON", "KVBase",
      ]),
  ]
)

// KVSTORE_ONLY="KVJSONTests kvstored": only these targets are built, with what they look into, and their products.
if let names = Context.environment["KVSTORE_ONLY"] {
  let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
  var kept: Set<String> = []
  var waiting = names.split(separator: " ").map(String.init)
  while let name = waiting.popLast() {
    guard kept.insert(name).inserted, let target = targets[name] else { continue }
    for dependency in target.dependencies {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): waiting.append(name)
      default: break
      }
    }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { !kept.contains($0.name) }
}
