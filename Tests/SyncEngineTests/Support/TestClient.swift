import DocumentModel
import SyncEngine
import Testing
import UTF8Text

/// An engine with a record of its effects.
struct TestClient<Cache: LocalCache> {
    var engine: SyncEngine<Cache>
    private(set) var events: [ListenerID: [ViewSnapshot]] = [:]
    private(set) var failures: [ListenerID: StatusCode] = [:]
    private(set) var requests: [TargetID: TargetRequest] = [:]
    /// The tokens up to which the streams have delivered; empty for a stream from the beginning.
    var positions: [TargetID: String] = [:]
    private(set) var sent: [(batch: MutationBatch, identity: BatchIdentity)] = []
    private(set) var completions: [WriteID: StatusCode?] = [:]
    private(set) var rejections: [BatchNumber: StatusCode] = [:]
    private(set) var endedWaits: [WaitID: StatusCode?] = [:]
    private(set) var limboReads: [DocumentPath] = []
    private(set) var cacheErrors: [StatusError] = []
    /// All effects since the last ``takeLog()``, by name, for tests of their order.
    private var log: [String] = []
    private var lastID: UInt64 = 0
    private let settings: SyncEngine<Cache>.Settings

    init(_ engine: SyncEngine<Cache>) {
        self.engine = engine
        settings = SyncEngine<Cache>.Settings()
    }

    init(cache: Cache, _ settings: SyncEngine<Cache>.Settings) {
        engine = SyncEngine(cache: cache, settings: settings)
        self.settings = settings
    }

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func perform(_ input: (inout SyncEngine<Cache>) throws -> [SyncEffect]) rethrows {
        for effect in try input(&engine) { carryOut(effect) }
    }

    mutating func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    /// Forgets the batches and streams, as a restarted process does.
    mutating func forgetEffects() {
        events = [:]
        requests = [:]
        positions = [:]
        sent = []
        limboReads = []
        completions = [:]
    }

    mutating func takeSent() -> [(batch: MutationBatch, identity: BatchIdentity)] {
        defer { sent = [] }
        return sent
    }

    mutating func removeFirstSent() {
        sent.removeFirst()
    }

    mutating func takeEvents() -> [ListenerID: [ViewSnapshot]] {
        defer { events = [:] }
        return events
    }

    mutating func takeLimboReads() -> [DocumentPath] {
        defer { limboReads = [] }
        return limboReads
    }

    private mutating func carryOut(_ effect: SyncEffect) {
        switch effect {
        case .raise(let id, let snapshot):
            events[id, default: []].append(snapshot)
            log.append("raise \(id)")
        case .fail(let id, let error):
            failures[id] = error.code
            log.append("fail \(id)")
        case .raiseSnapshotsInSync:
            log.append("in sync")
        case .openTarget(let request):
            requests[request.id] = request
            positions[request.id] = request.token ?? ""
            log.append("open \(request.id)")
        case .closeTarget(let id):
            requests[id] = nil
            positions[id] = nil
            log.append("close \(id)")
        case .readDocuments(let paths):
            limboReads += paths
            log.append("read")
        case .send(let batch, let identity):
            sent.append((batch, identity))
            log.append("send \(batch.number)")
        case .stopSending:
            sent = []
            log.append("stop sending")
        case .complete(let id, let error, _):
            completions[id] = .some(error?.code)
            log.append("complete \(id)")
        case .reportRejection(let batch):
            rejections[batch.number] = batch.code
            log.append("report \(batch.number)")
        case .endWait(let id, let error):
            endedWaits[id] = .some(error?.code)
            log.append("end wait \(id)")
        case .startOnlineStateTimer:
            log.append("start timer")
        case .stopOnlineStateTimer:
            log.append("stop timer")
        case .resendBatchesLater:
            log.append("resend later")
        case .reportCacheError(let error):
            cacheErrors.append(error)
            log.append("cache error")
        }
    }
}

// MARK: Shorthand

