import DocumentModel
import HearthClient
import HearthService
import StrictJSON

/// Reads files of documents, one a line, and sends them to a server.
struct DocumentImporter {
    private var writer: DocumentWriter

    /// How many documents the server has taken.
    var writtenCount: Int { writer.writtenCount }
    /// How many lines were not imported.
    var refusedCount: Int { writer.refusedCount }
    /// Where the lines begin that are not imported for certain, once the server has failed.
    var failureOrigin: DocumentWriter.Origin? { writer.failureOrigin }

    /// Makes an importer that says on standard error what is wrong with a line that is not imported.
    init(_ connection: HearthConnection) {
        writer = DocumentWriter(connection)
    }

    /// Imports all lines of a file; empty ones don't count. Lines at fault are reported and passed over.
    ///
    /// - Throws: When the file can't be read, or for what keeps the server from writing any document.
    mutating func importFile(_ path: String) async throws(StatusError) {
        defer { Console.standardError.endProgress() }
        var lines = try LineReader(path: path, maximumLineBytes: DocumentLine.maximumBytes)
        while let line = try lines.next() {
            let origin = DocumentWriter.Origin(file: lines.name, line: lines.lineNumber)
            switch line {
            case .complete(let bytes) where bytes.allSatisfy(\.isJSONWhitespace): continue
            case .complete(let bytes): try await importLine(bytes, from: origin)
            case .overlong(let byteCount):
                let text = "The line has \(byteCount) bytes; \(DocumentLine.maximumBytes) are the most that is read."
                writer.refuse(origin, StatusError(.invalidArgument, text))
            }
            Console.standardError.showProgress("\(origin), \(writer.writtenCount.counting("document")) imported")
        }
        try await writer.flush()
    }

    private mutating func importLine(_ bytes: [UInt8], from origin: DocumentWriter.Origin) async throws(StatusError) {
        let document: DocumentLine
        do {
            document = try DocumentLine(bytes)
        } catch {
            writer.refuse(origin, error)
            return
        }
        try await writer.write(document.fields, at: document.path, byteCount: bytes.count, from: origin)
    }
}
