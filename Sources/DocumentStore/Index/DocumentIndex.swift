internal import Dispatch
internal import DocumentModel
internal import Logging
internal import Synchronization

/// The index of all documents by their fields: a derived database that follows the commits at a short distance.
///
/// Commits are put into a queue as they are made, and taken in on a thread of the index's own, all that wait in one transaction.
/// While nobody waits for the index it lets some gather, since many documents together cost a third each of what one costs.
/// ``waitUntilApplied(_:)`` is what makes a query see every commit that was acknowledged before it. Where the queue does not
/// reach, after a start or a fault, the journal has the commits; where that does not, the index is made anew from the files.
///
/// A fault of the index is none of the documents': they are read and written on, the index is tried again, and queries are
/// told.
final class DocumentIndex: Sendable {
    /// How the index is.
    enum Phase: Sendable {
        /// It is being opened, or takes in what the journal has.
        case starting
        /// It is being made anew; so many documents are in it.
        case rebuilding(documents: Int)
        /// It follows the commits.
        case ready
        /// It can't be used now; it is tried again.
        case failed(StatusError)
        /// The store is closed.
        case closed
    }

    /// A collection whose documents are being given other entries, and how many are done.
    struct Conforming: Sendable {
        let collection: CollectionID
        let documents: Int
        let count: Int
    }

    /// What is shared between the threads.
    struct State {
        var phase = Phase.starting
        /// What waits to be taken in.
        var queue: [IndexUpdate] = []
        var queuedBytes = 0
        /// The last commit that was made known.
        var last: (sequence: SequenceNumber, time: Timestamp?)
        var applied: SequenceNumber?
        var isWorkDue = false
        /// Whether it is due at once, because somebody waits.
        var isWorkQueued = false
        /// How far the collections are from what is to be indexed of them, and how many documents of the first are done.
        var rules: (states: [CollectionID: IndexRuleState], conforming: Conforming?) = ([:], nil)
        /// Whether documents are still to be given the entries that are defined.
        var isConforming = false
        /// Why the index that is there is not to be used.
        var fault: String?
        /// When the store began to be closed.
        var closing: ContinuousClock.Instant?
        /// The committer, while it waits for the queue to become shorter.
        var blocked: DispatchSemaphore?
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var waiterCount: UInt64 = 0
        /// How often in a row it could not be used.
        var failures = 0
        /// Why not, as the log was told.
        var lastFailure: StatusError?
        /// Since when there has been no room to go on with it.
        var noSpaceSince: ContinuousClock.Instant?
        /// How many bytes it had when it was made anew; 0 when it was not.
        var remadeBytes = 0
        /// Before that it is not tried again.
        var retryTime: ContinuousClock.Instant?
        /// Before that the log is not told again how far a change of what is indexed is.
        var nextReport: ContinuousClock.Instant?
        /// Counts the changes of the phase and of what is applied.
        var changes = 0

        mutating func noteChange() -> [CheckedContinuation<Void, Never>] {
            changes += 1
            defer { waiters.removeAll() }
            return waiters.values.map { $0 }
        }
    }

    /// What is to be indexed beside single fields, and what isn't.
    let definitions: Mutex<StoredIndexDefinitions>
    /// Lets one change them at a time.
    let definitionChanges = Mutex(())
    let state: Mutex<State>
    let applier: Mutex<IndexApplier>
    let thread = DispatchQueue(label: "hearth.index")
    let readers: IndexReaders
    let file: IndexFile
    let data: DataFolder
    let journal: Journal
    let uninstalled: UninstalledDocuments
    let logger: Logger
    /// How long a query waits for an index that is being made.
    let patience: Duration
    /// How long it may lack room before it gives up its own.
    let spacePatience: Duration

    /// The index of an open data folder; nothing is done before ``start()``.
    ///
    /// - Parameter last: The last commit.
    init(
        _ data: DataFolder,
        folder: String,
        cacheBytes: Int,
        isRemade: Bool,
        patience: Duration,
        spacePatience: Duration,
        journal: Journal,
        last: (sequence: SequenceNumber, time: Timestamp?),
        uninstalled: UninstalledDocuments,
        logger: Logger
    ) {
        file = IndexFile(data, folder: folder, cacheBytes: cacheBytes)
        definitions = Mutex(StoredIndexDefinitions(data, logger: logger))
        state = Mutex(State(last: last, fault: isRemade ? "that is wanted" : nil))
        applier = Mutex(IndexApplier(file: file, epoch: journal.epoch, logger: logger))
        readers = IndexReaders(file)
        self.patience = patience
        self.spacePatience = spacePatience
        self.data = data
        self.journal = journal
        self.uninstalled = uninstalled
        self.logger = logger
    }

    /// How the index is now.
    var phase: Phase { state.withLock { $0.phase } }

    /// Whether it follows the commits, so that a query need not wait long.
    var isReady: Bool {
        if case .ready = phase { true } else { false }
    }

    /// What `hearth.json` must say before commits are written, so that it need not be written again for the index.
    func mark() throws(StatusError) -> String? {
        try file.mark()
    }

    /// Begins to open the index in the background.
    func start() {
        // Here, so that `hearth.json` is settled when the store is open. Where it fails, it is tried again and reported.
        if let fault = try? file.fault() {
            try? file.makeEmpty()
            state.withLock { $0.fault = $0.fault ?? fault }
        }
        thread.async { self.work() }
    }
}

extension DocumentIndex {
    /// Takes in what there is and ends; true when the index is complete and on disk.
    ///
    /// Blocks; nothing is added any more.
    func close() -> Bool {
        let blocked = state.withLock { state in
            state.closing = .now
            return state.blocked
        }
        blocked?.signal()
        readers.close()
        return thread.sync {
            if case .ready = phase { work() }
            let isComplete = applier.withLock { applier in
                guard case .ready = phase else {
                    applier.close()
                    return false
                }
                return applier.finish()
            }
            set(.closed)
            return isComplete
        }
    }
}
