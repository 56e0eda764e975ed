internal import DocumentModel
internal import StrictJSON
internal import Synchronization
internal import UTF8Text

/// The file `waiting.ndjson` of the quarantined documents: a header with their number, then one document per line.
///
/// It allows the journal, which also contains these documents, to be removed.
///
/// ```json
/// {"documents":2}
/// {"path":"books/a","commitTime":"2024-01-02T03:04:05.000006Z","document":{"path":"books/a","fields":{…},"createTime":…,"updateTime":…}}
/// {"path":"books/b","commitTime":"2024-01-02T03:04:05.000006Z","document":null}
/// ```
///
/// Normally the file doesn't exist. It is written after all other documents are durable and before the manifest records that, and
/// removed after the manifest records that there are none. Therefore it may be older than the journal, which is replayed after it,
/// but it is never incomplete.
final class QuarantinedDocuments: Sendable {
    private let data: DataFolder
    /// The number of documents in the file; `nil` before it was first written or removed.
    private let count = Mutex<Int?>(nil)

    init(_ data: DataFolder) {
        self.data = data
    }

    /// Reads the documents, or returns none if the manifest says that there are none.
    ///
    /// - Throws: `.dataLoss` if the file is damaged or missing.
    func read() throws(StatusError) -> [QuarantinedDocument] {
        guard data.manifest.hasQuarantinedDocuments else { return [] }
        let bytes = try data.contents(ofFile: DataFolder.quarantineName, maximumBytes: .max) ?? []
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        var documents: [QuarantinedDocument] = []
        do {
            let count = try lines.first.flatMap { try JSONText(Array($0)).root["documents"]?.number }
            guard count == .integer(Int64(lines.count - 1)) else {
                throw StatusError(.dataLoss, "the number of lines doesn't match the header")
            }
            for line in lines.dropFirst() { documents.append(try Self.document(JSONText(Array(line)).root)) }
        } catch {
            throw Self.damaged("\(error)", line: documents.count + 2)
        }
        return documents
    }

    /// Writes the quarantined documents, and updates the manifest to record that all other files are durable. Durable when this
    /// returns.
    ///
    /// - Parameter documents: After the first call, a subset of those of the previous call.
    func record(_ documents: [QuarantinedDocument], _ change: (inout DataFolderManifest) -> Void) throws(StatusError) {
        try count.withLock { count throws(StatusError) in
            let hasChanged = documents.count != count
            if hasChanged, !documents.isEmpty {
                let bytes = Self.encoded(documents)
                try data.usingReserve { () throws(StatusError) in try data.replaceFile(DataFolder.quarantineName, with: bytes) }
            }
            try data.update { manifest in
                manifest.hasQuarantinedDocuments = !documents.isEmpty
                change(&manifest)
            }
            if hasChanged, documents.isEmpty, try data.contains(DataFolder.quarantineName) {
                try data.removeFile(DataFolder.quarantineName)
            }
            count = documents.count
        }
    }

    /// Returns the manifest, and the quarantined documents that it refers to.
    func recorded() throws(StatusError) -> (DataFolderManifest, [QuarantinedDocument]) {
        try count.withLock { _ throws(StatusError) in (data.manifest, try read()) }
    }

    /// Returns whether the file contains more documents, in which case some have been applied since and may not be durable.
    func hasMore(than documents: [QuarantinedDocument]) -> Bool {
        count.withLock { ($0 ?? 0) > documents.count }
    }

    /// Encodes the file.
    static func encoded(_ documents: [QuarantinedDocument]) -> [UInt8] {
        documents.reduce(into: Array("{\"documents\":\(documents.count)}\n".utf8)) { bytes, document in
            var writer = JSONWriter()
            writer.beginObject()
            writer.key("path")
            writer.string(document.path.string)
            writer.key("commitTime")
            writer.string(document.time.rfc3339)
            writer.key("document")
            if let image = document.image { image.write(to: &writer) } else { writer.null() }
            writer.endObject()
            bytes += writer.finish()
            bytes.append(UInt8(ascii: "\n"))
        }
    }

    private static func document(_ json: JSONNode) throws -> QuarantinedDocument {
        let path = try DocumentPath(text("path", of: json))
        return QuarantinedDocument(
            path: path,
            image: json["document"]?.isNull == true ? nil : try image(json["document"], at: path),
            time: try Timestamp(rfc3339: text("commitTime", of: json))
        )
    }

    private static func image(_ json: JSONNode?, at path: DocumentPath) throws -> EncodedDocument {
        guard let json, let fields = json["fields"] else { throw StatusError(.dataLoss, "the fields are missing") }
        let document = Document(
            path: path,
            fields: try MapValue(json: fields),
            createTime: try Timestamp(rfc3339: text("createTime", of: json)),
            updateTime: try Timestamp(rfc3339: text("updateTime", of: json))
        )
        return EncodedDocument(document)
    }

    private static func text(_ member: UTF8Key, of json: JSONNode) throws(StatusError) -> String {
        guard let text = json[member]?.string else { throw StatusError(.dataLoss, "the member \(member) is missing") }
        return text
    }

    private static func damaged(_ reason: String, line: Int) -> StatusError {
        StatusError(
            .dataLoss,
            "\(DataFolder.quarantineName) is damaged: \(reason). It contains the quarantined documents. Restore it from a backup of "
                + "the data folder, or, to continue with those documents as they are in their files, remove \"waiting\" from "
                + "\(DataFolder.manifestName) and run hearth check --repair.",
            file: StatusError.FileLocation(path: DataFolder.quarantineName, line: line, column: 1)
        )
    }
}
