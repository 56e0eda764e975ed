import DocumentModel
import HearthAPI
import HearthTransport
import UTF8Text

/// Exports documents and their subcollections from a server, one document per line.
///
/// A document precedes those in its subcollections; siblings are ordered by ID.
struct DocumentExporter {
    private let connection: HearthConnection
    /// The time as of which all documents are exported; `nil` for each as it is when it is read.
    private let readTime: Timestamp?
    /// True to export the create and update times.
    private let includesTimes: Bool
    private var output: BufferedOutput
    /// The number of exported documents.
    private(set) var documentCount = 0
    /// The files and folders that the server could not read.
    private(set) var damaged: [StatusError] = []
    private var damagedFiles: Set<UTF8Key> = []

    /// The page size, small enough that one batch can hold a call per document, damaged ones included.
    private static let pageSize = 500

    /// Creates an exporter.
    init(_ connection: HearthConnection, readTime: Timestamp?, includingTimes includesTimes: Bool, to output: BufferedOutput) {
        self.connection = connection
        self.readTime = readTime
        self.includesTimes = includesTimes
        self.output = output
    }

    /// Exports the whole database.
    mutating func exportDatabase() async throws(StatusError) {
        try await exportCollections(under: nil, firstPage: nil)
        try output.flush()
    }

    /// Exports a document or a collection.
    ///
    /// - Throws: `.notFound` if neither the document or collection nor anything below it exists.
    mutating func export(_ path: ResourcePath) async throws(StatusError) {
        let before = documentCount + damaged.count
        switch path {
        case .collection(let collection):
            try await exportCollection(collection)
        case .document(let document):
            try await exportSingle(document)
            try await exportCollections(under: document, firstPage: nil)
        }
        guard documentCount + damaged.count > before else {
            throw StatusError(.notFound, "The document or collection does not exist.", path: path.string)
        }
        try output.flush()
    }

    /// Exports a single document, if it exists: a missing document can have subcollections.
    private mutating func exportSingle(_ path: DocumentPath) async throws(StatusError) {
        do {
            try write(await connection.document(at: path, readTime: readTime))
        } catch {
            switch error.code {
            case .notFound: break
            case .dataLoss: recordDamage([error])
            default: throw error
            }
        }
    }

    private mutating func exportCollections(under parent: DocumentPath?, firstPage: CollectionListPage?) async throws(StatusError)
    {
        var page = if let firstPage { firstPage } else { try await connection.collections(under: parent, readTime: readTime) }
        while true {
            recordDamage(page.damaged)
            for id in page.collections {
                try await exportCollection(CollectionPath(parent: parent, id: id))
            }
            guard let token = page.nextPageToken else { return }
            page = try await connection.collections(under: parent, pageToken: token, readTime: readTime)
        }
    }

    private mutating func exportCollection(_ collection: CollectionPath) async throws(StatusError) {
        var pageToken: String?
        repeat {
            let page = try await connection.documents(
                in: collection,
                pageSize: Self.pageSize,
                pageToken: pageToken,
                showMissing: true,
                readTime: readTime
            )
            recordDamage(page.damaged)
            let damagedPaths = page.damaged.compactMap { error in error.path.flatMap { try? DocumentPath($0) } }
            let entries = page.documents + damagedPaths.map(ListedDocument.missing)
            let below = try await connection.collections(underEach: entries.map(\.path), readTime: readTime)
            for (entry, collections) in zip(entries, below) {
                if case .document(let document) = entry { try write(document) }
                try await exportCollections(under: entry.path, firstPage: collections)
            }
            pageToken = page.nextPageToken
        } while pageToken != nil
    }

    /// Records each damaged file once: a folder can be reported for its parent folder and for the document it belongs to.
    private mutating func recordDamage(_ errors: [StatusError]) {
        for error in errors {
            if let file = error.file, !damagedFiles.insert(UTF8Key(file.path)).inserted { continue }
            damaged.append(error)
        }
    }

    private mutating func write(_ document: EncodedDocument) throws(StatusError) {
        try output.writeLine(DocumentExportLine.bytes(of: document, includingTimes: includesTimes))
        documentCount += 1
        // Shows no progress when the documents themselves are printed to the terminal.
        guard !output.isTerminal else { return }
        Console.standardError.showProgress("\(documentCount.counted("document")) exported")
    }
}
