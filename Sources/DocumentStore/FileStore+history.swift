internal import DocumentModel

// Files are read first and the journal is looked into afterwards: every commit is in the journal's index before its documents
// can be seen in the files. So what was read of a file that no commit since the time has changed, was so at the time.

extension FileStore {
    /// The document at `path` as it was at a time.
    func document(at path: DocumentPath, asOf time: Timestamp) async throws(StatusError) -> EncodedDocument? {
        try await settle(at: time)
        let found = await outcome { () async throws(StatusError) in try await currentDocument(at: path) }
        let view = try await parts.history.view(after: time)
        return try await listers.run { () throws(StatusError) in
            if let image = try view.image(of: path) { return image }
            return try found.get()
        }
    }

    /// A document's versions, the newest first.
    func versions(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        let found = await outcome { () async throws(StatusError) in try await currentDocument(at: path) }
        let history = parts.history
        var versions = DocumentVersions(of: path, before: before, count: limit + 1)
        for id in history.parts where !versions.isComplete {
            guard let part = try await history.index(of: id) else { break }
            versions = try await listers.run { [versions] () throws(StatusError) in
                var versions = versions
                try history.add(part, to: &versions)
                return versions
            }
        }
        let all = try versions.finish(current: found)
        let page = Array(all.prefix(limit))
        return VersionPage(versions: page, next: all.count > limit ? page.last?.commitTime : nil)
    }

    /// Waits until every commit up to a time is done, and makes sure that no other will have such a time.
    func settle(at time: Timestamp) async throws(StatusError) {
        if let last = position.lastCommitTime, time <= last { return }
        guard parts.clock.reserve(time) else {
            throw StatusError(.invalidArgument, "The read time \(time) is yet to come. Give a time that is past.")
        }
        try await queue.settle()
    }

    private func outcome<Success>(
        _ body: () async throws(StatusError) -> Success
    ) async -> Result<Success, StatusError> {
        do throws(StatusError) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
