import DocumentModel
import HearthAPI
import StrictJSON
import UTF8Text

/// Reads the documents of an uploaded file, and reports the records that cannot be decoded with their positions.
///
/// Holds a few hundred KiB and one document in memory, regardless of the size of the file.
struct ImportReader {
    /// Handles a document or an error, and returns whether to continue.
    typealias Body = (Result<ImportRecord, ImportRecordError>) async throws(StatusError) -> Bool

    private let options: ImportOptions
    private let name: UTF8Key
    private var bytes: UploadedFileReader

    /// - Parameters:
    ///   - options: The import options. The automatic format is detected from the file name and the first bytes.
    ///   - isCancelled: Checked before each chunk.
    init(_ file: UploadedFile, options: ImportOptions, isCancelled: @escaping @Sendable () -> Bool) {
        self.init(UploadedFileReader(file, isCancelled: isCancelled), name: file.name, options: options)
    }

    init(_ bytes: UploadedFileReader, name: UTF8Key, options: ImportOptions) {
        (self.bytes, self.name, self.options) = (bytes, name, options)
    }

    /// Passes all documents and errors to `body`, in the order of the file.
    ///
    /// - Throws: An error that prevents reading the file. Errors in its contents are passed to `body`.
    mutating func read(_ body: Body) async throws(StatusError) {
        guard let first = try await nextChunk(at: 1, body) else { return }
        let format = options.format == .automatic ? ImportFormat.detect(fileName: name, firstBytes: first) : options.format
        switch format {
        case .json: try await readJSON(from: first, body)
        case .csv: try await readCSV(from: first, body)
        case .ndjson, .automatic: try await readNDJSON(from: first, body)
        }
    }

    /// Returns the next chunk, empty at the end of the file; `nil` after an error in the contents, which is passed to `body`, and
    /// after cancellation. An incomplete document is then discarded.
    private mutating func nextChunk(at line: Int, _ body: Body) async throws(StatusError) -> [UInt8]? {
        do throws(StatusError) {
            return try await bytes.next() ?? []
        } catch {
            if error.code == .cancelled { return nil }
            guard error.code == .invalidArgument || error.code == .resourceExhausted else { throw error }
            _ = try await body(.failure(.init(line: line, error: error)))
            return nil
        }
    }
}

// NDJSON.
extension ImportReader {
    private mutating func readNDJSON(from first: [UInt8], _ body: Body) async throws(StatusError) {
        var lines = LineSplitter(maximumBytes: DocumentExportLine.maximumBytes)
        var (chunk, lineNumber) = (first, 0)
        while !chunk.isEmpty {
            lines.append(chunk)
            while let line = lines.next() {
                lineNumber += 1
                guard try await process(line, lineNumber, body) else { return }
            }
            guard let next = try await nextChunk(at: lineNumber + 1, body) else { return }
            chunk = next
        }
        if let line = lines.finish() { _ = try await process(line, lineNumber + 1, body) }
    }

    private func process(_ line: LineSplitter.Line, _ lineNumber: Int, _ body: Body) async throws(StatusError) -> Bool {
        switch line {
        case .complete(let text):
            guard text.contains(where: { $0 > UInt8(ascii: " ") }) else { return true }
            let position = TextPosition(line: lineNumber, column: 1)
            return try await body(
                record(LocatedJSON(.init(position: position, bytes: text))) { json throws(StatusError) in
                    try options.document(json)
                }
            )
        case .overlong(let byteCount):
            let error = StatusError(
                .invalidArgument,
                "The line is \(byteCount) bytes long. The maximum is \(DocumentExportLine.maximumBytes) bytes."
            )
            return try await body(.failure(.init(line: lineNumber, error: error)))
        }
    }

    /// Decodes a document from JSON.
    private func record(
        _ text: LocatedJSON,
        _ document: (JSONNode) throws(StatusError) -> (path: DocumentPath, fields: MapValue)
    ) -> Result<ImportRecord, ImportRecordError> {
        let json: JSONNode
        do throws(JSONSyntaxError) {
            json = try JSONText(text.bytes, limits: JSONLimits(maximumBytes: DocumentExportLine.maximumBytes)).root
        } catch {
            let statusError = StatusError(.invalidArgument, "Invalid JSON: \(error.reason).")
            return .failure(.init(position: text.position(line: error.line, column: error.column), error: statusError))
        }
        do throws(StatusError) {
            let (path, fields) = try document(json)
            return .success(.init(line: text.position.line, path: path, fields: fields, byteCount: text.bytes.count))
        } catch {
            guard let location = error.sourceLocation else {
                return .failure(.init(line: text.position.line, error: error))
            }
            let position = text.position(line: location.line, column: location.column)
            return .failure(.init(position: position, error: error.withoutSourceLocation))
        }
    }
}

