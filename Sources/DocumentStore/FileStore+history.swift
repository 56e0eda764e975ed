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
        let parts = history.parts
        var later: [HistoryPart.ID] = []
        for (index, id) in parts.enumerated() where !versions.isComplete {
            if let before {
                later.append(id)
                // Where the part before this one reaches as far, all of this one is too new.
                let last = parts.dropFirst(index + 1).first.flatMap { history.lastTime(of: $0) }
                if let last, last >= before { continue }
            }
            guard let part = try await history.index(of: id) else { break }
            versions = try await listers.run { [versions] () throws(StatusError) in
                var versions = versions
                try history.add(part, to: &versions)
                return versions
            }
        }
        for id in later.reversed() where versions.lacksChange {
            guard let part = try await history.index(of: id) else { continue }
            versions = try await listers.run { [versions] () throws(StatusError) in
                var versions = versions
                try history.addFollowing(part, to: &versions)
                return versions
            }
        }
        let all = try versions.finish(current: found)
        let page = Array(all.prefix(limit))
        return VersionPage(versions: page, next: all.count > limit ? page.last?.commitTime : nil)
    }

    /// Makes sure that no commit will have a time up to this one, and waits for those under way that have. So a read waits for a
    /// commit's sync only where what it would find depends on how that ends.
    func settle(at time: Timestamp) async throws(StatusError) {
        if let last = position.lastCommitTime, time <= last { return }
        guard parts.clock.reserve(time) else {
            throw StatusError.readTimeYetToCome(time)
        }
        await parts.clock.settle(at: time)
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
