internal import DocumentModel

/// The documents in limbo, and the reads that resolve them.
///
/// A document stays in limbo after its answer if it still matches. It is read again when its target has gone on, since the target
/// will not tell when the document changes.
struct LimboReads {
    private let maximumCount: Int
    private var views: [DocumentPath: Set<ViewID>] = [:]
    private var active: [DocumentPath: Read] = [:]
    private var waiting: [DocumentPath] = []

    private enum Read {
        case underway
        case answered(Timestamp?)
    }

    /// Creates a state without documents.
    ///
    /// - Parameter maximumCount: The maximum number of documents that are resolved at once.
    init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    /// The documents that are being resolved.
    var activePaths: Set<DocumentPath> { Set(active.keys) }

    /// The documents that wait for others to be resolved.
    var waitingPaths: Set<DocumentPath> { Set(waiting) }

    mutating func enter(_ paths: Set<DocumentPath>, in view: ViewID) {
        for path in paths.sorted() {
            let isNew = views[path] == nil
            views[path, default: []].insert(view)
            if isNew, active[path] == nil { waiting.append(path) }
        }
    }

    mutating func leave(_ paths: some Sequence<DocumentPath>, in view: ViewID) {
        var unread: Set<DocumentPath> = []
        for path in paths {
            views[path]?.remove(view)
            guard views[path]?.isEmpty == true else { continue }
            views[path] = nil
            if active.removeValue(forKey: path) == nil { unread.insert(path) }
        }
        if !unread.isEmpty { waiting.removeAll { unread.contains($0) } }
    }

    /// Removes the documents of a view.
    mutating func remove(_ view: ViewID) {
        leave(views.filter { $0.value.contains(view) }.map(\.key), in: view)
    }

    mutating func removeAll() {
        (views, active, waiting) = ([:], [:], [])
    }

    /// Starts the reads for which there is room, and returns their documents.
    mutating func startReads() -> [DocumentPath] {
        let started = Array(waiting.prefix(max(maximumCount - active.count, 0)))
        waiting.removeFirst(started.count)
        for path in started { active[path] = .underway }
        return started
    }

    /// Records answers.
    mutating func answer(_ paths: Set<DocumentPath>, at time: Timestamp?) {
        for path in paths where active[path] != nil { active[path] = .answered(time) }
    }

    /// Returns the documents to read again, since a target of their views has gone on since the answer.
    ///
    /// - Parameter hasMoved: Returns whether the target of a view is at the time now.
    mutating func restartReads(at time: Timestamp?, where hasMoved: (ViewID) -> Bool) -> [DocumentPath] {
        var restarted: [DocumentPath] = []
        for (path, read) in active {
            guard case .answered(let answer) = read, let answer, let time, answer < time else { continue }
            guard views[path]?.contains(where: hasMoved) == true else { continue }
            active[path] = .underway
            restarted.append(path)
        }
        return restarted.sorted()
    }

    /// The documents whose answer is still under way.
    var unanswered: [DocumentPath] {
        active.compactMap { path, read in
            if case .underway = read { path } else { nil }
        }
        .sorted()
    }
}
