internal import DocumentModel
internal import HearthWire
internal import SyncEngine

/// The decoder of a stream with several targets: combines its frames to consistent events.
///
/// The complete state of a target is a part of one event, and so are the changes that a resumed one brings until it is up to date; after
/// that each commit is one event, of the targets that it changes. Its token holds for the others as well.
///
/// A complete state is held until it is complete. Its documents could be stored as they arrive, but then views of other targets would
/// show some of them before their snapshot, and would forget them again if the stream breaks. The view that they are for holds
/// them anyway, and they share its memory.
struct RemoteEventDecoder {
    /// An event, and what cannot be read in its targets.
    struct Update: Sendable {
        private(set) var event: RemoteEvent
        /// The errors of documents that the server cannot read, by target of the event.
        private(set) var damaged: [TargetID: [DocumentPath: StatusError]]
        /// The IDs on the stream of the targets of the event.
        let ids: [TargetID: Int32]
        /// The number of targets that are current.
        var currentTargetCount = 0

        /// Returns the update without the targets that have been closed or opened anew since it was decoded. It says nothing of them:
        /// one that was opened anew continues from an earlier position.
        func restricted(to stream: TargetStream) -> Update {
            var update = self
            update.event.targets = event.targets.filter { ids[$0.key] == stream.id(of: $0.key) }
            update.damaged = damaged.filter { update.event.targets[$0.key] != nil }
            return update
        }
    }

    private let ids: StreamTargetIDs
    private var epoch: String?
    /// The targets of which frames have been received, by their IDs on the stream.
    private var targets: [Int32: Target] = [:]
    /// The targets about which the next snapshot has something to tell, if they are up to date by then.
    private var changedTargets: Set<Int32> = []
    /// The targets that are current.
    private var currentTargets: Set<Int32> = []

    fileprivate struct Target {
        let id: TargetID
        var phase: Phase
        var changes: [DocumentPath: Change] = [:]
        var damaged: [DocumentPath: StatusError]
    }

    fileprivate enum Phase {
        /// Receives the complete state.
        case initialState
        /// Receives the changes after the token.
        case resuming
        /// The complete state has been received, and the snapshot follows.
        case complete
        case current
    }

    fileprivate enum Change {
        /// The document is in the target, as before or newly.
        case present(RemoteDocument)
        /// The document left the target. It is `nil` if its content is not known.
        case removed(RemoteDocument?)
        /// The document belongs to the target, but cannot be read.
        case damaged
    }

    init(_ ids: StreamTargetIDs) {
        self.ids = ids
    }

    /// Adds a frame; returns an update if the frame completes one.
    ///
    /// - Throws: `.internal` for a malformed frame.
    mutating func add(_ frame: WatchFrame) throws(StatusError) -> Update? {
        switch frame.kind {
        case .open:
            epoch = frame.epoch
        case .changed:
            try addDocument(of: frame)
        case .deleted:
            let path = try frame.path()
            let document = try frame.time().map { RemoteDocument(path: path, content: .missing, version: $0) }
            for id in frame.removedTargets { update(id) { $0.record(.removed(document), at: path) } }
        case .removed:
            let path = try frame.path()
            for id in frame.removedTargets { update(id) { $0.record(.removed(nil), at: path) } }
        case .damaged:
            guard let id = frame.target, let path = frame.damage.path.flatMap({ try? DocumentPath($0) }) else { break }
            update(id) { $0.recordDamage(frame.damage, at: path) }
        case .reset:
            return frame.target.flatMap { reset($0) }
        case .current:
            guard let id = frame.target else { break }
            update(id) { target in target.phase = target.phase == .initialState ? .complete : .current }
        case .snapshot:
            return try snapshot(frame)
        case .targetRemoved:
            if let id = frame.target { forget(id) }
        case .added, .modified, .checkpoint, .heartbeat, .end, .error, .other:
            break
        }
        return nil
    }

    /// Changes the state of a target, unless the client has removed it.
    private mutating func update(_ id: Int32, _ change: (inout Target) -> Void) {
        guard let entry = ids[id] else { return forget(id) }
        change(&targets[id, default: Target(entry)])
        changedTargets.insert(id)
    }

