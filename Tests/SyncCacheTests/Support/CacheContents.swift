import DocumentModel
import SyncEngine
import UTF8Text

/// All that can be read from a cache with the paths, users and targets of the tests.
struct CacheContents: Equatable {
    private var lastChange: ChangeNumber
    private var byteCount: Int
    private var overlayUser: UserID?
    private var documents: [DocumentPath: RemoteDocument]
    private var visited: [String: [DocumentPath: RemoteDocument]] = [:]
    private var queues: [UserID: Queue] = [:]
    private var overlays: [String: [DocumentPath: Overlay]] = [:]
    private var targets: [SyncTarget: CachedTarget] = [:]
    private var keys: [SyncTarget: Set<DocumentPath>] = [:]
    private var namedQueries: [NamedQuery?]
    private var unreferenced: Set<DocumentPath>
    private var uses: [UseNumber?] = []
    private var usedTargets: [Set<TargetID>] = []
    private var usedDocuments: [Set<DocumentPath>] = []

    struct Queue: Equatable {
        var lastNumber: BatchNumber = 0
        var state: QueueState?
        var batches: [MutationBatch] = []
        var affecting: [DocumentPath: [BatchNumber]] = [:]
        var paths: Set<DocumentPath>
        var rejected: [RejectedBatch]
    }

    static func sources() throws -> [StructuredQuery.Source] {
        let sub = try CollectionID("sub")
        return [
            .collection(try CollectionPath("c")), .collection(try CollectionPath("c/b/sub")),
            .collection(try CollectionPath("none")),
            .collectionGroup(sub, below: nil), .collectionGroup(sub, below: RandomContents.path("c/b")),
            .descendants(of: nil), .descendants(of: RandomContents.path("c/a")),
        ]
    }

    init(_ cache: inout some LocalCache) throws {
        let paths = Set(RandomContents.paths)
        lastChange = try cache.lastChange
        byteCount = try cache.byteCount
        overlayUser = try cache.overlayUser
        documents = try cache.documents(at: paths)
        namedQueries = try CacheStep.queryNames.map { try cache.namedQuery($0) }
        unreferenced = try cache.unreferenced(paths)
        for source in try Self.sources() {
            for change in [0, lastChange > 1 ? lastChange - 2 : 0, lastChange] {
                var found: [DocumentPath: RemoteDocument] = [:]
                try cache.visitDocuments(in: source, after: change) { (document) throws(StatusError) in
                    found[document.path] = document
                }
                visited["\(source) after \(change)"] = found
            }
            for user in CacheStep.users { overlays["\(source) of \(user)"] = try cache.overlays(in: source, for: user) }
        }
        for user in CacheStep.users {
            overlays["\(user)"] = try cache.overlays(at: paths, for: user)
            queues[user] = try Queue(&cache, user, paths)
        }
        for target in try CacheStep.targets() {
            guard let cached = try cache.target(target) else { continue }
            targets[target] = cached
            keys[target] = try cache.keys(of: cached.id)
        }
        for fraction in [0.1, 0.3, 0.5, 1] { uses.append(try cache.useNumber(atFraction: fraction, maximumCount: 6)) }
        for use in [0] + uses.compactMap(\.self) {
            usedTargets.append(Set(try cache.targets(usedThrough: use)))
            usedDocuments.append(try cache.unreferencedDocuments(usedThrough: use))
        }
    }
}

extension CacheContents.Queue {
    init(_ cache: inout some LocalCache, _ user: UserID, _ paths: Set<DocumentPath>) throws {
        self.paths = try cache.queuedPaths(for: user)
        rejected = try cache.rejectedBatches(for: user)
        while let batch = try cache.batch(after: lastNumber, for: user) {
            batches.append(batch)
            lastNumber = batch.number
        }
        for path in paths {
            var numbers: [BatchNumber] = []
            try cache.visitBatches(affecting: [path], for: user) { (batch) throws(StatusError) in numbers.append(batch.number) }
            affecting[path] = numbers
        }
        // Reading the state of a new queue creates it, with a random identity.
        if !batches.isEmpty || !rejected.isEmpty { state = try cache.queueState(for: user) }
    }
}
