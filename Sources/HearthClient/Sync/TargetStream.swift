internal import DocumentModel
internal import HearthTransport
internal import HearthWire
internal import SyncEngine
internal import Synchronization

/// The watch stream of a client, with all of its targets.
struct TargetStream {
    /// The number of the attempt, by which events of an earlier one are told.
    private(set) var number: UInt64 = 0
    /// The task that reads the frames; `nil` while no stream is open or being opened.
    var task: Task<Void, Never>?
    /// The ID by which calls change the targets; `nil` until the stream is open.
    var id: String?
    /// The task of these calls, if any is under way.
    var update: Task<Void, Never>?
    var backoff = ExponentialBackoff()
    var refusal = TokenRefusal()
    /// The delay before the next attempt; `nil` if the last one has not failed.
    var delay: Duration?
    private(set) var activity = StreamActivity()
    /// The targets of the attempt by their IDs in its frames.
    private(set) var ids = StreamTargetIDs()

    private var targets: [TargetID: Entry] = [:]
    /// The targets that the server has yet to remove.
    private var removedIDs: [Int32] = []
    private var lastID: Int32 = 0

    private struct Entry {
        var request: TargetRequest
        /// The ID on the stream; `nil` if the server does not know the target yet.
        var id: Int32?
        var damaged: [DocumentPath: StatusError] = [:]
        /// The delays after errors of the target alone.
        var backoff = ExponentialBackoff()
        /// True while the target waits after such an error.
        var isPaused = false
    }

    /// The maximum number of targets in one request.
    private static let maximumTargetCount = 256
    /// The maximum size of the targets in one request, unless there is only one.
    private static let maximumRequestBytes = 512 << 10

    var isEmpty: Bool { targets.isEmpty }

    var targetIDs: [TargetID] { targets.keys.sorted() }

    /// The ID of a target on the stream; `nil` if it has not been requested of the server.
    func id(of target: TargetID) -> Int32? { targets[target]?.id }

    /// True if a target has been interrupted since it was up to date.
    func isFailing(_ target: TargetID) -> Bool { targets[target]?.backoff.hasFailed == true }

    /// Adds a target, or replaces the request for it.
    mutating func add(_ request: TargetRequest) {
        let known = targets[request.id]
        let damaged = request.token == nil ? [:] : known?.damaged ?? [:]
        targets[request.id] = Entry(request: request, damaged: damaged, backoff: known?.backoff ?? ExponentialBackoff())
    }

    mutating func remove(_ target: TargetID) {
        if let id = forget(target) { removedIDs.append(id) }
    }

    /// Removes a target that the server has ended. Returns its ID on the stream.
    @discardableResult
    mutating func forget(_ target: TargetID) -> Int32? {
        guard let id = targets.removeValue(forKey: target)?.id else { return nil }
        ids.remove(id)
        return id
    }

    /// Pauses a target that the server has ended with an error that may pass. Returns the delay after which it can be added again.
    mutating func pause(_ target: TargetID, atLeast minimum: Duration?) -> Duration {
        if let id = targets[target]?.id { ids.remove(id) }
        targets[target]?.id = nil
        targets[target]?.isPaused = true
        return targets[target]?.backoff.nextDelay(atLeast: minimum) ?? .zero
    }

    func isPaused(_ target: TargetID) -> Bool { targets[target]?.isPaused == true }

    /// Records that a target is up to date.
    mutating func recordProgress(of target: TargetID) {
        targets[target]?.backoff.reset()
    }

    /// Begins another attempt, of which no targets have been requested.
    mutating func begin() {
        end()
        (activity, ids, lastID) = (StreamActivity(), StreamTargetIDs(), 0)
    }

    /// Ends the attempt. What it has yet to tell is ignored.
    mutating func end() {
        number += 1
        task?.cancel()
        update?.cancel()
        (task, update, id, removedIDs) = (nil, nil, nil, [])
        for target in targets.keys {
            targets[target]?.id = nil
            targets[target]?.isPaused = false
        }
    }

