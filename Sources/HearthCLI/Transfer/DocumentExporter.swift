import DocumentModel
import HearthClient
import HearthService
import StrictJSON

/// Reads documents from a server with all that lies below them, and writes each as a line.
///
/// A document comes before those below it; the rest is in the order of the ids. Documents that are written while an export
/// runs are in it as they are when their turn comes.
struct DocumentExporter {
    private let connection: HearthConnection
    private var output: BufferedOutput
    /// How many documents have been written.
    private(set) var documentCount = 0
    /// What the server could not read, as documents or collections.
    private(set) var damaged: [StatusError] = []
    private var damagedFiles: Set<UTF8Key> = []

    /// As many as a batch of calls about each of them may hold, and room for damaged ones.
    private static let pageSize = 500

    /// Makes an exporter.
    init(_ connection: HearthConnection, to output: BufferedOutput) {
        self.connection = connection
        self.output = output
    }

    /// Exports the whole database.
    mutating func exportDatabase() async throws(StatusError) {
        try await exportCollections(under: nil, firstPage: nil)
        try output.flush()
    }

    /// Exports a document or a collection.
    ///
    /// - Throws: `.notFound` when there is nothing of that name and nothing below it.
    mutating func export(_ path: DataPath) async throws(StatusError) {
        let before = documentCount + damaged.count
        switch path {
        case .collection(let collection):
            try await exportCollection(collection)
        case .document(let document):
            try await exportSingle(document)
            try await exportCollections(under: document, firstPage: nil)
        }
        guard documentCount + damaged.count > before else {
            throw StatusError(.notFound, "There is nothing to export.", path: path.string)
        }
        try output.flush()
    }

    /// Exports a document alone; one that doesn't exist may still have others below it.
    private mutating func exportSingle(_ path: DocumentPath) async throws(StatusError) {
        do {
            try write(await connection.document(at: path))
        } catch {
            switch error.code {
            case .notFound: break
            case .dataLoss: note([error])
            default: throw error
            }
        }
    }

    private mutating func exportCollections(under parent: DocumentPath?, firstPage: CollectionPage?) async throws(StatusError) {
        var page = if let firstPage { firstPage } else { try await connection.collections(under: parent) }
        while true {
            note(page.damaged)
            for id in page.collections {
                try await exportCollection(CollectionPath(parent: parent, id: id))
            }
            guard let token = page.nextPageToken else { return }
            page = try await connection.collections(under: parent, pageToken: token)
        }
    }

    private mutating func exportCollection(_ collection: CollectionPath) async throws(StatusError) {
        var pageToken: String?
        repeat {
            let page = try await connection.documents(
                in: collection,
                pageSize: Self.pageSize,
                pageToken: pageToken,
                showMissing: true
            )
            note(page.damaged)
            let damagedPaths = page.damaged.compactMap { error in error.path.flatMap { try? DocumentPath($0) } }
            let entries = page.documents + damagedPaths.map(ListedDocument.missing)
            let below = try await connection.collections(underEach: entries.map(\.path))
            for (entry, collections) in zip(entries, below) {
                if case .document(let document) = entry { try write(document) }
                try await exportCollections(under: entry.path, firstPage: collections)
            }
            pageToken = page.nextPageToken
        } while pageToken != nil
    }

    /// Keeps what could not be read; a folder may be told of with what it lies in and with the document that it belongs to.
    private mutating func note(_ errors: [StatusError]) {
        for error in errors {
            if let file = error.file, !damagedFiles.insert(UTF8Key(file.path)).inserted { continue }
            damaged.append(error)
        }
    }

    private mutating func write(_ document: EncodedDocument) throws(StatusError) {
        try output.writeLine(DocumentLine.bytes(of: document))
        documentCount += 1
        // Where the documents themselves go by, nothing is gained by counting them.
        guard !output.isTerminal else { return }
        Console.standardError.showProgress("\(documentCount.counting("document")) exported")
    }
}
