internal import DocumentModel
package import DocumentStore
internal import UTF8Text

extension ServiceContext {
    /// The reason why the default database, or an open additional one, rejects writes or cannot run queries; `nil` if all are ready.
    ///
    /// Additional databases are neither opened nor kept open.
    package var unreadinessReason: String? {
        get async {
            if let reason = await store.unreadinessReason { return reason }
            for database in await databases?.openDatabases ?? [] {
                guard let reason = await database.store?.unreadinessReason else { continue }
                // A database that has been closed in the meantime is opened again when it is needed.
                if database.store != nil { return "The database \(Excerpt(database.id.description)) is not ready: \(reason)" }
            }
            return nil
        }
    }
}

extension DocumentStore {
    /// The reason why the store rejects writes or cannot run queries; `nil` if it is ready.
    fileprivate var unreadinessReason: String? {
        get async {
            if let reason = await writeBlockedReason { return reason.message }
            return await indexes().unreadinessReason
        }
    }
}

extension IndexReport {
    /// The reason why queries cannot be run; `nil` if they can.
    package var unreadinessReason: String? {
        switch singleFields {
        case .ready: return nil
        case .unavailable(let reason): return reason
        case .building(let done, let total):
            // An index without documents is being opened, or has none to read.
            guard rejectsQueries || max(done, total ?? 0) > 0 else { return nil }
            let progress =
                if let total {
                    ": \(done) of \(total.counted("document")) read"
                } else {
                    done > 0 ? ": \(done.counted("document")) read" : ", which has just begun"
                }
            return "The index is being rebuilt\(progress). Queries fail until it is complete."
        }
    }
}
