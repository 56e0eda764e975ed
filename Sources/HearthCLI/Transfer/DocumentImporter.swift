import DocumentModel
import HearthAPI
import HearthClient
import StrictJSON
import UTF8Text

/// Imports files with one JSON document per line into a server.
struct DocumentImporter {
    private var writer: BulkWriter

    /// The number of imported documents.
    var writtenCount: Int { writer.writtenCount }
    /// The number of lines that were not imported.
    var rejectedCount: Int { writer.rejectedCount }
    /// The first line that may or may not have been imported, after a server error.
    var firstUnacknowledgedOrigin: BulkWriter.Origin? { writer.firstUnacknowledgedOrigin }

    /// Creates an importer that reports rejected lines on standard error.
    init(_ connection: HearthConnection) {
        writer = BulkWriter(connection)
    }

    /// Imports all lines of a file. Skips empty lines; reports and skips invalid ones.
    ///
    /// - Throws: If the file cannot be read, or for a server error that is not specific to one document.
    mutating func importFile(_ path: String) async throws(StatusError) {
        defer { Console.standardError.endProgress() }
        var lines = try LineReader(path: path, maximumLineBytes: DocumentExportLine.maximumBytes)
        let (byteCount, estimate) = (lines.byteCount, ProgressEstimate())
        while let line = try lines.next() {
            let origin = BulkWriter.Origin(file: lines.name, line: lines.lineNumber)
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

    private mutating func importLine(_ bytes: [UInt8], from origin: BulkWriter.Origin) async throws(StatusError) {
        let document: DocumentExportLine
        do {
            document = try DocumentExportLine(bytes)
        } catch {
            writer.reject(origin, error)
            return
        }
        try await writer.write(document.fields, at: document.path, byteCount: bytes.count, from: origin)
    }
}

extension BulkWriter {
    /// Creates a writer that reports rejected documents on standard error.
    init(_ connection: HearthConnection) {
        self.init { writes throws(StatusError) in
            _ = try await connection.commit(writes)
        } onRejection: { origin, error in
            Console.standardError.report("\(origin): \(error)")
        }
    }
}
