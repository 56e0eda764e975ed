// swift-tools-version: 6.2

import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
    // Deprecations in newer releases of Swift or of a dependency must not break the build.
    .treatWarning("DeprecatedDeclaration", as: .warning),
]

let package = Package(
    name: "hearth",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "hearth", targets: ["HearthCLI"]),
        .executable(name: "hearth-bench", targets: ["HearthBench"]),
        .library(name: "HearthClient", targets: ["HearthClient", "DocumentModel"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.39.0", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.1.1"),
        // For tests only: an implementation of signatures other than the server's.
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        // For tests only: a stand-in for Combine, as used by view models on Apple platforms.
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", from: "0.14.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        // Apart from system libraries, a target depends only on targets above it in this list.
        .target(name: "UTF8Text", swiftSettings: swiftSettings),
        .target(name: "StrictJSON", dependencies: ["UTF8Text"], swiftSettings: swiftSettings),
        .target(name: "Concurrency", swiftSettings: swiftSettings),
        .target(
            name: "PrometheusMetrics",
            dependencies: [.product(name: "CoreMetrics", package: "swift-metrics")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "SpanRecording",
            dependencies: [.product(name: "Tracing", package: "swift-distributed-tracing")],
            swiftSettings: swiftSettings
        ),
        .target(name: "DocumentModel", dependencies: ["StrictJSON", "UTF8Text"], swiftSettings: swiftSettings),
        .target(name: "SyncEngine", dependencies: ["DocumentModel", "UTF8Text"], swiftSettings: swiftSettings),
        .target(name: "Cryptography", dependencies: ["CLibCrypto"], swiftSettings: swiftSettings),
        .target(name: "Gzip", dependencies: ["CZlib"], swiftSettings: swiftSettings),
        .target(
            name: "OTLPExport",
            dependencies: [
                "Gzip", "SpanRecording", "StrictJSON", "UTF8Text",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(name: "XMLText", dependencies: ["CLibXML2"], swiftSettings: swiftSettings),
        .target(name: "JSONRPC", dependencies: ["Concurrency", "StrictJSON", "UTF8Text"], swiftSettings: swiftSettings),
        .target(name: "StorageIO", dependencies: ["CLinux", "Concurrency", "DocumentModel"], swiftSettings: swiftSettings),
        .target(
            name: "DocumentStore",
            dependencies: ["Concurrency", "DocumentModel", "StrictJSON", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .target(name: "HearthWire", dependencies: ["DocumentModel", "StrictJSON", "UTF8Text"], swiftSettings: swiftSettings),
        .target(
            name: "FirestoreMessages",
            dependencies: ["DocumentModel", "StrictJSON", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FirestoreBundles",
            dependencies: ["DocumentModel", "FirestoreMessages", "StrictJSON", "SyncEngine", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "SyncCache",
            dependencies: [
                "DocumentModel", "HearthWire", "StrictJSON", "SyncEngine", "UTF8Text",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "IdentityTokens",
            dependencies: ["Cryptography", "DocumentModel", "StrictJSON", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "KeySetFetching",
            dependencies: [
                "DocumentModel", "IdentityTokens",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(name: "SecurityRules", dependencies: ["DocumentModel", "StrictJSON", "UTF8Text"], swiftSettings: swiftSettings),
        .target(
            name: "Journal",
            dependencies: ["Concurrency", "DocumentModel", "DocumentStore", "StorageIO", "StrictJSON", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Replication",
            dependencies: ["DocumentModel", "DocumentStore", "Journal", "StorageIO", "StrictJSON", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "QueryEngine",
            dependencies: ["DocumentModel", "DocumentStore", "StrictJSON", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "DocumentIndex",
            dependencies: [
                "Concurrency", "CSQLite", "DocumentModel", "DocumentStore", "QueryEngine", "StorageIO", "StrictJSON", "UTF8Text",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FileStore",
            dependencies: [
                "Concurrency", "Cryptography", "DocumentIndex", "DocumentModel", "DocumentStore", "Journal", "QueryEngine",
                "StorageIO", "StrictJSON", "UTF8Text",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PostgresStore",
            dependencies: [
                "CLibPQ", "Concurrency", "Cryptography", "DocumentIndex", "DocumentModel", "DocumentStore", "QueryEngine",
                "StorageIO",
                "StrictJSON", "UTF8Text",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "HearthTransport",
            dependencies: [
                "Concurrency", "DocumentModel", "HearthWire", "StrictJSON", "UTF8Text",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "HearthClient",
            dependencies: [
                "Concurrency", "DocumentModel", "FirestoreBundles", "HearthTransport", "HearthWire", "StrictJSON", "SyncCache",
                "SyncEngine", "UTF8Text",
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "HearthAPI",
            dependencies: [
                "CZlib", "Concurrency", "Cryptography", "DocumentModel", "DocumentStore", "HearthWire", "IdentityTokens",
                "JSONRPC",
                "PrometheusMetrics", "Replication", "SecurityRules", "SpanRecording", "StorageIO", "StrictJSON", "UTF8Text",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "HearthHTTP",
            dependencies: [
                "Concurrency", "Cryptography", "DocumentModel", "DocumentStore", "HearthAPI", "HearthWire", "IdentityTokens",
                "JSONRPC", "PrometheusMetrics", "Replication", "SpanRecording", "StrictJSON", "UTF8Text",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FirestoreAPI",
            dependencies: [
                "Cryptography", "DocumentModel", "DocumentStore", "FirestoreMessages", "HearthAPI", "StrictJSON", "UTF8Text",
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FirestoreProto",
            dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")],
            exclude: ["NOTICE", "generate"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FirestoreGRPC",
            dependencies: [
                "Concurrency", "DocumentModel", "DocumentStore", "FirestoreAPI", "FirestoreMessages", "FirestoreProto", "Gzip",
                "HearthAPI", "HearthHTTP", "JSONRPC", "PrometheusMetrics", "StrictJSON", "UTF8Text",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FirestoreREST",
            dependencies: [
                "Concurrency", "DocumentModel", "DocumentStore", "FirestoreAPI", "FirestoreMessages", "HearthAPI", "HearthHTTP",
                "JSONRPC", "SecurityRules", "StrictJSON", "UTF8Text",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "HearthAdmin",
            dependencies: [
                "Concurrency", "Cryptography", "DocumentModel", "DocumentStore", "Gzip", "HearthHTTP", "HearthAPI", "HearthWire",
                "JSONRPC", "SecurityRules", "StorageIO", "StrictJSON", "UTF8Text", "XMLText",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "HearthCLI",
            dependencies: [
                "CLinux", "Concurrency", "Cryptography", "DocumentModel", "DocumentStore", "FileStore", "FirestoreGRPC",
                "FirestoreREST", "HearthAdmin", "HearthAPI", "HearthHTTP", "HearthTransport", "HearthWire", "IdentityTokens",
                "KeySetFetching", "OTLPExport", "PostgresStore", "PrometheusMetrics", "Replication", "SecurityRules",
                "SpanRecording", "StorageIO",
                "StrictJSON",
                "UTF8Text",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "HearthBench",
            dependencies: [
                "CLinux", "Cryptography", "DocumentModel", "DocumentStore", "FileStore", "FirestoreAPI", "FirestoreProto",
                "FirestoreREST",
                "HearthClient", "HearthHTTP", "HearthAPI", "PostgresStore", "SecurityRules", "StrictJSON", "SyncCache",
                "SyncEngine",
                "UTF8Text",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            path: "Benchmarks",
            swiftSettings: swiftSettings
        ),
        // For its test: the sample program has a package of its own.
        .executableTarget(
            name: "SharedListExample",
            dependencies: ["HearthClient"],
            path: "Examples/SharedList/Sources",
            swiftSettings: swiftSettings
        ),
        .systemLibrary(name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: swiftSettings),
        .target(
            name: "QueryTestSupport",
            dependencies: ["DocumentModel", "UTF8Text", "TestSupport"],
            path: "Tests/QueryTestSupport",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "DocumentStoreConformance",
            dependencies: ["DocumentModel", "DocumentStore", "QueryTestSupport", "StrictJSON", "UTF8Text", "TestSupport"],
            path: "Tests/DocumentStoreConformance",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FuzzedInputs",
            dependencies: [
                "DocumentModel", "DocumentStore", "FirestoreGRPC", "FirestoreProto", "FirestoreREST", "HearthAPI", "JSONRPC",
                "StrictJSON", "UTF8Text", "TestSupport",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            path: "Tests/FuzzedInputs",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "TransportTestSupport",
            dependencies: ["HearthTransport", "StrictJSON", "UTF8Text"],
            path: "Tests/TransportTestSupport",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "TraceTestSupport",
            dependencies: [
                "Gzip",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/TraceTestSupport",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "ServerTestSupport",
            dependencies: [
                "Concurrency", "Cryptography", "DocumentModel", "DocumentStore", "FileStore", "FirestoreGRPC", "FirestoreREST",
                "HearthAPI", "HearthAdmin", "HearthHTTP", "IdentityTokens", "SpanRecording", "StrictJSON", "UTF8Text",
                "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Tests/ServerTestSupport",
            swiftSettings: swiftSettings
        ),
        .testTarget(name: "UTF8TextTests", dependencies: ["TestSupport", "UTF8Text"], swiftSettings: swiftSettings),
        .testTarget(
            name: "StrictJSONTests",
            dependencies: ["StrictJSON", "UTF8Text", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "DocumentModelTests",
            dependencies: ["DocumentModel", "QueryTestSupport", "StrictJSON", "UTF8Text", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "FirestoreBundlesTests",
            dependencies: ["FirestoreBundles", "DocumentModel", "SyncEngine", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "SyncEngineTests",
            dependencies: [
                "SyncEngine", "DocumentModel", "FirestoreBundles", "QueryTestSupport", "StrictJSON", "SyncCache", "TestSupport",
                "UTF8Text",
            ],
            exclude: ["SpecTests/Fixtures"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "SyncCacheTests",
            dependencies: [
                "SyncCache", "DocumentModel", "SyncEngine", "TestSupport", "UTF8Text",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Fixtures"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CryptographyTests",
            dependencies: [
                "Cryptography", "UTF8Text",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "PrometheusMetricsTests",
            dependencies: ["PrometheusMetrics", .product(name: "CoreMetrics", package: "swift-metrics")],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "SpanRecordingTests",
            dependencies: ["SpanRecording", .product(name: "Tracing", package: "swift-distributed-tracing")],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "OTLPExportTests",
            dependencies: [
                "OTLPExport", "SpanRecording", "TraceTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ConcurrencyTests",
            dependencies: ["Concurrency", "DocumentModel", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "JSONRPCTests",
            dependencies: ["Concurrency", "JSONRPC", "StrictJSON", "UTF8Text", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "StorageIOTests",
            dependencies: ["Concurrency", "StorageIO", "DocumentModel", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "DocumentStoreTests",
            dependencies: ["DocumentModel", "DocumentStore", "DocumentStoreConformance", "StrictJSON"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "JournalTests",
            dependencies: ["Journal", "DocumentModel", "DocumentStore", "StorageIO", "TestSupport", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ReplicationTests",
            dependencies: ["DocumentModel", "DocumentStore", "Replication", "TestSupport", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "IdentityTokensTests",
            dependencies: [
                "IdentityTokens", "DocumentModel", "StrictJSON", "TestSupport", "UTF8Text",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "SecurityRulesTests",
            dependencies: ["SecurityRules", "DocumentModel", "StrictJSON", "TestSupport", "UTF8Text"],
            exclude: ["Testing/Fixtures"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "QueryEngineTests",
            dependencies: ["QueryEngine", "DocumentModel", "DocumentStore", "QueryTestSupport", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "DocumentIndexTests",
            dependencies: ["DocumentIndex", "DocumentModel", "QueryEngine", "StorageIO", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "FileStoreTests",
            dependencies: [
                "FileStore", "DocumentIndex", "DocumentModel", "DocumentStore", "DocumentStoreConformance", "Journal",
                "QueryEngine", "QueryTestSupport",
                "StorageIO", "StrictJSON", "UTF8Text", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "PostgresStoreTests",
            dependencies: [
                "Concurrency", "PostgresStore", "DocumentModel", "DocumentStore", "DocumentStoreConformance", "QueryEngine",
                "QueryTestSupport", "StorageIO", "StrictJSON", "TestSupport", "UTF8Text",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "HearthAPITests",
            dependencies: [
                "HearthAPI", "DocumentIndex", "DocumentModel", "DocumentStore", "DocumentStoreConformance",
                "FileStore",
                "FuzzedInputs", "IdentityTokens", "JSONRPC", "PrometheusMetrics", "QueryEngine", "SecurityRules", "StorageIO",
                "StrictJSON", "UTF8Text",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "FirestoreRESTTests",
            dependencies: [
                "FirestoreREST", "Concurrency", "DocumentModel", "DocumentStore", "FirestoreAPI", "FuzzedInputs", "HearthAPI",
                "HearthHTTP", "JSONRPC", "ServerTestSupport", "StrictJSON", "UTF8Text",
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "FirestoreGRPCTests",
            dependencies: [
                "FirestoreGRPC", "Concurrency", "DocumentModel", "DocumentStore", "FirestoreAPI", "FirestoreProto",
                "FuzzedInputs", "Gzip", "HearthAPI", "HearthHTTP", "QueryTestSupport", "ServerTestSupport", "SpanRecording",
                "StrictJSON", "TestSupport", "UTF8Text",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "HearthHTTPTests",
            dependencies: [
                "HearthHTTP", "Concurrency", "Cryptography", "DocumentModel", "DocumentStore", "FileStore", "FuzzedInputs",
                "HearthAPI", "JSONRPC", "PrometheusMetrics", "ServerTestSupport", "SpanRecording", "StrictJSON", "UTF8Text",
                "TestSupport",
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "HearthAdminTests",
            dependencies: [
                "Cryptography", "HearthAdmin", "HearthAPI", "HearthHTTP", "DocumentModel", "DocumentStore", "FileStore", "Gzip",
                "JSONRPC", "SecurityRules", "StorageIO", "StrictJSON", "UTF8Text", "TestSupport",
                "CLibXML2", "CZlib",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            exclude: ["Golden"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "HearthWireTests",
            dependencies: [
                "HearthWire", "DocumentModel", "DocumentStore", "HearthAPI", "JSONRPC", "QueryTestSupport", "StrictJSON",
                "TestSupport", "UTF8Text",
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "HearthTransportTests",
            dependencies: ["HearthTransport", "DocumentModel", "HearthWire", "StrictJSON", "TransportTestSupport", "UTF8Text"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "HearthClientTests",
            dependencies: [
                "HearthClient", "DocumentModel", "HearthTransport", "HearthWire", "StrictJSON", "SyncCache", "SyncEngine",
                "TransportTestSupport", "UTF8Text", "TestSupport",
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "HearthCLITests",
            dependencies: [
                "HearthCLI", "DocumentModel", "DocumentStore", "HearthAPI", "HearthTransport", "HearthHTTP", "PrometheusMetrics",
                "StorageIO", "TestSupport", "UTF8Text",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "EndToEnd",
            dependencies: [
                "CLinux", "HearthCLI", "HearthClient", "DocumentModel", "DocumentStore", "FileStore", "SharedListExample",
                "SpanRecording", "StrictJSON", "UTF8Text",
                "TestSupport", "TraceTestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Tests/EndToEnd",
            exclude: ["Fixtures", "Go", "Python"],
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)

// Only for `Tests/Fuzzing/run`: it must be linked with libFuzzer.
if Context.environment["HEARTH_FUZZING"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzzing",
            dependencies: ["FuzzedInputs"],
            path: "Tests/Fuzzing",
            exclude: ["run"],
            swiftSettings: swiftSettings
        )
    )
}

// SwiftPM builds all executables and dynamic libraries of a package dependency. A checkout by SwiftPM or Xcode offers only the
// client library, so that no part of the server is built with it.
if ["/.build/checkouts/", "/SourcePackages/checkouts/"].contains(where: Context.packageDirectory.contains) {
    package.products.removeAll { $0.name != "HearthClient" }
}