    /// Returns the IDs of the targets that the server has yet to remove, once.
    mutating func takeRemovedIDs() -> [Int32] {
        defer { removedIDs = [] }
        return removedIDs
    }

    /// The number of targets that have been requested.
    var requestedCount: Int { targets.count { $0.value.id != nil } }

    /// Returns some of the targets that have yet to be requested, once.
    ///
    /// - Parameter opensStream: True for the request that opens the stream, which leaves large targets to later ones: if the server finds
    ///   it too large, no target could be watched.
    mutating func takeRequests(opensStream: Bool = false) -> [IdentifiedWatchTarget] {
        var requests: [IdentifiedWatchTarget] = []
        var byteCount = 0
        for target in targets.filter({ $0.value.id == nil && !$0.value.isPaused }).keys.sorted() {
            guard requests.count < Self.maximumTargetCount else { break }
            guard let entry = targets[target], let watchTarget = entry.request.target.watchTarget else { continue }
            let request = IdentifiedWatchTarget(id: lastID + 1, watchTarget, resume: entry.request.resume)
            guard byteCount + request.byteCount <= Self.maximumRequestBytes || requests.isEmpty && !opensStream else { continue }
            byteCount += request.byteCount
            lastID = request.id
            targets[target]?.id = request.id
            ids.add(
                request.id,
                StreamTargetIDs.Entry(target: target, isResumed: entry.request.resume != nil, damaged: entry.damaged)
            )
            requests.append(request)
        }
        return requests
    }

    /// The errors of the documents of a target that the server cannot read.
    func damaged(of target: TargetID) -> [DocumentPath: StatusError] {
        targets[target]?.damaged ?? [:]
    }

    mutating func setDamaged(_ damaged: [DocumentPath: StatusError], of target: TargetID) {
        targets[target]?.damaged = damaged
    }
}

extension TargetRequest {
    /// The state from which the stream is to continue; `nil` to begin with the complete one.
    fileprivate var resume: IdentifiedWatchTarget.Resume? {
        token.map { .token($0) } ?? time.map { .time($0, count: count) }
    }
}

extension SyncTarget {
    /// The target of a stream; `nil` for the documents of a bundle, which the server does not know.
    fileprivate var watchTarget: WatchTarget? {
        switch self {
        case .document(let path): .document(path)
        case .query(let query): query.watchTarget
        case .bundle: nil
        }
    }
}

/// The targets of one stream by their IDs on it, which are not used again: frames of a target that was removed and added again concern
/// only the later one.
final class StreamTargetIDs: Sendable {
    struct Entry {
        let target: TargetID
        /// True if the stream resumes the target after a token.
        let isResumed: Bool
        /// The documents that could not be read at that token.
        let damaged: [DocumentPath: StatusError]
    }

    private let entries = Mutex<[Int32: Entry]>([:])

    subscript(id: Int32) -> Entry? { entries.withLock { $0[id] } }

    /// Returns the number of those IDs that have not been removed.
    func count(of ids: Set<Int32>) -> Int {
        entries.withLock { entries in ids.count { entries[$0] != nil } }
    }

    func add(_ id: Int32, _ entry: Entry) {
        entries.withLock { $0[id] = entry }
    }

    func remove(_ id: Int32) {
        entries.withLock { $0[id] = nil }
    }
}

/// The time of the last frame of a stream, for finding connections that have broken unnoticed.
final class StreamActivity: Sendable {
    /// `nil` while the stream is not open.
    private let lastFrame = Mutex<ContinuousClock.Instant?>(nil)

    func record() {
        lastFrame.withLock { $0 = .now }
    }

    func isSilent(for duration: Duration) -> Bool {
        lastFrame.withLock { lastFrame in lastFrame.map { $0.duration(to: .now) > duration } ?? false }
    }
}
