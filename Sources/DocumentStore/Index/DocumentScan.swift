internal import Dispatch
internal import DocumentModel
internal import Logging
internal import StrictJSON
internal import Synchronization

/// Reads all documents from their files on a thread of its own, some batches ahead of whoever takes them.
///
/// Documents may be written meanwhile: each batch tells up to which commit all is in it that was committed of its documents.
/// What was read may be newer. A document whose file was being replaced may be missing; it was committed after the batch began.
final class DocumentScan: Sendable {
    /// Some documents.
    struct Batch: Sendable {
        /// The commits up to here were in the files before the first of them was read.
        let position: SequenceNumber
        var documents: [(path: DocumentPath, fields: MapValue)] = []
        var byteCount = 0
    }

    private enum Step {
        case batch(Batch)
        case end(Result<Void, StatusError>)
    }

    private struct State {
        var steps: [Step] = []
        var isCancelled = false
    }

    private let state = Mutex(State())
    private let free = DispatchSemaphore(value: 2)
    private let made = DispatchSemaphore(value: 0)
    let files: DocumentFiles
    private let position: @Sendable () -> SequenceNumber
    let logger: Logger

    /// Begins to read.
    ///
    /// - Parameter position: The last commit whose documents' files are in place.
    init(_ data: DataFolder, position: @escaping @Sendable () -> SequenceNumber, logger: Logger) {
        // Documents that are read once are not worth remembering.
        files = DocumentFiles(DocumentFolders(data), cache: DocumentCache(maximumBytes: 0), log: InstallationLog())
        self.position = position
        self.logger = logger
        DispatchQueue(label: "hearth.index.scan", qos: .utility).async { self.run() }
    }

    /// The next documents, waiting for them; nil at the end.
    func next() throws(StatusError) -> Batch? {
        made.wait()
        let step = state.withLock { $0.steps.removeFirst() }
        free.signal()
        switch step {
        case .batch(let batch):
            return batch
        case .end(let result):
            try result.get()
            return nil
        }
    }

    /// Ends reading, soon.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        // One for the batch that may be waiting, and one for the end.
        free.signal()
        free.signal()
    }
}

extension DocumentScan {
    /// How much is read before it is handed over.
    static let batchBytes = 8 << 20
    /// About what a document takes beside its fields.
    static let documentBytes = 256

    private func run() {
        var batch = Batch(position: position())
        let result = Result { () throws(StatusError) in
            guard let top = try files.folders.open([]) else { return }
            try readBelowDocument(top, nil, DataFolder.documentsName, depth: 0, &batch)
            try hand(over: &batch)
        }
        put(.end(result))
    }

    func hand(over batch: inout Batch) throws(StatusError) {
        put(.batch(batch))
        guard !state.withLock({ $0.isCancelled }) else { throw StatusError(.cancelled, "Making the index was cancelled.") }
        batch = Batch(position: position())
    }

    private func put(_ step: Step) {
        free.wait()
        state.withLock { $0.steps.append(step) }
        made.signal()
    }
}
