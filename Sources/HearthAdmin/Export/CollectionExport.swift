import DocumentModel
import HearthAPI
import UTF8Text

/// The export of a collection's documents, all or filtered, as a file.
struct CollectionExport: Sendable {
    let request: CollectionRequest
    let format: ExportFormat
    /// True if the file is a gzip file.
    let isCompressed: Bool
    private let isRaw: Bool
    /// True to skip unreadable documents, as the user has confirmed.
    let skipsDamaged: Bool

    /// Decodes a URL query; returns `nil` if it doesn't request an export.
    init?(_ query: URLQuery, of request: CollectionRequest) {
        guard let name = query["export"], let format = ExportFormat(name) else { return nil }
        self.format = format
        isCompressed = query["gzip"] == "1"
        isRaw = query["raw"] == "1"
        skipsDamaged = query["damaged"] == "leave"
        var request = request
        request.cursor = nil
        self.request = request
    }

    /// The file name: the collection's ID in portable characters.
    var fileName: String {
        let name = request.path.id.key.utf8.prefix(100).map { Self.isPlain($0) ? $0 : UInt8(ascii: "_") }
        return String(decoding: name, as: UTF8.self) + suffix
    }

    /// The file name with all characters of the ID, percent-encoded for `filename*` (RFC 6266).
    var encodedFileName: String {
        PercentEncoding.encode(request.path.id.key) + suffix
    }

    private var suffix: String { ".\(format.rawValue)" + (isCompressed ? ".gz" : "") }

    /// Returns the file as a streaming body.
    ///
    /// When a document cannot be read while streaming, the file ends with the error and the response is aborted.
    ///
    /// - Parameters:
    ///   - readTime: The read time of all documents.
    ///   - report: Logs an error and returns the error to write to the file.
    /// - Throws: `CollectionQuery.ValidationError`, or ``UnreadableDocuments`` when they are found before the file begins.
    func body(
        at readTime: Timestamp?,
        in context: ServiceContext,
        reporting report: @escaping @Sendable (StatusError) -> StatusError
    ) async throws -> StreamingBody {
        let documents = try DocumentPager(request, at: readTime, in: context)
        let table = format == .csv ? try await table(of: documents) : (columns: [], hasEscapes: false)
        let notice = localized("INCOMPLETE: the export was aborted because of a read error.")
        let body = StreamingBody { [format, skipsDamaged, request] send in
            var documents = documents
            var writer: any ExportWriter =
                switch format {
                case .csv: CSVExportWriter(columns: table.columns, hasEscapes: table.hasEscapes)
                case .kml: KMLExportWriter(name: request.path.string)
                case .json: JSONExportWriter(isArray: true)
                case .ndjson, .atom: JSONExportWriter(isArray: false)
                }
            try await send(writer.begin())
            do {
                while let page = try await documents.next() {
                    if !skipsDamaged, let error = documents.damaged.first { throw error }
                    try await send(try writer.write(page))
                }
            } catch let error as StatusError {
                try await send(writer.abort("\(notice) \(Self.line(of: report(error)))"))
                throw error
            }
            try await send(writer.end())
        }
        return isCompressed ? body.compressed : body
    }

    /// Formats an error as one line.
    private static func line(of error: StatusError) -> String {
        let location = DamagedFileView.location(of: error)
        let text = location.utf8.isEmpty ? error.message : "\(location): \(error.message)"
        return String(decoding: text.utf8.map { $0 < UInt8(ascii: " ") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }

    /// The unreadable documents that would be missing from the file.
    struct UnreadableDocuments: Error {
        let collection: CollectionPath
        let errors: [StatusError]
    }

    /// Verifies that the first ``verifiedCount`` documents can be read, unless unreadable documents are skipped.
    ///
    /// - Throws: ``UnreadableDocuments``.
    func verifyReadability(at readTime: Timestamp?, in context: ServiceContext) async throws {
        guard !skipsDamaged else { return }
        var documents = try DocumentPager(request, at: readTime, in: context)
        var count = 0
        while count < Self.verifiedCount, let page = try await documents.next() { count += page.count }
        try requireReadable(documents)
    }

    private func requireReadable(_ documents: DocumentPager) throws {
        guard skipsDamaged || documents.damaged.isEmpty else {
            throw UnreadableDocuments(collection: request.path, errors: documents.damaged)
        }
    }

    private static let verifiedCount = 20_000

    /// Returns what the header row of a table must declare: its columns, the chosen ones or the fields of all documents, and whether
    /// texts have the prefix of formulas.
    ///
    /// This reads all documents, unless the columns are chosen and the output is raw.
    private func table(of documents: DocumentPager) async throws -> (columns: [FieldPath], hasEscapes: Bool) {
        let chosen = request.columns.isEmpty ? nil : request.columns
        if let chosen, isRaw { return (chosen, false) }
        var documents = documents
        var names: Set<UTF8Key> = []
        var hasEscapes = false
        while let page = try await documents.next() {
            for document in page {
                let fields = try document.decoded().fields
                if chosen == nil { names.formUnion(fields.lazy.map(\.key)) }
                hasEscapes = hasEscapes || (!isRaw && CSVExportWriter.needsEscapes(fields, at: document.path, columns: chosen))
            }
            guard names.count <= Self.columnLimit else {
                throw StatusError(
                    .resourceExhausted,
                    "The documents have more than \(Self.columnLimit) different fields. Choose columns or export as JSON."
                )
            }
        }
        try requireReadable(documents)
        if let chosen { return (chosen, hasEscapes) }
        var columns: [FieldPath] = []
        for name in names.sorted() { columns.append(try FieldPath(segments: [name])) }
        return (columns, hasEscapes)
    }

    private static let columnLimit = 1_000

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
