import DocumentModel
import HearthService
import StrictJSON

/// The documents of a collection, or of its filters, in a format, as a file to keep.
struct CollectionExport: Sendable {
    let request: CollectionRequest
    let format: ExportFormat
    /// Whether the file itself is to be one of gzip.
    let isCompressed: Bool
    private let isRaw: Bool
    /// Whether documents that can't be read may be left out: somebody knows of them.
    let leavesOutDamaged: Bool

    /// Reads the query of an address; nil where it asks for no export.
    init?(_ query: Query, of request: CollectionRequest) {
        guard let name = query["export"], let format = ExportFormat(name) else { return nil }
        self.format = format
        isCompressed = query["gzip"] == "1"
        isRaw = query["raw"] == "1"
        leavesOutDamaged = query["damaged"] == "leave"
        var request = request
        request.cursor = nil
        self.request = request
    }

    /// The name of the file: the ID of the collection as far as every system takes it.
    var fileName: String {
        let name = request.path.id.key.utf8.prefix(100).map { Self.isPlain($0) ? $0 : UInt8(ascii: "_") }
        return String(decoding: name, as: UTF8.self) + suffix
    }

    /// The name with all its characters, for browsers that know how to read it (RFC 6266).
    var encodedFileName: String {
        PercentEncoding.encode(request.path.id.key) + suffix
    }

    private var suffix: String { ".\(format.rawValue)" + (isCompressed ? ".gz" : "") }

    /// The file, made while it is sent.
    ///
    /// Where something can't be read on the way, the file says so at its end, and breaks off.
    ///
    /// - Parameters:
    ///   - readTime: As of when.
    ///   - report: Puts what can't be read into the log, and gives what of it the file may tell.
    /// - Throws: A fault of the filters; ``Damage`` where it is known before the file is begun.
    func body(
        at readTime: Timestamp?,
        in context: ServiceContext,
        reporting report: @escaping @Sendable (StatusError) -> StatusError
    ) async throws -> BodyStream {
        let documents = try ExportedDocuments(request, at: readTime, in: context)
        let columns = format == .csv ? try await columns(of: documents) : []
        let notice = localized("NOT WHOLE: the export ends here, because not everything could be read.")
        let body = BodyStream { [format, isRaw, leavesOutDamaged, request] send in
            var documents = documents
            var writer: any ExportWriter =
                switch format {
                case .csv: CSVExportWriter(columns: columns, isRaw: isRaw)
                case .kml: KMLExportWriter(name: request.path.string)
                case .json: JSONExportWriter(isArray: true)
                case .ndjson, .atom: JSONExportWriter(isArray: false)
                }
            try await send(writer.begin())
            do {
                while let page = try await documents.next() {
                    if !leavesOutDamaged, let error = documents.damaged.first { throw error }
                    try await send(try writer.write(page))
                }
            } catch let error as StatusError {
                try await send(writer.breakOff("\(notice) \(Self.line(of: report(error)))"))
                throw error
            }
            try await send(writer.end())
        }
        return isCompressed ? body.compressed : body
    }

    /// An error as a line of text.
    private static func line(of error: StatusError) -> String {
        let place = DamagedFile.place(of: error)
        let text = place.utf8.isEmpty ? error.message : "\(place): \(error.message)"
        return String(decoding: text.utf8.map { $0 < UInt8(ascii: " ") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }

    /// Documents that can't be read and would be missing from the file.
    struct Damage: Error {
        let collection: CollectionPath
        let errors: [StatusError]
    }

    /// Makes sure that the first documents can be read, as many as are looked through while somebody waits, unless those that can't
    /// are to be left out.
    ///
    /// - Throws: ``Damage``.
    func check(at readTime: Timestamp?, in context: ServiceContext) async throws {
        guard !leavesOutDamaged else { return }
        var documents = try ExportedDocuments(request, at: readTime, in: context)
        var count = 0
        while count < Self.checkedCount, let page = try await documents.next() { count += page.count }
        try check(documents)
    }

    private func check(_ documents: ExportedDocuments) throws {
        guard leavesOutDamaged || documents.damaged.isEmpty else {
            throw Damage(collection: request.path, errors: documents.damaged)
        }
    }

    private static let checkedCount = 20_000

    /// The columns that were chosen, or else all fields that any of the documents has: they must be known before the first line.
    private func columns(of documents: ExportedDocuments) async throws -> [FieldPath] {
        guard request.columns.isEmpty else { return request.columns }
        var documents = documents
        var names: Set<UTF8Key> = []
        while let page = try await documents.next() {
            for document in page { names.formUnion(try document.decoded().fields.lazy.map(\.key)) }
            guard names.count <= Self.columnLimit else {
                throw StatusError(
                    .resourceExhausted,
                    "The documents have more than \(Self.columnLimit) different fields. Choose some of them as columns, or export JSON."
                )
            }
        }
        try check(documents)
        var columns: [FieldPath] = []
        for name in names.sorted() { columns.append(try FieldPath(segments: [name])) }
        return columns
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
