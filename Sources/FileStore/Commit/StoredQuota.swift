internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StrictJSON
internal import Synchronization
internal import UTF8Text

/// The quota of an open database, in memory and in its file, `quota.json`: `{"documentCount":100000,"bytes":1073741824}`.
final class StoredQuota: Sendable {
    /// The name of the file at the top level of the data folder. There is none without a quota.
    static let fileName = "quota.json"
    private static let maximumBytes = 64 << 10

    private let quota: Mutex<DatabaseQuota>
    /// Held while the file is written, so that it has what is in memory.
    private let change = Mutex(())

    /// Reads the file. One that cannot be read is logged, and limits nothing: the documents matter more.
    init(in data: DataFolder, logger: Logger) {
        var found = DatabaseQuota()
        do throws(StatusError) {
            if let bytes = try data.contents(ofFile: Self.fileName, maximumBytes: Self.maximumBytes) {
                found = try Self.decode(bytes)
            }
        } catch {
            logger.error(
                "The quota of the database cannot be read, and is not applied; set it again",
                metadata: ["error": "\(error)", "file.path": "\(Self.fileName)"]
            )
        }
        quota = Mutex(found)
    }

    var value: DatabaseQuota { quota.withLock(\.self) }

    /// Replaces the quota. Durable when this returns. Blocks.
    func replace(with value: DatabaseQuota, in data: DataFolder) throws(StatusError) {
        try change.withLock { _ throws(StatusError) in
            if value.isUnlimited {
                try data.removeFile(Self.fileName)
            } else {
                try data.replaceFile(Self.fileName, with: Self.encode(value))
            }
            quota.withLock { $0 = value }
        }
    }

    /// Replaces the quota by the contents of its file on another server; empty for none. Durable when this returns. Blocks.
    ///
    /// - Throws: `.dataLoss` for a damaged file.
    func replace(withFile bytes: [UInt8], in data: DataFolder) throws(StatusError) {
        let new = bytes.isEmpty ? DatabaseQuota() : try Self.decode(bytes)
        if new != value { try replace(with: new, in: data) }
    }

    private static func encode(_ quota: DatabaseQuota) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if let count = quota.documentCount {
            writer.key("documentCount")
            writer.integer(Int64(count))
        }
        if let count = quota.byteCount {
            writer.key("bytes")
            writer.integer(Int64(count))
        }
        writer.endObject()
        return writer.finish() + [UInt8(ascii: "\n")]
    }

    /// - Throws: `.dataLoss` for a damaged file.
    private static func decode(_ bytes: [UInt8]) throws(StatusError) -> DatabaseQuota {
        guard let root = try? JSONText(bytes).root, let members = root.members,
            members.allSatisfy({ $0.key == "documentCount" || $0.key == "bytes" })
        else { throw damaged }
        func limit(_ name: UTF8Key) throws(StatusError) -> Int? {
            guard let node = root[name] else { return nil }
            guard case .integer(let value) = node.number, value >= 0 else { throw damaged }
            return Int(value)
        }
        return DatabaseQuota(documentCount: try limit("documentCount"), byteCount: try limit("bytes"))
    }

    private static var damaged: StatusError {
        StatusError(.dataLoss, "\(fileName) is damaged.", file: StatusError.FileLocation(path: fileName))
    }
}
