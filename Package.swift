// swift-tools-version: 6.2

import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "hearth",
    platforms: [.macOS(.v15), .iOS(.v18)],
    targets: [
        // Each target uses only targets above it in this list.
        .target(name: "StrictJSON", swiftSettings: swiftSettings),
        .target(name: "DocumentModel", dependencies: ["StrictJSON"], swiftSettings: swiftSettings),
        .target(name: "JSONRPC", dependencies: ["StrictJSON"], swiftSettings: swiftSettings),

        .testTarget(name: "StrictJSONTests", dependencies: ["StrictJSON"], swiftSettings: swiftSettings),
        .testTarget(name: "DocumentModelTests", dependencies: ["DocumentModel", "StrictJSON"], swiftSettings: swiftSettings),
        .testTarget(name: "JSONRPCTests", dependencies: ["JSONRPC", "StrictJSON"], swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
