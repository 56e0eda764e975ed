import DocumentModel
import DocumentStore
import HearthAPI
import HearthTransport
import StrictJSON
import UTF8Text

/// Imports files with one JSON document per line.
struct DocumentImporter<Element> {
    private var writer: BulkWriter<Element>
    private let element: (DocumentExportLine) throws(StatusError) -> Element

    /// The number of imported documents.
    var writtenCount: Int { writer.writtenCount }
    /// The number of lines that were not imported.
    var rejectedCount: Int { writer.rejectedCount }
    /// The first line that may or may not have been imported, after a server error.
    var firstUnacknowledgedOrigin: ImportOrigin? { writer.firstUnacknowledgedOrigin }

    /// Creates an importer that reports rejected lines on standard error.
    ///
    /// - Parameters:
    ///   - element: Returns what to commit for a line.
    ///   - commit: Commits the documents of lines; all of them, or none.
    init(
        _ element: @escaping (DocumentExportLine) throws(StatusError) -> Element,
        commit: @escaping BulkWriter<Element>.Commit
    ) {
        self.element = element
        writer = BulkWriter(reportingRejections: commit)
    }

    /// Imports all lines of a file. Skips empty lines; reports and skips invalid ones.
    ///
    /// - Throws: If the file cannot be read, or for a server error that is not specific to one document.
    mutating func importFile(_ path: String) async throws(StatusError) {
        defer { Console.standardError.endProgress() }
        var lines = try LineReader(path: path, maximumLineBytes: DocumentExportLine.maximumBytes)
        let (byteCount, estimate) = (lines.byteCount, ProgressEstimate())
        while let line = try lines.next() {
            let origin = ImportOrigin(file: lines.name, line: lines.lineNumber)
            switch line {
            case .complete(let bytes) where bytes.allSatisfy(\.isJSONWhitespace): continue
            case .complete(let bytes): try await importLine(bytes, from: origin)
            case .overlong(let byteCount):
                let text = "The line is \(byteCount) bytes long; the maximum is \(DocumentExportLine.maximumBytes)."
                writer.reject(origin, StatusError(.invalidArgument, text))
            }
            Console.standardError.showProgress(
                "\(origin), \(writer.writtenCount.counted("document")) imported\(estimate.text(lines.readCount, of: byteCount))"
            )
        }
        try await writer.flush()
    }

    private mutating func importLine(_ bytes: [UInt8], from origin: ImportOrigin) async throws(StatusError) {
        let element: Element
        do {
            element = try self.element(DocumentExportLine(bytes))
        } catch {
            writer.reject(origin, error)
            return
        }
        try await writer.write(element, byteCount: bytes.count, from: origin)
    }
}

extension DocumentImporter<Write> {
    /// Creates an importer into a server.
    init(_ connection: HearthConnection) {
        self.init { line throws(StatusError) in
            try Write.set(line.path, line.fields)
        } commit: { writes throws(StatusError) in
            _ = try await connection.commit(writes)
        }
    }
}

extension DocumentImporter<Document> {
    /// Creates an importer into a new database, which keeps the times of lines.
    ///
    /// - Parameter time: The time of documents whose lines have none.
    init(until time: Timestamp, write: @escaping BulkWriter<Document>.Commit) {
        self.init(
            { line in
                let updateTime = line.updateTime ?? line.createTime ?? time
                return Document(
                    path: line.path,
                    fields: line.fields,
                    createTime: line.createTime ?? updateTime,
                    updateTime: updateTime
                )
            },
            commit: write
        )
    }
}

extension BulkWriter {
    /// Creates a writer that reports rejected documents on standard error.
    init(reportingRejections commit: @escaping Commit) {
        self.init(commit: commit) { origin, error in Console.standardError.report("\(origin): \(error)") }
    }
}

extension BulkWriter<Write> {
    /// Creates a writer into a server that reports rejected documents on standard error.
    init(_ connection: HearthConnection) {
        self.init(reportingRejections: { writes throws(StatusError) in _ = try await connection.commit(writes) })
    }
}
