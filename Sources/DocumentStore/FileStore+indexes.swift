package import DocumentModel

extension FileStore {
    package func indexes() async -> IndexReport { parts.index.report() }

    package func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        let index = parts.index
        return try await listers.run { () throws(StatusError) in
            try index.change(change)
            return index.report()
        }
    }
}