    private mutating func forget(_ id: Int32) {
        targets[id] = nil
        changedTargets.remove(id)
        currentTargets.remove(id)
    }

    private mutating func addDocument(of frame: WatchFrame) throws(StatusError) {
        guard let (path, decoded) = try frame.decodedDocument() else {
            throw StatusError(.internal, "Malformed response: expected a document.")
        }
        switch decoded {
        case .success(let received):
            let document = RemoteDocument(received)
            for id in frame.targets { update(id) { $0.record(.present(document), at: path) } }
            for id in frame.removedTargets { update(id) { $0.record(.removed(document), at: path) } }
        case .failure(let error):
            // A document that cannot be decoded doesn't affect the others.
            for id in frame.targets { update(id) { $0.recordDamage(error, at: path) } }
            for id in frame.removedTargets { update(id) { $0.record(.removed(nil), at: path) } }
        }
    }

    private mutating func reset(_ id: Int32) -> Update? {
        guard let entry = ids[id] else { return nil }
        targets[id] = Target(id: entry.target, phase: .initialState, damaged: [:])
        changedTargets.insert(id)
        currentTargets.remove(id)
        let change = RemoteEvent.TargetChange(isCurrent: false, isReset: true)
        return Update(
            event: RemoteEvent(epoch: epoch, targets: [entry.target: change]),
            damaged: [entry.target: [:]],
            ids: [entry.target: id]
        )
    }

    /// Returns the changes of the targets that are current.
    private mutating func snapshot(_ frame: WatchFrame) throws(StatusError) -> Update? {
        var event = RemoteEvent(time: try frame.time(), epoch: epoch)
        var documents: [DocumentPath: RemoteDocument] = [:]
        var damaged: [TargetID: [DocumentPath: StatusError]] = [:]
        var targetIDs: [TargetID: Int32] = [:]
        for id in changedTargets {
            guard ids[id] != nil, let target = targets[id] else {
                forget(id)
                continue
            }
            guard target.phase == .complete || target.phase == .current else { continue }
            event.targets[target.id] = target.change(token: frame.token)
            documents.reserveCapacity(documents.count + target.changes.count)
            for change in target.changes.values { change.add(to: &documents) }
            damaged[target.id] = target.damaged
            targetIDs[target.id] = id
            targets[id]?.changes = [:]
            targets[id]?.phase = .current
            changedTargets.remove(id)
            currentTargets.insert(id)
        }
        let currentTargetCount = ids.count(of: currentTargets)
        guard currentTargetCount > 0 else { return nil }
        event.documents = Array(documents.values)
        event.token = frame.token
        return Update(event: event, damaged: damaged, ids: targetIDs, currentTargetCount: currentTargetCount)
    }
}

extension RemoteEventDecoder.Target {
    fileprivate init(_ entry: StreamTargetIDs.Entry) {
        self.init(id: entry.target, phase: entry.isResumed ? .resuming : .initialState, damaged: entry.damaged)
    }

    /// Records a change after those before it in the same event.
    fileprivate mutating func record(_ change: RemoteEventDecoder.Change, at path: DocumentPath) {
        damaged[path] = nil
        changes[path] = change
    }

    fileprivate mutating func recordDamage(_ error: StatusError, at path: DocumentPath) {
        changes[path] = .damaged
        damaged[path] = error
    }

    /// Returns the change of the target through a snapshot.
    fileprivate func change(token: String?) -> RemoteEvent.TargetChange {
        var change = RemoteEvent.TargetChange(isComplete: phase == .complete, isCurrent: true, token: token)
        for (path, recorded) in changes {
            switch recorded {
            case .present: change.added.insert(path)
            case .removed: change.removed.insert(path)
            case .damaged: change.modified.insert(path)
            }
        }
        return change
    }
}

extension RemoteEventDecoder.Change {
    /// Adds the document of the change, unless another target has brought a later one.
    fileprivate func add(to documents: inout [DocumentPath: RemoteDocument]) {
        switch self {
        case .present(let document), .removed(let document?):
            if let known = documents[document.path], known.version >= document.version { return }
            documents[document.path] = document
        case .removed(nil), .damaged: break
        }
    }
}
