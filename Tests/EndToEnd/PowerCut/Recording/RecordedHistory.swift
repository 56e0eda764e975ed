import DocumentModel

/// An acknowledged commit of a recording.
struct RecordedCommit: Hashable, Sendable {
    let writes: [ScenarioWrite]
    /// The commit time in the response.
    let time: Timestamp
}

/// The expected documents after each commit, computed from the writes.
struct RecordedHistory: Sendable {
    /// The commits in order; commits are numbered from 1.
    let commits: [RecordedCommit]
    /// The documents after each number of commits.
    let states: [[DocumentPath: Document]]

    init(_ commits: [RecordedCommit]) {
        self.commits = commits.sorted { $0.time < $1.time }
        var states: [[DocumentPath: Document]] = [[:]]
        for commit in self.commits {
            var documents = states[states.count - 1]
            for write in commit.writes { Self.apply(write, at: commit.time, to: &documents) }
            states.append(documents)
        }
        self.states = states
    }

    /// Returns the paths changed by a commit.
    func changedPaths(by commit: Int) -> Set<DocumentPath> {
        Set(commits[commit - 1].writes.map(\.path))
    }

    private static func apply(_ write: ScenarioWrite, at time: Timestamp, to documents: inout [DocumentPath: Document]) {
        let found = documents[write.path]
        let fields: MapValue
        switch write {
        case .create(_, let new), .set(_, let new):
            fields = new
        case .merge(_, let new):
            fields = new.reduce(into: found?.fields ?? [:]) { $0[$1.key] = $1.value }
        case .delete:
            documents[write.path] = nil
            return
        }
        documents[write.path] = Document(
            path: write.path,
            fields: fields,
            createTime: found?.createTime ?? time,
            updateTime: time
        )
    }
}
