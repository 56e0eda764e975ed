import Foundation
import StrictJSON
import Testing
import UTF8Text

/// A test of the suite that Firestore's client SDKs share.
struct SpecTest: Sendable, CustomTestStringConvertible {
    let file: String
    let name: String
    let tags: Set<String>
    let usesEagerCache: Bool
    let maximumLimboReads: Int?
    let steps: [JSONNode]

    var testDescription: String { "\(file): \(name)" }

    /// True for a test that only the SDK for the Web replays. Its runner ignores the option to wait for the server.
    var isForWeb: Bool { tags.contains("no-ios") }

    /// The steps that occur, and the parts of the state that are expected.
    var features: Set<String> {
        Set(steps.flatMap { $0.members?.map(\.key.string) ?? [] })
    }
}

extension SpecTest {
    /// All tests of the copied files.
    static let all: [SpecTest] = {
        let files = [
            "bundle", "collection", "garbage_collection", "limbo", "limit", "listen", "listen_source", "offline", "orderby",
            "persistence", "query", "remote_store", "resume_token", "write",
        ]
        return files.flatMap { file in
            let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(file)_spec_test.json")
            guard let data = try? Data(contentsOf: url), let text = try? JSONText([UInt8](data)) else { return [SpecTest]() }
            return text.root.members?.map { SpecTest($0.value, in: file) } ?? []
        }
    }()

    /// The tests that the engine replays.
    static let replayed = all.filter { $0.reasonToSkip == nil }

    private init(_ node: JSONNode, in file: String) {
        self.file = file
        name = [node["describeName"]?.string, node["itName"]?.string].compactMap { $0 }.joined(separator: " ")
        tags = Set(node["tags"]?.elements?.compactMap(\.string) ?? [])
        usesEagerCache = node["config"]?["useEagerGCForMemory"]?.boolean ?? false
        maximumLimboReads = node["config"]?["maxConcurrentLimboResolutions"]?.integer.map { Int($0) }
        steps = node["steps"]?.elements.map(Array.init) ?? []
    }
}

// MARK: Skipped tests

extension SpecTest {
    /// Returns the reason why the test is not replayed; `nil` if it is.
    var reasonToSkip: SkipReason? {
        SkipReason.allCases.first { $0.applies(to: self) }
    }

    enum SkipReason: String, CaseIterable, CustomTestStringConvertible {
        /// Several browser tabs share one persistence; here a process has a cache of its own.
        case severalClients
        /// Existence filters and Bloom filters; Hearth's log tells each document that leaves a target.
        case existenceFilter
        /// An open defect of the SDKs: a listener to the cache sees an acknowledged write pending for ever. Here it is told.
        case pendingInCache

        var testDescription: String { rawValue }

        private static let pendingInCacheTests = [
            "Listens source options: Documents are cleared when listen is removed.",
            "Listens source options: "
                + "Newer docs from bundles should raise snapshot only when Watch catches up with acknowledged writes",
        ]

        fileprivate func applies(to test: SpecTest) -> Bool {
            switch self {
            case .severalClients: test.tags.contains("multi-client")
            case .existenceFilter: test.features.contains("watchFilter")
            case .pendingInCache: Self.pendingInCacheTests.contains(test.name)
            }
        }
    }
}

// MARK: Caches

extension SpecTest {
    /// The caches in which tests are replayed.
    enum CacheKind: String, CaseIterable, CustomTestStringConvertible {
        /// A cache that dies with the client, eager if the test asks for it.
        case transient
        /// A cache that survives restarts, and evicts what was least recently used.
        case durable

        var testDescription: String { rawValue }
    }

    func applies(to kind: CacheKind) -> Bool {
        switch kind {
        case .transient: !tags.contains("durable-persistence")
        case .durable: !tags.contains("eager-gc")
        }
    }
}

extension JSONNode {
    var integer: Int64? {
        if case .integer(let value)? = number { value } else { nil }
    }
}
