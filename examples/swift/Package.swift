// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "notes",
  dependencies: [
    // Elsewhere: .package(url: "…/kvstore.git", from: "0.2.0")
    .package(name: "kvstore", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "notes", dependencies: [.product(name: "KVStore", package: "kvstore")])
  ]
)