// JSON arrays and objects.
extension ImportReader {
    private mutating func readJSON(from first: [UInt8], _ body: Body) async throws(StatusError) {
        var splitter = JSONStreamSplitter()
        // The members of an object are buffered: the object may itself be a document, which is known only after its last member.
        var members: [JSONStreamSplitter.Element] = []
        var (memberBytes, chunk) = (0, first)
        while !chunk.isEmpty {
            splitter.append(chunk)
            while let result = splitter.next() {
                guard case .success(let element) = result else {
                    if case .failure(let error) = result { _ = try await body(.failure(error)) }
                    return
                }
                guard splitter.isObject else {
                    let record = record(LocatedJSON(element)) { json throws(StatusError) in try options.document(json) }
                    guard try await body(record) else { return }
                    continue
                }
                memberBytes += element.bytes.count
                members.append(element)
                // An object that exceeds the size limit for documents is not a document.
                guard memberBytes > DocumentExportLine.maximumBytes else { continue }
                for member in members { guard try await body(record(ofMember: member)) else { return } }
                members = []
            }
            guard let next = try await nextChunk(at: splitter.position.line, body) else { return }
            chunk = next
        }
        if let error = splitter.finish() {
            _ = try await body(.failure(error))
        } else if memberBytes <= DocumentExportLine.maximumBytes, let document = document(of: members) {
            _ = try await body(record(document) { json throws(StatusError) in try options.document(json) })
        } else {
            for member in members { guard try await body(record(ofMember: member)) else { return } }
        }
    }

    /// Decodes a member of an object as a document, with the key as its ID.
    private func record(ofMember element: JSONStreamSplitter.Element) -> Result<ImportRecord, ImportRecordError> {
        record(LocatedJSON(members: [element])) { json throws(StatusError) in
            guard let (id, member) = json.members?.first(where: { _ in true }) else {
                throw StatusError(.invalidArgument, "Expected a document ID and fields.")
            }
            let (path, fields) = (try options.path(id: id.string), try MapValue(json: member))
            try Document.validate(fields, at: path)
            return (path, fields)
        }
    }

    /// Returns the object if it is itself a document; `nil` if its members are documents.
    private func document(of members: [JSONStreamSplitter.Element]) -> LocatedJSON? {
        let text = LocatedJSON(members: members)
        guard let json = try? JSONText(text.bytes, limits: JSONLimits(maximumBytes: 2 * DocumentExportLine.maximumBytes)).root,
            json["path"]?.string != nil
        else { return nil }
        return text
    }
}

// CSV.
extension ImportReader {
    private mutating func readCSV(from first: [UInt8], _ body: Body) async throws(StatusError) {
        var table = Table(options: options)
        var (chunk, isAtEnd) = (first, false)
        while !isAtEnd {
            isAtEnd = chunk.isEmpty
            table.parser.append(chunk)
            while let result = table.next() {
                switch result {
                case .success(let row): guard try await body(row.record()) else { return }
                case .failure(let error):
                    _ = try await body(.failure(error))
                    return
                }
            }
            guard !isAtEnd, let next = try await nextChunk(at: table.parser.line, body) else { return }
            chunk = next
        }
    }

    /// The rows below the header row.
    private struct Table {
        let options: ImportOptions
        var parser = CSVParser()
        /// The decoder for the columns of the header row.
        private var decoder: CSVRowDecoder?

        init(options: ImportOptions) {
            self.options = options
        }

        struct Row {
            let decoder: CSVRowDecoder
            let row: CSVParser.Row

            func record() -> Result<ImportRecord, ImportRecordError> {
                do throws(StatusError) {
                    let (path, fields) = try decoder.document(row.cells)
                    return .success(.init(line: row.line, path: path, fields: fields, byteCount: row.byteCount))
                } catch {
                    return .failure(.init(line: row.line, error: error))
                }
            }
        }

        /// Returns the next row, or the error that ends the table; `nil` if more bytes are needed.
        mutating func next() -> Result<Row, ImportRecordError>? {
            var line = parser.line
            do throws(StatusError) {
                while let row = try parser.next() {
                    if let decoder { return .success(Row(decoder: decoder, row: row)) }
                    line = row.line
                    decoder = try CSVRowDecoder(
                        header: row.cells,
                        options: options,
                        hasApostropheEscapes: parser.hasApostropheEscapes
                    )
                    line = parser.line
                }
                return nil
            } catch {
                return .failure(.init(line: line, error: error))
            }
        }
    }
}