extension TestClient {
    mutating func listen(
        to query: ViewQuery,
        includesMetadataChanges: Bool = false,
        waitsForSync: Bool = false,
        isCacheOnly: Bool = false,
        requiresServer: Bool = false
    ) throws -> ListenerID {
        let id = nextID()
        let options = ListenOptions(
            includesMetadataChanges: includesMetadataChanges,
            waitsForSync: waitsForSync,
            isCacheOnly: isCacheOnly,
            requiresServer: requiresServer
        )
        try perform { try $0.listen(id, to: query, options: options) }
        return id
    }

    @discardableResult
    mutating func write(_ writes: Write..., at time: Int64 = 5_000_000) throws -> WriteID {
        let id = nextID()
        try perform { try $0.write(writes, id, at: Timestamp(microseconds: time)) }
        return id
    }

    /// Acknowledges the first batch that was sent.
    mutating func acknowledge(at time: Int64, _ results: [Value] = []) throws {
        let batch = sent.removeFirst().batch
        let time = try Timestamp(microseconds: time)
        let result = BatchResult(
            commitTime: time,
            results: batch.writes.map { write in
                WriteResult(updateTime: write.operation == .delete ? nil : time, transformResults: results)
            }
        )
        try perform { try $0.batchAcknowledged(batch.number, result) }
    }

    /// Rejects the first batch that was sent.
    mutating func reject(_ code: StatusCode = .permissionDenied) throws {
        let batch = sent.removeFirst().batch
        try perform { try $0.batchRejected(batch.number, StatusError(code, "The batch is rejected.")) }
    }

    /// Delivers documents to the target of a listener, which is current.
    ///
    /// - Parameter isOfAll: True if the snapshot holds for all targets that are current.
    mutating func deliver(
        _ documents: RemoteDocument...,
        removing removed: [DocumentPath] = [],
        to listener: ListenerID,
        at time: Int64,
        isCurrent: Bool = true,
        isOfAll: Bool = false
    ) throws {
        let target = try #require(engine.target(of: listener))
        let event = RemoteEvent(
            time: try Timestamp(microseconds: time),
            token: isOfAll ? "token \(time)" : nil,
            targets: [
                target: RemoteEvent.TargetChange(
                    added: Set(documents.filter(\.isFound).map(\.path)),
                    removed: Set(removed),
                    isCurrent: isCurrent,
                    token: "token \(time)"
                )
            ],
            documents: documents
        )
        try perform { try $0.apply(event) }
    }

    /// The last event of a listener.
    func last(_ listener: ListenerID) throws -> ViewSnapshot {
        try #require(events[listener]?.last)
    }
}

extension TestClient<MemoryCache> {
    init(isEager: Bool = false) {
        self.init(SyncEngine(cache: MemoryCache(isEager: isEager)))
    }
}

extension TestClient {
    /// Ends the engine, and starts another one over its cache.
    ///
    /// - Parameter reopen: Returns the cache of the new engine.
    mutating func restart(as user: UserID? = nil, reopening reopen: (Cache) throws -> Cache = { $0 }) throws {
        perform { $0.terminate() }
        forgetEffects()
        engine = SyncEngine(cache: try reopen(engine.cache), user: user ?? engine.user, settings: settings)
        try perform { try $0.start() }
    }
}

// MARK: Documents

extension DocumentPath {
    /// Returns the path of a document in the collection `c`.
    static func inC(_ id: String) -> DocumentPath {
        do throws(StatusError) {
            return try DocumentPath("c/\(id)")
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension RemoteDocument {
    /// Creates an existing document.
    init(_ path: DocumentPath, _ fields: MapValue, at time: Int64) throws {
        let time = try Timestamp(microseconds: time)
        self.init(path: path, content: .found(fields, createTime: time), version: time)
    }

    /// Creates an absent document.
    init(missing path: DocumentPath, at time: Int64) throws {
        self.init(path: path, content: .missing, version: try Timestamp(microseconds: time))
    }
}

extension ViewQuery {
    /// Creates a query of the collection `c`.
    init(
        where filter: QueryFilter? = nil,
        orders: [StructuredQuery.Order] = [],
        offset: Int = 0,
        limit: StructuredQuery.Limit? = nil
    ) throws {
        let source = StructuredQuery.Source.collection(try CollectionPath("c"))
        try self.init(StructuredQuery(source, where: filter, orders: orders, offset: offset, limit: limit))
    }
}
