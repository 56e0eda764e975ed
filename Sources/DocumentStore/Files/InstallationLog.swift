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
        var listings = 0
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
            if state.listings == 0 { state.batches.removeAll() }
        }
    }

    /// Runs `list`; returns also the documents whose files may have changed meanwhile.
    func listing<Result>(
        _ list: () throws(StatusError) -> Result
    ) throws(StatusError) -> (result: Result, changed: Set<DocumentPath>) {
        let start = state.withLock { state in
            state.listings += 1
            return state.finished
        }
        do throws(StatusError) {
            let result = try list()
            return (result, end(from: start))
        } catch {
            _ = end(from: start)
            throw error
        }
    }

    private func end(from start: Int) -> Set<DocumentPath> {
        state.withLock { state in
            state.listings -= 1
            let changed = state.batches.lazy.filter { $0.number >= start }.flatMap(\.paths)
            defer { if state.listings == 0 { state.batches.removeAll { $0.number < state.finished } } }
            return Set(changed)
        }
    }
}
