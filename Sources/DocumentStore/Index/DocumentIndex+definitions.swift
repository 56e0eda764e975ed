internal import Dispatch
internal import DocumentModel
internal import Synchronization

extension DocumentIndex {
    /// Changes what is indexed; durable when this returns, and carried out in the background.
    func change(_ change: IndexChange) throws(StatusError) {
        // Who only reads them doesn't wait for the disk.
        try definitionChanges.withLock { _ throws(StatusError) in
            guard state.withLock({ $0.closing == nil }) else { throw Self.closed }
            let changed = try definitions.withLock(\.self).applying(change)
            definitions.withLock { definitions in
                definitions = changed
                state.withLock { $0.isConforming = true }
            }
        }
        thread.async { self.work() }
    }

    /// What is indexed beside single fields, what isn't, and how far that is.
    func report() -> IndexReport {
        let definitions = definitions.withLock { $0.value }
        let (phase, rules) = state.withLock { ($0.phase, $0.rules) }
        var report = IndexReport()
        report.fields = phase.progress
        report.exemptions = definitions.exemptions
        let isReady = report.fields == .ready
        func progress(_ collection: CollectionID) -> IndexReport.Progress {
            guard isReady else { return report.fields }
            guard let current = rules.conforming, current.collection == collection else { return .building(documents: 0) }
            return .building(documents: current.documents, of: current.count)
        }
        report.indexes = definitions.indexes.map { index in
            let collection = index.definition.collection
            let isMade = rules.states[collection]?.ready.composites.contains(index.definition.fields) == true
            return (index.id, index.definition, isReady && isMade ? .ready : progress(collection))
        }
        report.changes = rules.states.filter { !$0.value.isSettled }.keys.sorted().map { ($0, progress($0)) }
        return report
    }
}

extension DocumentIndex.Phase {
    fileprivate var progress: IndexReport.Progress {
        switch self {
        case .ready: .ready
        case .starting: .building(documents: 0)
        case .rebuilding(let documents): .building(documents: documents)
        case .failed(let error): .unavailable(because: error.message)
        case .closed: .unavailable(because: DocumentIndex.closed.message)
        }
    }
}
