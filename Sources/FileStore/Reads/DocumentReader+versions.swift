internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO

extension DocumentReader {
    /// Returns a page of a document's versions, newest first.
    func versions(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        let current = await currentDocumentResult(at: path)
        let history = components.history
        var versions = VersionCollector(of: path, before: before, count: limit + 1)
        let segments = history.segmentIDs
        var later: [SegmentIndex.ID] = []
        for (position, id) in segments.enumerated() where !versions.isComplete {
            if let before {
                later.append(id)
                // When the previous segment reaches the bound, this one is after it.
                let last = segments.dropFirst(position + 1).first.flatMap { history.lastTime(of: $0) }
                if let last, last >= before { continue }
            }
            guard let index = try await history.index(of: id) else { break }
            versions = try await scanQueue.run(priority: .low) { [versions] () throws(StatusError) in
                var versions = versions
                try history.add(index, to: &versions)
                return versions
            }
        }
        for id in later.reversed() where versions.needsFollowingChange {
            guard let index = try await history.index(of: id) else { continue }
            versions = try await scanQueue.run(priority: .low) { [versions] () throws(StatusError) in
                var versions = versions
                try history.addFollowing(index, to: &versions)
                return versions
            }
        }
        let all = try versions.finish(current: current)
        let page = Array(all.prefix(limit))
        return VersionPage(versions: page, next: all.count > limit ? page.last?.commitTime : nil)
    }

    /// Returns the version of a document after the last retained commit that changed it; `nil` if there is none.
    func lastRetainedVersion(of path: DocumentPath) async throws(StatusError) -> DocumentVersion? {
        let history = components.history
        var versions = VersionCollector(of: path, before: nil, count: 1)
        for id in history.segmentIDs where !versions.isComplete {
            guard let index = try await history.index(of: id) else { break }
            versions = try await scanQueue.run(priority: .low) { [versions] () throws(StatusError) in
                var versions = versions
                try history.add(index, to: &versions)
                return versions
            }
        }
        guard versions.isComplete else { return nil }
        return try versions.finish(current: .success(nil)).first
    }
}
