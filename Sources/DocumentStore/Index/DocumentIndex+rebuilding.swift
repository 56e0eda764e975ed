internal import DocumentModel
internal import Logging
internal import Synchronization

extension DocumentIndex {
    /// How long closing waits for an index that is being made.
    private static let closingTime = Duration.seconds(2)

    /// Makes the index anew from the files, and takes in what is committed meanwhile.
    func rebuild(_ applier: inout IndexApplier, because reason: String) throws(IndexApplier.Obstacle) {
        let start = state.withLock { $0.last }
        set(.rebuilding(documents: 0))
        readers.closeAll()
        let scan = DocumentScan(data, position: { self.state.withLock { $0.last.sequence } }, logger: logger)
        defer { scan.cancel() }
        let clock = ContinuousClock()
        let begin = clock.now
        var count = 0
        var nextReport = begin + .seconds(5)
        do throws(IndexApplier.Obstacle) {
            try applier.rebuild(from: start, definitions.withLock { $0.value }) { filling throws(IndexApplier.Obstacle) in
                while let batch = try IndexApplier.folder({ () throws(StatusError) in try scan.next() }) {
                    try checkRebuilding()
                    try catchUp(&filling)
                    try filling.add(batch)
                    count += batch.documents.count
                    set(.rebuilding(documents: count))
                    if clock.now >= nextReport {
                        nextReport = clock.now + .seconds(5)
                        logger.notice("Making the index", metadata: ["index.documents": "\(count)"])
                    }
                }
                try catchUp(&filling)
                try filling.add(uninstalled.all)
                try filling.writeEntries(checking: checkRebuilding)
            }
        } catch {
            // What was made is of no use, and takes room. Where this fails too, the next try does it.
            try? file.makeEmpty()
            throw error
        }
        state.withLock { $0.remadeBytes = file.byteCount }
        guard count > 0 else { return }
        logger.notice(
            "Made the index anew",
            metadata: ["index.documents": "\(count)", "index.reason": "\(reason)", "index.duration": "\(clock.now - begin)"]
        )
    }

    private func catchUp(_ filling: inout IndexApplier.Filling) throws(IndexApplier.Obstacle) {
        try catchUp(&filling, from: \.last.sequence) { filling, updates throws(IndexApplier.Obstacle) in
            try filling.apply(updates)
        }
    }

    /// Ends the making of an index when the disk is nearly full, and when the store is closed and has waited for a moment: one that
    /// is nearly made is worth that.
    private func checkRebuilding() throws(IndexApplier.Obstacle) {
        let room = try IndexApplier.folder { () throws(StatusError) in try file.room() }
        if case .exhausted = room { throw .noSpace }
        if let closing = state.withLock({ $0.closing }), .now - closing > Self.closingTime { throw .folder(Self.closed) }
    }
}
