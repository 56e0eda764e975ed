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
    products: [
        // Preloaded into servers by the crash tests; never linked.
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
    ],
    targets: [
        // Each target uses only targets above it in this list.
        .target(name: "StrictJSON", swiftSettings: swiftSettings),
        .target(name: "DocumentModel", dependencies: ["StrictJSON"], swiftSettings: swiftSettings),
        .target(name: "JSONRPC", dependencies: ["StrictJSON"], swiftSettings: swiftSettings),
        .target(
            name: "DocumentStore",
            dependencies: [
                "DocumentModel", "StrictJSON",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),

        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: swiftSettings),
        .testTarget(name: "StrictJSONTests", dependencies: ["StrictJSON"], swiftSettings: swiftSettings),
        .testTarget(name: "DocumentModelTests", dependencies: ["DocumentModel", "StrictJSON"], swiftSettings: swiftSettings),
        .testTarget(name: "JSONRPCTests", dependencies: ["JSONRPC", "StrictJSON"], swiftSettings: swiftSettings),
        .testTarget(
            name: "DocumentStoreTests",
            dependencies: [
                "DocumentStore", "DocumentModel", "StrictJSON", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)
