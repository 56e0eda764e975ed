package import DocumentModel
internal import DocumentStore

/// A view of the changes committed after a time, which yields documents as they were at that time.
///
/// A view contains the commits appended before its creation. If a reader obtained a document earlier and none of these commits
/// changed it, it was the same at that time.
package struct PointInTimeView: Sendable {
    /// The location of a document's first change after the time.
    package struct FirstChange {
        /// The position in ``PointInTimeView/segments``.
        package let segment: Int
        /// The position in the segment's index.
        package let record: Int
        /// True if the document existed at the time.
        let existed: Bool
    }

    /// The read time.
    let time: Timestamp
    /// The indexes of the segments with commits after the time, in order.
    private let segments: [SegmentIndex]
    private let history: HistoryIndex

    init(of segments: [SegmentIndex], after time: Timestamp, in history: HistoryIndex) {
        self.time = time
        self.segments = segments
        self.history = history
    }

    /// The changes after the time by path, which views of the same time share.
    var subtrees: ChangedSubtrees { history.subtrees.subtrees(since: time) }

    /// Reads the commits after a time that is not before that of the view, in order, as long as `body` returns true.
    func forEachCommit(
        after time: Timestamp,
        _ body: (Commit, _ segment: SegmentIndex.ID, _ record: Int) throws(StatusError) -> Bool
    ) throws(StatusError) {
        let reader = history.makeReader()
        for segment in segments {
            for record in segment.firstRecord(after: time)..<segment.records.count {
                guard try body(try reader.commit(at: record, in: segment), segment.id, record) else { return }
            }
        }
    }

    /// Reads the selected commits after the time, in order.
    ///
    /// - Parameters:
    ///   - select: Returns the positions to read, of those in the given range of a segment's index.
    ///   - body: Called with each commit and its location.
    func forEachCommit(
        _ select: (SegmentIndex, Range<Int>) -> [Int],
        _ body: (Commit, _ segment: Int, _ record: Int) throws(StatusError) -> Void
    ) throws(StatusError) {
        let reader = history.makeReader()
        for (position, segment) in segments.enumerated() {
            for record in select(segment, segment.firstRecord(after: time)..<segment.records.count) {
                try body(try reader.commit(at: record, in: segment), position, record)
            }
        }
    }

    /// Returns the document at `path` as of the time, `nil` if it did not exist; `.none` if it has not changed since.
    package func image(of path: DocumentPath) throws(StatusError) -> EncodedDocument?? {
        var reader = history.makeReader()
        for (position, segment) in segments.enumerated() {
            for record in segment.records(changing: path, in: segment.firstRecord(after: time)..<segment.records.count) {
                // Another document can have the same hash.
                guard let change = try reader.change(to: path, at: record, in: segment) else { continue }
                let location = FirstChange(segment: position, record: record, existed: change.existedBefore)
                return .some(try image(before: change, at: location, &reader))
            }
        }
        return nil
    }

    /// Returns documents as they were before their first changes.
    package func images(before changes: [DocumentPath: FirstChange]) throws(StatusError) -> [DocumentPath: EncodedDocument?] {
        var reader = history.makeReader()
        var images: [DocumentPath: EncodedDocument?] = [:]
        // In journal order, so that a commit that changed many documents is read once.
        for (path, location) in changes.sorted(by: { ($0.value.segment, $0.value.record) < ($1.value.segment, $1.value.record) })
        {
            let change =
                location.existed ? try reader.change(to: path, at: location.record, in: segments[location.segment]) : nil
            images[path] = .some(
                try change.flatMap { change throws(StatusError) in try image(before: change, at: location, &reader) }
            )
        }
        return images
    }

    private func image(
        before change: CommittedChange,
        at location: FirstChange,
        _ reader: inout JournalRecordReader
    ) throws(StatusError) -> EncodedDocument? {
        guard location.existed else { return nil }
        if let before = change.before { return before }
        let segment = segments[location.segment]
        for record in segment.records(changing: change.path, in: 0..<location.record).reversed() {
            if let earlier = try reader.change(to: change.path, at: record, in: segment) { return earlier.after }
        }
        throw StatusError(
            .failedPrecondition,
            "The version of the document before \(change.after?.updateTime.rfc3339 ?? "its deletion") is not known: its file was edited or "
                + "removed by another program.",
            path: change.path.string
        )
    }
}

