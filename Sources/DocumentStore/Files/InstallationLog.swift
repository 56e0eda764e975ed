internal import DocumentModel
internal import Synchronization

/// Which documents' files changed while a folder was being listed.
///
/// On some file systems (btrfs, tmpfs) a file that is replaced during a listing moves to another place in its folder, where
/// the listing may miss it. So what was changed meanwhile is looked at once more, by name.
final class InstallationLog: Sendable {
    private struct State {
        /// How many batches have been finished.
        var finished = 0
        /// The documents of the batches that listings may have missed, with the number of the batch.
        var batches: [(number: Int, paths: [DocumentPath])] = []
        /// How many listings are going on that began when so many batches had been finished.
        var listings: [Int: Int] = [:]

        /// Forgets what no listing that goes on can have missed.
        mutating func forget() {
            let oldest = listings.keys.min() ?? finished
            batches.removeAll { $0.number < oldest }
        }
    }

    private let state = Mutex(State())

    /// Notes, before it happens, that the files of these documents change.
    func beginBatch(_ paths: [DocumentPath]) {
        state.withLock { $0.batches.append(($0.finished, paths)) }
    }

    /// Notes that they have changed.
    func endBatch() {
        state.withLock { state in
            state.finished += 1
            state.forget()
        }
    }

    /// A listing that goes on.
    struct Listing {
        /// How many batches had been finished when it began.
        fileprivate let start: Int
    }

    /// Runs `list`; returns also the documents whose files may have changed meanwhile.
    func listing<Result>(
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

    /// Notes that a listing begins.
    func begin() -> Listing {
        state.withLock { state in
            state.listings[state.finished, default: 0] += 1
            return Listing(start: state.finished)
        }
    }

    /// Notes that a listing has ended; returns the documents whose files may have changed meanwhile.
    func end(_ listing: Listing) -> Set<DocumentPath> {
        state.withLock { state in
            let changed = Set(state.batches.lazy.filter { $0.number >= listing.start }.flatMap(\.paths))
            let others = (state.listings[listing.start] ?? 1) - 1
            state.listings[listing.start] = others > 0 ? others : nil
            state.forget()
            return changed
        }
    }

    /// How many batches are remembered.
    var batchCount: Int { state.withLock { $0.batches.count } }
}
