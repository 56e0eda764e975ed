internal import DocumentModel
internal import StrictJSON
internal import Synchronization

/// A document whose file may not be written, so that it is not as the last commit made it.
struct WaitingDocument: Hashable {
    let path: DocumentPath
    /// The document as it was committed; nil where it was deleted.
    let image: EncodedDocument?
    /// When it was committed.
    let time: Timestamp
}

/// The file `waiting.ndjson`: documents whose own files may not be written, one on a line behind one that says how many they
/// are. It lets the journal go that has them too.
///
/// ```json
/// {"documents":2}
/// {"path":"books/a","commitTime":"2024-01-02T03:04:05.000006Z","document":{"path":"books/a","fields":{…},"createTime":…,"updateTime":…}}
/// {"path":"books/b","commitTime":"2024-01-02T03:04:05.000006Z","document":null}
/// ```
///
/// Nearly always there is none. It is written after the other documents have been brought to disk and before `hearth.json` says so,
/// and removed after `hearth.json` has said that there is none: what stands in it may be older than the journal, and is then
/// replayed first, but it never lacks anything.
final class WaitingDocuments: Sendable {
    static let fileName = "waiting.ndjson"

    private let data: DataFolder
    /// How many stand in the file; nil before it has been written or removed.
    private let count = Mutex<Int?>(nil)

    init(_ data: DataFolder) {
        self.data = data
    }

    /// The documents in the file; none where `hearth.json` does not say that there are any.
    ///
    /// - Throws: `.dataLoss` when it is damaged or gone.
    func read() throws(StatusError) -> [WaitingDocument] {
        guard data.description.hasWaitingDocuments else { return [] }
        let bytes = try data.contents(ofFile: Self.fileName, maximumBytes: .max) ?? []
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        var documents: [WaitingDocument] = []
        do {
            let count = try lines.first.flatMap { try JSONText(Array($0)).root["documents"]?.number }
            guard count == .integer(Int64(lines.count - 1)) else {
                throw StatusError(.dataLoss, "there are not as many lines as it says")
            }
            for line in lines.dropFirst() { documents.append(try Self.document(JSONText(Array(line)).root)) }
        } catch {
            throw Self.damaged("\(error)", line: documents.count + 2)
        }
        return documents
    }

    /// Changes `hearth.json` to say that all files are on disk but those of these documents, which stand in the file then; on disk
    /// when this returns.
    ///
    /// - Parameter documents: Once there was a first time, some of those of the time before.
    func note(_ documents: [WaitingDocument], _ change: (inout DatabaseDescription) -> Void) throws(StatusError) {
        try count.withLock { count throws(StatusError) in
            let isOther = documents.count != count
            if isOther, !documents.isEmpty { try data.replaceFile(Self.fileName, with: Self.encoded(documents)) }
            try data.update { description in
                description.hasWaitingDocuments = !documents.isEmpty
                change(&description)
            }
            if isOther, documents.isEmpty, try data.holds(Self.fileName) { try data.removeFile(Self.fileName) }
            count = documents.count
        }
    }

    /// Whether more stand in the file, so that the files of some are right now and may not be on disk.
    func hasMore(than documents: [WaitingDocument]) -> Bool {
        count.withLock { ($0 ?? 0) > documents.count }
    }

    private static func encoded(_ documents: [WaitingDocument]) -> [UInt8] {
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
                + "folder, or, to go on with those documents as their files are, remove \"waiting\" from \(DataFolder.descriptionName) "
                + "and run hearth check --repair.",
            file: StatusError.FileLocation(path: fileName, line: line, column: 1)
        )
    }
}
