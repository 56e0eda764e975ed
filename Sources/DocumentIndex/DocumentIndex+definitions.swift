internal import Dispatch
package import DocumentModel
package import DocumentStore
internal import QueryEngine
internal import Synchronization

extension DocumentIndex {
    /// Changes the index definitions. The change is durable when this returns; the backfill runs in the background.
    package func change(_ change: IndexChange) throws(StatusError) {
        try changeDefinitions { file throws(StatusError) in try file.applying(change) }
    }

    /// Replaces the index definitions with the contents of another definitions file, as ``change(_:)`` changes them. Has no effect if they
    /// are the same.
    ///
    /// - Throws: `.dataLoss` if the contents are invalid.
    package func replaceDefinitions(with bytes: [UInt8]) throws(StatusError) {
        let replacement = try IndexDefinitions(bytes)
        guard definitions.withLock({ $0.value }) != replacement else { return }
        try changeDefinitions { file throws(StatusError) in try file.replaced(by: replacement) }
    }

    private func changeDefinitions(
        _ change: (IndexDefinitionsFile) throws(StatusError) -> IndexDefinitionsFile
    ) throws(StatusError) {
        // The definitions stay readable while the file is written.
        try definitionChanges.withLock { _ throws(StatusError) in
            guard state.withLock({ $0.closing == nil }) else { throw Self.closed }
            let changed = try change(definitions.withLock(\.self))
            definitions.withLock { definitions in
                definitions = changed
                state.withLock { $0.needsBackfill = true }
            }
        }
        maintenanceQueue.async { self.runMaintenance() }
    }

    /// The last commit in the index; `nil` while the index cannot be used.
    package var appliedSequence: SequenceNumber? { state.withLock(\.applied) }

    /// The last commit in the index, and the number and size of the documents as of that commit; `nil` while the index cannot be used.
    /// Takes constant time.
    package var appliedSize: (sequence: SequenceNumber, size: CollectionSize)? {
        state.withLock { state in
            guard case .ready = state.phase, let applied = state.applied, let size = state.size else { return nil }
            return (applied, size)
        }
    }

    /// Returns the index definitions with the build state of each.
    package func report() -> IndexReport {
        let definitions = definitions.withLock { $0.value }
        let (phase, builds) = state.withLock { ($0.phase, $0.builds) }
        var report = IndexReport()
        report.singleFields = phase.buildState
        report.queryError = queryError(in: phase, waitingSince: phase.startTime, at: .now)
        report.exemptions = definitions.exemptions
        let isReady = report.singleFields == .ready
        func buildState(of collection: CollectionID) -> IndexReport.BuildState {
            guard isReady else { return report.singleFields }
            guard let backfill = builds.backfill, backfill.collection == collection else { return .building(documents: 0) }
            return .building(documents: backfill.processedCount, of: backfill.totalCount)
        }
        report.indexes = definitions.indexes.map { index in
            let collection = index.definition.collection
            let isReadable = builds.states[collection]?.readable.composites.contains(index.definition.fields) == true
            return (index.id, index.definition, isReady && isReadable ? .ready : buildState(of: collection))
        }
        report.backfills = builds.states.filter { !$0.value.isBackfilled }.keys.sorted().map { ($0, buildState(of: $0)) }
        return report
    }
}

extension DocumentIndex.Phase {
    fileprivate var buildState: IndexReport.BuildState {
        switch self {
        case .ready: .ready
        case .starting: .building(documents: 0)
        case .rebuilding(let progress): .building(documents: progress.readCount, of: progress.totalCount)
        case .failed(let error): .unavailable(reason: error.message)
        case .closed: .unavailable(reason: DocumentIndex.closed.message)
        }
    }

    /// The time since which queries wait; `nil` in phases in which they don't.
    fileprivate var startTime: ContinuousClock.Instant? {
        switch self {
        case .starting(let startTime): startTime
        case .rebuilding(let progress): progress.startTime
        case .ready, .failed, .closed: nil
        }
    }
}
