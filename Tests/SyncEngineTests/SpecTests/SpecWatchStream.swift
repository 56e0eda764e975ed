import DocumentModel
import SyncEngine

/// The watch stream of Firestore's protocol: it collects the changes of all targets until a snapshot.
///
/// Targets have the IDs of the spec tests: even ones for queries, odd ones for documents in limbo.
struct SpecWatchStream {
    private var states: [Int: State] = [:]
    private var documents: [DocumentPath: RemoteDocument] = [:]
    private var documentTargets: [DocumentPath: Set<Int>] = [:]
    /// The targets that the client listens to.
    private(set) var targets: [Int: SyncTarget] = [:]
    /// The documents in limbo that the server has sent.
    private var receivedLimbo: Set<Int> = []

    fileprivate struct State {
        var pendingResponses = 0
        var changes: [DocumentPath: Change] = [:]
        var token: String?
        var isCurrent = false
        var hasChanges = true

        enum Change {
            case added
            case modified
            case removed
        }
    }

    // MARK: Requests

    mutating func open(_ id: Int, _ target: SyncTarget) {
        targets[id] = target
        states[id, default: State()].pendingResponses += 1
    }

    mutating func close(_ id: Int) {
        guard targets.removeValue(forKey: id) != nil else { return }
        receivedLimbo.remove(id)
        states[id, default: State()].pendingResponses += 1
    }

    /// Forgets a target that the server has rejected.
    mutating func reject(_ id: Int) {
        targets[id] = nil
        states[id] = nil
        receivedLimbo.remove(id)
    }

    /// Breaks the stream. The targets are asked for again.
    mutating func restart() {
        documents = [:]
        documentTargets = [:]
        states = targets.mapValues { _ in State(pendingResponses: 1) }
    }

    /// Ends the stream.
    mutating func stop() {
        targets = targets.filter { $0.key % 2 == 1 }
        restart()
    }

    // MARK: Responses

    mutating func acknowledge(_ ids: [Int]) {
        for id in ids where states[id] != nil {
            states[id]?.pendingResponses -= 1
            if states[id]?.pendingResponses == 0 { states[id]?.changes = [:] }
        }
    }

    mutating func remove(_ ids: [Int]) {
        for id in ids where states[id] != nil {
            states[id]?.pendingResponses -= 1
            if states[id]?.pendingResponses == 0 { states[id] = nil }
        }
    }

    mutating func markCurrent(_ ids: [Int], token: String) {
        for id in ids where isActive(id) {
            states[id]?.isCurrent = true
            states[id]?.hasChanges = true
            setToken(token, of: id)
        }
    }

    mutating func setToken(_ token: String, ofTargets ids: [Int]) {
        for id in ids.isEmpty ? Array(states.keys) : ids where isActive(id) { setToken(token, of: id) }
    }

    mutating func reset(_ ids: [Int], keys: (Int) -> Set<DocumentPath>) {
        for id in ids where isActive(id) {
            states[id] = State()
            for path in keys(id) { remove(path, nil, from: id, keys) }
        }
    }

    mutating func add(_ document: RemoteDocument, to ids: [Int], keys: (Int) -> Set<DocumentPath>) {
        for id in ids {
            guard document.isFound else {
                remove(document.path, document, from: id, keys)
                continue
            }
            guard isActive(id) else { continue }
            states[id]?.changes[document.path] = keys(id).contains(document.path) ? .modified : .added
            states[id]?.hasChanges = true
            documents[document.path] = document
            documentTargets[document.path, default: []].insert(id)
        }
    }

    mutating func remove(_ path: DocumentPath, _ document: RemoteDocument?, from id: Int, _ keys: (Int) -> Set<DocumentPath>) {
        guard isActive(id) else { return }
        states[id]?.changes[path] = keys(id).contains(path) ? .removed : nil
        states[id]?.hasChanges = true
        if let document { documents[path] = document }
    }

    /// Returns what has been collected, as an event for the engine.
    mutating func event(at time: Timestamp, keys: (Int) -> Set<DocumentPath>) -> RemoteEvent {
        var event = RemoteEvent(time: time)
        for id in states.keys.sorted() where isActive(id) {
            if case .document(let path)? = targets[id], states[id]?.isCurrent == true,
                documentTargets[path]?.contains(id) != true, !keys(id).contains(path)
            {
                remove(path, RemoteDocument(path: path, content: .missing, version: time), from: id, keys)
            }
            guard let state = states[id], state.hasChanges else { continue }
            if id % 2 == 0 {
                event.targets[TargetID(id / 2)] = RemoteEvent.TargetChange(
                    added: state.paths(.added),
                    modified: state.paths(.modified),
                    removed: state.paths(.removed),
                    isCurrent: state.isCurrent,
                    token: state.token
                )
            } else if case .document(let path)? = targets[id] {
                if !state.paths(.added).isEmpty { receivedLimbo.insert(id) }
                if !state.paths(.removed).isEmpty { receivedLimbo.remove(id) }
                if state.isCurrent { event.answeredReads.insert(path) }
            }
            states[id]?.changes = [:]
            states[id]?.hasChanges = false
        }
        event.documents = Array(documents.values)
        documents = [:]
        documentTargets = [:]
        return event
    }

    /// The documents that the server has sent for a document in limbo.
    func limboKeys(of id: Int) -> Set<DocumentPath> {
        guard receivedLimbo.contains(id), case .document(let path)? = targets[id] else { return [] }
        return [path]
    }

    private func isActive(_ id: Int) -> Bool {
        targets[id] != nil && states[id]?.pendingResponses == 0
    }

    private mutating func setToken(_ token: String, of id: Int) {
        guard !token.isEmpty else { return }
        states[id]?.token = token
        states[id]?.hasChanges = true
    }
}

extension SpecWatchStream.State {
    fileprivate func paths(_ change: Change) -> Set<DocumentPath> {
        Set(changes.filter { $0.value == change }.keys)
    }
}
