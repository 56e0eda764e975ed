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

    /// Returns the versions of documents after the last retained commits that changed them. Leaves out those that none has changed.
    func lastRetainedVersions(of paths: [DocumentPath]) async throws(StatusError) -> [DocumentPath: DocumentVersion] {
        let history = components.history
        var versions: [DocumentPath: DocumentVersion] = [:]
        var rest = paths
        for id in history.segmentIDs where !rest.isEmpty {
            guard let index = try await history.index(of: id) else { break }
            let found = try await scanQueue.run(priority: .low) { [rest] () throws(StatusError) in
                try history.lastVersions(of: rest, in: index)
            }
            versions.merge(found) { later, _ in later }
            rest.removeAll { found[$0] != nil }
        }
        return versions
    }
}
