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
        report.exemptions = definitions.exemptions
        report.indexes = definitions.indexes.map { index in
            let collection = index.definition.collection
            var done = 0
            if let (current, documents) = rules.conforming, current == collection { done = documents }
            if case .rebuilding(let documents) = phase { done = documents }
            let isReady = rules.states[collection]?.ready.composites.contains(index.definition.fields) == true
            guard case .ready = phase, isReady else { return (index.id, index.definition, .building(documents: done)) }
            return (index.id, index.definition, .ready)
        }
        return report
    }
}
