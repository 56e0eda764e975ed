import Foundation
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Package manifest")
struct PackageManifestTests {
    private static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the manifest as the package manager reads it.
    private func manifest() throws -> JSONNode {
        let folder = try TemporaryFolder()
        let file = folder["manifest.json"]
        _ = FileManager.default.createFile(atPath: file, contents: nil)
        let output = try #require(FileHandle(forWritingAtPath: file))
        let process = try ChildProcess(
            "/usr/bin/env",
            [
                "swift", "package", "--package-path", Self.repository.path, "--scratch-path", folder["build"], "dump-package",
            ],
            output: output
        )
        #expect(process.wait() == .code(0))
        let bytes = try Array(#require(FileManager.default.contents(atPath: file)))
        return try JSONText(bytes, limits: JSONLimits(maximumBytes: bytes.count)).root
    }

    private func names(of dependencies: JSONNode?, _ kinds: UTF8Key...) -> [String] {
        dependencies?.elements?.compactMap { dependency in
            kinds.lazy.compactMap { kind in dependency[kind]?.elements?.first { $0.kind == .string }?.string }.first
        } ?? []
    }

    @Test func `The client library contains nothing of the server`() throws {
        let manifest = try manifest()
        var targets: [String: JSONNode] = [:]
        for target in try #require(manifest["targets"]?.elements) { targets[try #require(target["name"]?.string)] = target }
        let product = manifest["products"]?.elements?.first { $0["name"]?.string == "HearthClient" }
        var pending = try #require(product?["targets"]?.elements).compactMap(\.string)
        var found: Set<String> = []
        var products: Set<String> = []
        while let name = pending.popLast() {
            // A name of another package would be a product.
            guard found.insert(name).inserted, let target = targets[name] else { continue }
            pending += names(of: target["dependencies"], "byName", "target")
            products.formUnion(names(of: target["dependencies"], "product"))
        }
        #expect(found.contains("HearthClient") && found.contains("HearthWire"))
        let own: Set = [
            "HearthClient", "HearthTransport", "HearthWire", "FirestoreBundles", "FirestoreMessages", "SyncCache", "SyncEngine",
            "DocumentModel", "Concurrency", "StrictJSON", "UTF8Text",
        ]
        #expect(found.isSubset(of: own))
        #expect(products.isSubset(of: ["AsyncHTTPClient", "GRDB", "GRDBSQLite", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL"]))
    }
}