extension PointInTimeView {
    /// Returns the documents of a collection that have changed since the time, as of that time.
    ///
    /// - Parameters:
    ///   - page: The IDs of documents that exist now. Those that have changed are all returned, with `nil` for those that did not
    ///     exist then.
    ///   - bounds: Of the other documents, those with IDs after the first bound and up to the second are returned.
    ///   - limit: The maximum number of other documents: those with the lowest IDs.
    package func images(
        in collection: CollectionPath,
        page: Set<DocumentPath.ID>,
        bounds: (after: DocumentPath.ID?, through: DocumentPath.ID?),
        limit: Int
    ) throws(StatusError) -> [DocumentPath.ID: EncodedDocument?] {
        var changed: [DocumentPath.ID: FirstChange] = [:]
        var others: [DocumentPath.ID: FirstChange] = [:]
        if let known = try firstChanges(in: collection) {
            for (id, change) in known {
                if let after = bounds.after, id <= after { continue }
                if let through = bounds.through, id > through { continue }
                if page.contains(id) { changed[id] = change } else if change.existed { others[id] = change }
            }
            return try images(in: collection, changed: changed, others: Self.first(limit, of: others))
        }
        // Their later changes say that they existed before.
        var created: Set<DocumentPath.ID> = []
        try forEachCommit { segment, range in
            segment.records(changing: collection, in: range)
        } _: { commit, segment, record in
            for change in commit.changes where change.path.collection == collection {
                let id = change.path.id
                if let after = bounds.after, id <= after { continue }
                if let through = bounds.through, id > through { continue }
                let location = FirstChange(segment: segment, record: record, existed: change.existedBefore)
                if page.contains(id) {
                    if changed[id] == nil { changed[id] = location }
                } else if !location.existed {
                    // One that was deleted since and is created again is among the others, or was beyond the limit.
                    if others[id] == nil { created.insert(id) }
                } else if others[id] == nil, !created.contains(id) {
                    // A document that was beyond the limit is so again.
                    others[id] = location
                    if others.count > 2 * limit + 64 { others = Self.first(limit, of: others) }
                }
            }
        }
        return try images(in: collection, changed: changed, others: Self.first(limit, of: others))
    }

    /// Returns the first changes to documents of a collection; `nil` if too many documents have changed.
    private func firstChanges(in collection: CollectionPath) throws(StatusError) -> [DocumentPath.ID: FirstChange]? {
        guard let changes = try subtrees.firstChanges(in: collection, in: self) else { return nil }
        let positions = Dictionary(uniqueKeysWithValues: segments.enumerated().map { ($0.element.id, $0.offset) })
        return changes.compactMapValues { change in
            // Those of commits after the view are left out.
            guard let position = positions[change.segment], change.record < segments[position].records.count else { return nil }
            return FirstChange(segment: position, record: change.record, existed: change.existed)
        }
    }

    private func images(
        in collection: CollectionPath,
        changed: [DocumentPath.ID: FirstChange],
        others: [DocumentPath.ID: FirstChange]
    ) throws(StatusError) -> [DocumentPath.ID: EncodedDocument?] {
        let changes = changed.merging(others) { change, _ in change }
        let paths = Dictionary(uniqueKeysWithValues: changes.map { (collection.document($0.key), $0.value) })
        let images = try images(before: paths)
        return Dictionary(uniqueKeysWithValues: images.map { ($0.key.id, $0.value) })
    }

    private static func first(_ limit: Int, of changes: [DocumentPath.ID: FirstChange]) -> [DocumentPath.ID: FirstChange] {
        guard changes.count > limit else { return changes }
        return Dictionary(uniqueKeysWithValues: changes.sorted { $0.key < $1.key }.prefix(limit).map { ($0.key, $0.value) })
    }
}
