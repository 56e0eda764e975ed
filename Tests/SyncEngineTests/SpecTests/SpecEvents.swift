import DocumentModel
import StrictJSON
import SyncEngine
import Testing
import UTF8Text

/// A listener of a spec test.
struct SpecListener {
    let query: ViewQuery
    var replayed = ReplayedListener()
}

/// An event that the engine has raised.
struct SpecEvent {
    let query: ViewQuery
    let snapshot: ViewSnapshot?
    let code: Int64
}

/// An event that a spec test expects.
struct SpecExpectedEvent {
    let query: ViewQuery
    private let code: Int64
    private let changes: Set<SpecChange>
    private let isFromCache: Bool
    private let hasPendingWrites: Bool

    init(_ node: JSONNode) throws {
        query = try ViewQuery(spec: try #require(node["query"]))
        code = node["errorCode"]?.integer ?? 0
        isFromCache = node["fromCache"]?.boolean ?? false
        hasPendingWrites = node["hasPendingWrites"]?.boolean ?? false
        let kinds: [(UTF8Key, ViewSnapshot.Change.Kind)] = [
            ("removed", .removed), ("added", .added), ("modified", .modified), ("metadata", .metadata),
        ]
        changes = Set(
            try kinds.flatMap { key, kind in try node[key]?.elements?.map { try SpecChange($0, kind) } ?? [] }
        )
    }

    func check(_ event: SpecEvent, _ description: String) {
        #expect(event.code == code, "\(description)")
        guard code == 0, let snapshot = event.snapshot else { return }
        #expect(Set(snapshot.changes.map(SpecChange.init)) == changes, "\(description)")
        #expect(snapshot.changes.count == changes.count, "\(description)")
        #expect(snapshot.isFromCache == isFromCache, "isFromCache, \(description)")
        #expect(snapshot.hasPendingWrites == hasPendingWrites, "hasPendingWrites, \(description)")
    }
}

/// A change in an event.
struct SpecChange: Hashable {
    private let kind: ViewSnapshot.Change.Kind
    private let path: String
    private let version: Int64
    private let fields: MapValue
    private let hasLocalMutations: Bool
    private let hasCommittedMutations: Bool

    init(_ change: ViewSnapshot.Change) {
        kind = change.kind
        path = change.document.path.string
        // The SDKs drop the version of a document with local mutations.
        version = change.document.hasLocalMutations ? 0 : change.document.version?.microseconds ?? 0
        fields = change.document.fields
        hasLocalMutations = change.document.hasLocalMutations
        hasCommittedMutations = change.document.hasCommittedMutations
    }

    init(_ node: JSONNode, _ kind: ViewSnapshot.Change.Kind) throws {
        self.kind = kind
        path = try #require(node["key"]?.string)
        version = try #require(node["version"]?.integer)
        fields = try MapValue(json: try #require(node["value"]))
        hasLocalMutations = node["options"]?["hasLocalMutations"]?.boolean ?? false
        hasCommittedMutations = node["options"]?["hasCommittedMutations"]?.boolean ?? false
    }
}

/// The state that a spec test expects, until it says otherwise.
struct SpecExpectedState {
    private(set) var targets: [Int: SyncTarget] = [:]
    /// The tokens of the targets, or the times that they are resumed from.
    private(set) var tokens: [Int: String] = [:]
    private(set) var activeLimbo: Set<DocumentPath> = []
    private(set) var waitingLimbo: Set<DocumentPath> = []

    mutating func update(_ node: JSONNode?) throws {
        if let paths = node?["activeLimboDocs"]?.elements {
            activeLimbo = Set(try paths.compactMap(\.string).map { try DocumentPath($0) })
        }
        if let paths = node?["enqueuedLimboDocs"]?.elements {
            waitingLimbo = Set(try paths.compactMap(\.string).map { try DocumentPath($0) })
        }
        guard let members = node?["activeTargets"]?.members else { return }
        targets = [:]
        tokens = [:]
        for (key, value) in members {
            guard let id = Int(key.string), let query = value["queries"]?.elements?.first(where: { _ in true }) else { continue }
            targets[id] = try ViewQuery(spec: query).target
            let token = value["resumeToken"]?.string ?? ""
            let time = value["readTime"]?.integer.map { "time \($0)" }
            tokens[id] = token.utf8.isEmpty ? time ?? "" : token
        }
    }
}

extension RemoteDocument {
    /// Creates a document from its JSON in a spec test.
    init(spec node: JSONNode) throws {
        let value = try #require(node["value"])
        let content: Content =
            value.isNull ? .missing : .found(try MapValue(json: value), createTime: try Timestamp(microseconds: 0))
        self.init(
            path: try DocumentPath(try #require(node["key"]?.string)),
            content: content,
            version: try Timestamp(microseconds: try #require(node["version"]?.integer))
        )
    }
}
