internal import DocumentModel
internal import Synchronization

/// A log of the document files that change during folder listings, and while other programs' edits of them are looked for.
///
/// On some file systems (btrfs, tmpfs) a file that is replaced during a listing moves to another position in its folder, where
/// the listing may miss it. Therefore callers look up by name all files that changed during a listing.
final class ApplyLog: Sendable {
    private struct State {
        /// The number of finished batches.
        var finished = 0
        /// The batches that a listing in progress may have missed.
        var batches: [(number: Int, paths: [DocumentPath])] = []
        /// The number of listings in progress, by the number of batches that were finished when they started.
        var listings: [Int: Int] = [:]

        /// Removes the batches that no listing in progress can have missed.
        mutating func prune() {
            let oldest = listings.keys.min() ?? finished
            batches.removeAll { $0.number < oldest }
        }
    }

    private let state = Mutex(State())

    /// Records a batch of documents before their files change.
    func beginBatch(_ paths: [DocumentPath]) {
        state.withLock { $0.batches.append(($0.finished, paths)) }
    }

    /// Records that the files of the batch have changed.
    func endBatch() {
        state.withLock { state in
            state.finished += 1
            state.prune()
        }
    }

    /// A listing in progress.
    struct Listing {
        /// The number of finished batches at its start.
        fileprivate let start: Int
    }

    /// Calls `list`, and returns its result with the documents whose files may have changed in the meantime.
    func trackingChanges<Result>(
        _ list: () throws(StatusError) -> Result
    ) throws(StatusError) -> (result: Result, changed: Set<DocumentPath>) {
        let listing = begin()
        do throws(StatusError) {
            let result = try list()
            return (result, end(listing))
        } catch {
            _ = end(listing)
            throw error
        }
    }

    /// Starts a listing.
    func begin() -> Listing {
        state.withLock { state in
            state.listings[state.finished, default: 0] += 1
            return Listing(start: state.finished)
        }
    }

    /// Ends a listing, and returns the documents whose files may have changed in the meantime.
    func end(_ listing: Listing) -> Set<DocumentPath> {
        state.withLock { state in
            let changed = Set(state.batches.lazy.filter { $0.number >= listing.start }.flatMap(\.paths))
            let others = (state.listings[listing.start] ?? 1) - 1
            state.listings[listing.start] = others > 0 ? others : nil
            state.prune()
            return changed
        }
    }

    /// The number of batches in the log.
    var batchCount: Int { state.withLock { $0.batches.count } }
}
