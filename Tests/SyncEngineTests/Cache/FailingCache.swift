import DocumentModel
import SyncEngine
import Synchronization
import UTF8Text

/// Makes the transactions of caches fail.
final class FailureSwitch: Sendable {
    private let state = Mutex((isOn: false, remaining: Int.max))

    var isOn: Bool {
        get { state.withLock { $0.isOn } }
        set { state.withLock { $0 = (newValue, .max) } }
    }

    /// Lets some transactions succeed before the others fail.
    func turnOn(after count: Int) {
        state.withLock { $0 = (false, count) }
    }

    /// Returns whether a transaction fails.
    func fails() -> Bool {
        state.withLock { state in
            guard !state.isOn, state.remaining != .max else { return state.isOn }
            state.remaining -= 1
            if state.remaining < 0 { state = (true, .max) }
            return state.isOn
        }
    }
}

/// Counts the calls of caches.
final class CallCounter: Sendable {
    struct Counts {
        /// The number of documents that were looked up.
        var documents = 0
        /// The number of overlays that were removed, whether they existed or not.
        var removedOverlays = 0
    }

    private let counts = Mutex(Counts())

    /// Returns the counts since the last call.
    func take() -> Counts {
        counts.withLock { counts in
            defer { counts = Counts() }
            return counts
        }
    }

    func count(_ body: (inout Counts) -> Void) {
        counts.withLock { body(&$0) }
    }
}

/// A cache whose transactions can be made to fail, as those on a full or damaged disk.
struct FailingCache: LocalCache {
    var memory = MemoryCache(isEager: false)
    let failure: FailureSwitch
    let calls = CallCounter()

    var isEager: Bool { memory.isEager }
    var lastChange: ChangeNumber { memory.lastChange }
    var overlayUser: UserID? { memory.overlayUser }
    var byteCount: Int { memory.byteCount }
    var serverClock: ServerClock { memory.serverClock }

    mutating func transaction<Result>(
        _ body: (inout Self) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        let saved = self
        do throws(StatusError) {
            let result = try body(&self)
            // The commit fails, so everything before is lost.
            if failure.fails() { throw StatusError(.unavailable, "The disk is full.") }
            return result
        } catch {
            self = saved
            throw error
        }
    }

    func documents(at paths: Set<DocumentPath>) -> [DocumentPath: RemoteDocument] {
        calls.count { $0.documents += paths.count }
        return memory.documents(at: paths)
    }

    func visitDocuments(
        in source: StructuredQuery.Source,
        after change: ChangeNumber,
        from position: ScanPosition?,
        maximumCount: Int,
        selecting selector: DocumentSelector?,
        _ visit: (RemoteDocument) throws(StatusError) -> Void
    ) throws(StatusError) -> (count: Int, position: ScanPosition?) {
        try memory.visitDocuments(
            in: source,
            after: change,
            from: position,
            maximumCount: maximumCount,
            selecting: selector,
            visit
        )
    }

    mutating func save(_ documents: [RemoteDocument]) { memory.save(documents) }
    mutating func removeDocuments(at paths: Set<DocumentPath>) { memory.removeDocuments(at: paths) }
    mutating func synchronize() { memory.synchronize() }
    mutating func queueState(for user: UserID) -> QueueState { memory.queueState(for: user) }

    mutating func appendBatch(
        _ writes: [Write],
        baseValues: [MutationBatch.BaseValue],
        at localTime: Timestamp,
        for user: UserID
    ) -> MutationBatch {
        memory.appendBatch(writes, baseValues: baseValues, at: localTime, for: user)
    }

    func batch(after number: BatchNumber, for user: UserID) -> MutationBatch? { memory.batch(after: number, for: user) }

    func visitBatches(
        affecting paths: Set<DocumentPath>,
        for user: UserID,
        _ visit: (MutationBatch) throws(StatusError) -> Void
    ) throws(StatusError) {
        try memory.visitBatches(affecting: paths, for: user, visit)
    }

    func queuedPaths(for user: UserID) -> Set<DocumentPath> { memory.queuedPaths(for: user) }

    func queuedPaths(among paths: Set<DocumentPath>, for user: UserID) -> Set<DocumentPath> {
        memory.queuedPaths(among: paths, for: user)
    }

    mutating func recordSent(through number: BatchNumber, for user: UserID) { memory.recordSent(through: number, for: user) }
    mutating func save(_ identity: QueueIdentity, for user: UserID) { memory.save(identity, for: user) }
    mutating func append(_ rejected: RejectedBatch, for user: UserID) { memory.append(rejected, for: user) }
    func rejectedBatches(for user: UserID) -> [RejectedBatch] { memory.rejectedBatches(for: user) }
    mutating func removeRejectedBatch(_ number: BatchNumber, for user: UserID) { memory.removeRejectedBatch(number, for: user) }
    mutating func removeBatch(_ number: BatchNumber, for user: UserID) { memory.removeBatch(number, for: user) }

    func overlays(at paths: Set<DocumentPath>, for user: UserID) -> [DocumentPath: Overlay] {
        memory.overlays(at: paths, for: user)
    }

    func overlays(in source: StructuredQuery.Source, for user: UserID) -> [DocumentPath: Overlay] {
        memory.overlays(in: source, for: user)
    }

    mutating func save(_ overlays: [Overlay], for user: UserID) { memory.save(overlays, for: user) }

    mutating func removeOverlays(at paths: Set<DocumentPath>, for user: UserID) {
        calls.count { $0.removedOverlays += paths.count }
        memory.removeOverlays(at: paths, for: user)
    }

    mutating func save(_ clock: ServerClock) { memory.save(clock) }
    mutating func save(overlayUser: UserID) { memory.save(overlayUser: overlayUser) }
    func target(_ target: SyncTarget) -> CachedTarget? { memory.target(target) }
    mutating func addTarget(_ target: SyncTarget) -> CachedTarget { memory.addTarget(target) }
    mutating func save(_ target: CachedTarget) { memory.save(target) }
    mutating func removeTarget(_ id: TargetID) { memory.removeTarget(id) }
    func keys(of id: TargetID) -> Set<DocumentPath> { memory.keys(of: id) }

    mutating func updateKeys(of id: TargetID, adding added: Set<DocumentPath>, removing removed: Set<DocumentPath>) {
        memory.updateKeys(of: id, adding: added, removing: removed)
    }

    func namedQuery(_ name: UTF8Key) -> NamedQuery? { memory.namedQuery(name) }
    mutating func save(_ query: NamedQuery) { memory.save(query) }
    mutating func nextUse() -> UseNumber { memory.nextUse() }
    mutating func touch(_ paths: Set<DocumentPath>, use: UseNumber) { memory.touch(paths, use: use) }
    func unreferenced(_ paths: Set<DocumentPath>) -> Set<DocumentPath> { memory.unreferenced(paths) }

    func useNumber(atFraction fraction: Double, maximumCount: Int) -> UseNumber? {
        memory.useNumber(atFraction: fraction, maximumCount: maximumCount)
    }

    func targets(usedThrough use: UseNumber) -> [TargetID] { memory.targets(usedThrough: use) }

    func unreferencedDocuments(usedThrough use: UseNumber) -> Set<DocumentPath> {
        memory.unreferencedDocuments(usedThrough: use)
    }
}
