internal import DocumentModel
internal import StrictJSON

/// A document whose file may not be written, so that it is not as the last commit made it.
struct WaitingDocument: Hashable {
    let path: DocumentPath
    /// The document as it was committed; nil where it was deleted.
    let image: EncodedDocument?
    /// When it was committed.
    let time: Timestamp
}

/// The file `waiting.ndjson`: documents whose own files may not be written, one on a line. It lets the journal go that has them too.
///
/// ```json
/// {"path":"books/a","commitTime":"2024-01-02T03:04:05.000006Z","document":{"path":"books/a","fields":{…},"createTime":…,"updateTime":…}}
/// {"path":"books/b","commitTime":"2024-01-02T03:04:05.000006Z","document":null}
/// ```
///
/// Nearly always there is none. It is written after the other documents have been brought to disk and before `hearth.json` says so:
/// what stands in it may be older than the journal, and is then replayed first, but it never lacks anything.
final class WaitingDocuments: Sendable {
    static let fileName = "waiting.ndjson"

    private let data: DataFolder

    init(_ data: DataFolder) {
        self.data = data
    }

    /// The documents in the file.
    ///
    /// - Throws: `.dataLoss` when it is damaged.
    func read() throws(StatusError) -> [WaitingDocument] {
        guard let bytes = try data.contents(ofFile: Self.fileName, maximumBytes: .max) else { return [] }
        var documents: [WaitingDocument] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            do {
                documents.append(try Self.document(JSONText(Array(line)).root))
            } catch {
                throw Self.damaged("\(error)", line: documents.count + 1)
            }
        }
        return documents
    }

    /// Makes the file say that these documents wait, and no others; on disk when this returns.
    func write(_ documents: [WaitingDocument]) throws(StatusError) {
        if documents.isEmpty {
            if try data.holds(Self.fileName) { try data.removeFile(Self.fileName) }
        } else {
            try data.replaceFile(Self.fileName, with: Self.encoded(documents))
        }
    }

    private static func encoded(_ documents: [WaitingDocument]) -> [UInt8] {
        documents.reduce(into: []) { bytes, document in
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

    private static func document(_ json: JSONNode) throws -> WaitingDocument {
        let path = try DocumentPath(text("path", of: json))
        return WaitingDocument(
            path: path,
            image: json["document"]?.isNull == true ? nil : try image(json["document"], at: path),
            time: try Timestamp(rfc3339: text("commitTime", of: json))
        )
    }

    private static func image(_ json: JSONNode?, at path: DocumentPath) throws -> EncodedDocument {
        guard let json, let fields = json["fields"] else { throw StatusError(.dataLoss, "there are no fields") }
        let document = Document(
            path: path,
            fields: try MapValue(json: fields),
            createTime: try Timestamp(rfc3339: text("createTime", of: json)),
            updateTime: try Timestamp(rfc3339: text("updateTime", of: json))
        )
        return EncodedDocument(document)
    }

    private static func text(_ member: UTF8Key, of json: JSONNode) throws(StatusError) -> String {
        guard let text = json[member]?.string else { throw StatusError(.dataLoss, "there is no \(member)") }
        return text
    }

    private static func damaged(_ fault: String, line: Int) -> StatusError {
        StatusError(
            .dataLoss,
            "\(fileName) is damaged: \(fault). It has documents whose files may not be written. Restore it from a backup of the data "
                + "folder, or, to go on with those documents as their files are, move it away.",
            file: StatusError.FileLocation(path: fileName, line: line, column: 1)
        )
    }
}
