import DocumentModel
import SyncEngine
import TestSupport
import UTF8Text

@testable import SyncCache

/// A step that changes a cache.
enum CacheStep {
    case saveDocuments([RemoteDocument])
    case removeDocuments(Set<DocumentPath>)
    case appendBatch([Write], [MutationBatch.BaseValue], Timestamp, UserID)
    case removeFirstBatch(UserID)
    case recordSent(UserID)
    case appendRejected(StatusCode, UserID)
    case removeRejected(UserID)
    case saveOverlays([Overlay], UserID)
    case removeOverlays(Set<DocumentPath>, UserID)
    case saveOverlayUser(UserID)
    case addTarget(SyncTarget)
    case saveTarget(SyncTarget, token: String)
    case removeTarget(SyncTarget)
    case updateKeys(SyncTarget, adding: Set<DocumentPath>, removing: Set<DocumentPath>)
    case touch(Set<DocumentPath>)
    case saveNamedQuery(NamedQuery)

    static let queryNames: [UTF8Key] = ["a", "é", "e\u{301}"]

    static let users = [UserID(nil), UserID("x"), UserID("")]

    init(_ contents: inout RandomContents) throws {
        let user = Self.users.randomElement(using: &contents.random) ?? UserID(nil)
        let target = try Self.targets().randomElement(using: &contents.random) ?? .document(contents.path())
        switch Int.random(in: 0..<17, using: &contents.random) {
        case 0, 1:
            let count = Int.random(in: 0...3, using: &contents.random)
            self = .saveDocuments(try (0..<count).map { _ in try contents.document() })
        case 2: self = .removeDocuments(contents.paths())
        case 3, 4:
            let base = MutationBatch.BaseValue(path: contents.path(), field: try contents.field(), value: try contents.value())
            let writes = try (0..<Int.random(in: 1...3, using: &contents.random)).map { _ in try contents.write() }
            self = .appendBatch(writes, contents.random.chance(30) ? [base] : [], try contents.time(), user)
        case 5: self = .removeFirstBatch(user)
        case 6: self = .recordSent(user)
        case 7: self = .appendRejected(StatusCode.allCases.randomElement(using: &contents.random) ?? .unknown, user)
        case 8: self = .removeRejected(user)
        case 9: self = .saveOverlays(try (0..<3).map { _ in try contents.overlay() }, user)
        case 10: self = .removeOverlays(contents.paths(), user)
        case 11: self = .saveOverlayUser(user)
        case 12: self = .addTarget(target)
        case 13: self = contents.random.chance(50) ? .saveTarget(target, token: "token") : .removeTarget(target)
        case 14: self = .updateKeys(target, adding: contents.paths(), removing: contents.paths())
        case 15: self = .touch(contents.paths())
        default:
            let name = Self.queryNames.randomElement(using: &contents.random) ?? "a"
            let definition = StoredJSON.encode(try contents.fields())
            self = .saveNamedQuery(NamedQuery(name: name, readTime: try contents.time(), definition: definition))
        }
    }

    static func targets() throws -> [SyncTarget] {
        let filter = QueryFilter.and([
            .field(try FieldPath("a"), .greaterOrEqual(.double(-0.0))), .field(try FieldPath("b"), .in([.null, .integer(1)])),
        ])
        let source = StructuredQuery.Source.collection(try CollectionPath("c"))
        return [
            .document(RandomContents.path("c/a")),
            .bundle("é"),
            .bundle("e\u{301}"),
            .query(StructuredQuery(source)),
            .query(StructuredQuery(source, where: filter)),
            .query(StructuredQuery(source, limit: .first(3))),
            .query(StructuredQuery(.collectionGroup(try CollectionID("sub"), below: nil))),
        ]
    }

    func apply(to cache: inout some LocalCache) throws(StatusError) {
        switch self {
        case .saveDocuments(let documents): try cache.save(documents)
        case .removeDocuments(let paths): try cache.removeDocuments(at: paths)
        case .appendBatch(let writes, let base, let time, let user):
            _ = try cache.appendBatch(writes, baseValues: base, at: time, for: user)
            // Each cache would choose an identity at random.
            guard let client = CommitClientID(bytes: [UInt8](repeating: 7, count: 16)) else { return }
            try cache.save(QueueIdentity(client: client, precedingNumber: 0), for: user)
        case .removeFirstBatch(let user):
            guard let batch = try cache.batch(after: 0, for: user) else { return }
            try cache.removeBatch(batch.number, for: user)
        case .recordSent(let user):
            guard let batch = try cache.batch(after: 0, for: user) else { return }
            try cache.recordSent(through: batch.number, for: user)
        case .appendRejected(let code, let user):
            guard let batch = try cache.batch(after: 0, for: user) else { return }
            let rejected = RejectedBatch(
                number: batch.number,
                localTime: batch.localTime,
                writes: batch.writes,
                code: code,
                message: "Not „so“."
            )
            try cache.append(rejected, for: user)
            try cache.removeBatch(batch.number, for: user)
        case .removeRejected(let user):
            guard let rejected = try cache.rejectedBatches(for: user).first else { return }
            try cache.removeRejectedBatch(rejected.number, for: user)
        case .saveOverlays(let overlays, let user): try cache.save(overlays, for: user)
        case .removeOverlays(let paths, let user): try cache.removeOverlays(at: paths, for: user)
        case .saveOverlayUser(let user): try cache.save(overlayUser: user)
        case .addTarget(let target): if try cache.target(target) == nil { _ = try cache.addTarget(target) }
        case .saveTarget(let target, let token):
            guard var cached = try cache.target(target) else { return }
            cached.token = token + "\(cached.lastUse)"
            cached.snapshotTime = .maximum
            cached.syncedChange = try cache.lastChange
            cached.lastUse = try cache.nextUse()
            try cache.save(cached)
        case .removeTarget(let target): if let cached = try cache.target(target) { try cache.removeTarget(cached.id) }
        case .updateKeys(let target, let added, let removed):
            guard let cached = try cache.target(target) else { return }
            try cache.updateKeys(of: cached.id, adding: added, removing: removed.subtracting(added))
        case .touch(let paths): try cache.touch(paths, use: cache.nextUse())
        case .saveNamedQuery(let query): try cache.save(query)
        }
    }
}
