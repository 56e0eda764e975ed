internal import DocumentModel
internal import StrictJSON
internal import Synchronization
internal import UTF8Text

/// The file `waiting.ndjson` of the documents that are not in their files, because these cannot be written or keep the texts of edits: a
/// header with their number, then one document per line.
///
/// It allows the journal, which also contains these documents, to be removed.
///
/// ```json
/// {"documents":3}
/// {"path":"books/a","commitTime":"2024-01-02T03:04:05.000006Z","document":{"path":"books/a","fields":{…},"createTime":…,"updateTime":…}}
/// {"path":"books/b","commitTime":"2024-01-02T03:04:05.000006Z","document":null}
/// {"path":"books/c","commitTime":"2024-01-02T03:04:05.000006Z","keepsText":true,"document":{…}}
/// ```
///
/// Normally the file doesn't exist. It is written after all other documents are durable and before the manifest records that, and
/// removed after the manifest records that there are none. Therefore it may be older than the journal, which is replayed after it,
/// but it is never incomplete.
final class QuarantinedDocuments: Sendable {
    private let data: DataFolder
    /// The documents in the file, with the times of their commits; `nil` before it was first written or removed.
    private let written = Mutex<[DocumentPath: Timestamp]?>(nil)

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

    /// Writes the documents, and updates the manifest to record that all other files are durable. Durable when this returns.
    ///
    /// A crash between the two leaves later documents than the manifest is of. The journal contains all of their commits since then.
    func record(_ documents: [QuarantinedDocument], _ change: (inout DataFolderManifest) -> Void) throws(StatusError) {
        let times = Self.times(of: documents)
        try written.withLock { written throws(StatusError) in
            let hasChanged = times != written
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
            written = times
        }
    }

    private static func times(of documents: [QuarantinedDocument]) -> [DocumentPath: Timestamp] {
        Dictionary(documents.map { ($0.path, $0.time) }) { $1 }
    }

    /// Returns the manifest, and the documents that it refers to.
    func recorded() throws(StatusError) -> (DataFolderManifest, [QuarantinedDocument]) {
        try written.withLock { _ throws(StatusError) in (data.manifest, try read()) }
    }

    /// Returns whether the file contains documents, or versions, that others are no longer: their files have been written since, and may
    /// not be durable.
    func hasOthers(than documents: [QuarantinedDocument]) -> Bool {
        let times = Self.times(of: documents)
        return written.withLock { written in
            written?.contains { path, time in times[path] != time } ?? false
        }
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
            if document.keepsText {
                writer.key("keepsText")
                writer.boolean(true)
            }
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
            time: try Timestamp(rfc3339: text("commitTime", of: json)),
            keepsText: json["keepsText"]?.boolean ?? false
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
            "\(DataFolder.quarantineName) is damaged: \(reason). It contains documents that are not in their files. Restore it from a backup of "
                + "the data folder, or, to continue with those documents as they are in their files, remove \"waiting\" from "
                + "\(DataFolder.manifestName) and run hearth check --repair.",
            file: StatusError.FileLocation(path: DataFolder.quarantineName, line: line, column: 1)
        )
    }
}
