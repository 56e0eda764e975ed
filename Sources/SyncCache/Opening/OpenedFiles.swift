internal import DocumentModel
internal import GRDB
internal import SyncEngine

/// The files of a cache, opened or created, after the recovery of damaged ones.
struct OpenedFiles {
    let queue: CacheDatabase
    let cache: CacheDatabase
    private(set) var report = OpeningReport()

    /// - Parameter checksCache: True to check also `cache.sqlite` for damage, which takes as long as reading it.
    init(in folder: String, checksCache: Bool) throws(StatusError) {
        let queueFile = CacheFile.queue(in: folder)
        let cacheFile = CacheFile.cache(in: folder)
        let isNew = !PrivateFile.exists(queueFile.path) || !PrivateFile.exists(cacheFile.path)
        try QueueRecovery.finish(queueFile)
        do throws(CacheFile.OpeningError) {
            queue = try queueFile.openQueue()
        } catch {
            guard case .damage(let damage) = error else { throw error.status }
            // Recovery takes over no overlays. The engine computes them anew, also if it is interrupted after it has replaced the file.
            try cacheFile.removeOverlayUser()
            (queue, report.queueRecovery) = try QueueRecovery.recover(queueFile, damage)
        }
        do throws(CacheFile.OpeningError) {
            cache = try cacheFile.open(isChecked: checksCache)
        } catch {
            guard case .damage = error else { throw error.status }
            report.setAsideCache = try cacheFile.setAside(keepsOthers: false)
            try cacheFile.removeDamageMarker()
            do throws(CacheFile.OpeningError) {
                cache = try cacheFile.open(isChecked: false)
            } catch {
                throw error.status
            }
        }
        if isNew || report != OpeningReport() { try PrivateFile.synchronizeFolder(folder) }
    }
}

extension CacheFile {
    /// Opens `queue.sqlite`, and checks its pages and the states of the queues.
    fileprivate func openQueue() throws(OpeningError) -> CacheDatabase {
        let queue = try open(isChecked: true)
        do throws(StatusError) {
            try queue.read { database in
                let scan = try CacheStatement("SELECT \(QueueState.columns), user FROM queue", database)
                try scan.forEachRow { _ = try QueueState($0, user: UserID(columnText: $0.text(7))) }
            }
        } catch {
            queue.close()
            throw queue.damage.map { .damage(Damage(message: $0)) } ?? .status(error)
        }
        return queue
    }

    /// Records in `cache.sqlite` that no overlays belong to the documents, unless it is damaged and will be begun anew.
    fileprivate func removeOverlayUser() throws(StatusError) {
        do throws(OpeningError) {
            let cache = try open(isChecked: false)
            defer { cache.close() }
            do throws(StatusError) {
                try cache.write { try CacheStatement("UPDATE state SET overlayUser = NULL", $0).run() }
                try cache.commit()
                try cache.checkpoint()
            } catch {
                if cache.damage == nil { throw .status(error) }
            }
        } catch {
            if case .status(let error) = error { throw error }
        }
    }
}

extension CacheFile.OpeningError {
    /// The error for the caller.
    var status: StatusError {
        switch self {
        case .status(let error): error
        case .damage(let damage): StatusError(.dataLoss, "A new file of the cache is damaged: \(damage.message).")
        }
    }
}
