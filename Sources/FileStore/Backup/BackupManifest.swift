import Cryptography
internal import DocumentModel
internal import DocumentStore
internal import StrictJSON
internal import UTF8Text

/// The manifest of a backup, `backup.json`, which is written last: a folder without one is not a complete backup.
///
/// ```json
/// {"format":2,"version":"0.2.0","startTime":"…","endTime":"…","databases":[{"epoch":"<32 digits>","sequence":42,"commitTime":"…"}],
/// "files":1234,"bytes":567890,"keys":false,"list":"<SHA-256 of SHA256SUMS>","digest":"<SHA-256 of the file before this member>"}
/// ```
///
/// A manifest of format 1 has no digest.
struct BackupManifest: Hashable {
    static let fileName = "backup.json"
    /// The format version that is written, and the newest that is readable.
    private static let format: Int64 = 2
    private static let firstFormatWithDigest: Int64 = 2

    /// What the backup is of.
    let backup: Backup
    /// The SHA-256 digest of the list of files, in hexadecimal.
    let listDigest: String

    /// Encodes the file.
    func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("format")
        writer.integer(Self.format)
        writer.key("version")
        writer.string(backup.version)
        writer.key("startTime")
        writer.string(backup.startTime.rfc3339)
        writer.key("endTime")
        writer.string(backup.endTime.rfc3339)
        writer.key("databases")
        writer.beginArray()
        for database in backup.databases { Self.write(database, to: &writer) }
        writer.endArray()
        writer.key("files")
        writer.integer(Int64(backup.fileCount))
        writer.key("bytes")
        writer.integer(Int64(backup.byteCount))
        writer.key("keys")
        writer.boolean(backup.includesKeys)
        writer.key("list")
        writer.string(listDigest)
        writer.endObject()
        let bytes = Array(writer.finish().dropLast())
        return bytes + Self.ending(of: bytes)
    }

    /// Returns the end of a file: the digest of what is before it.
    private static func ending(of bytes: [UInt8]) -> [UInt8] {
        Array(",\"digest\":\"\(Hexadecimal.encode(SHA256.digest(of: bytes)))\"}\n".utf8)
    }

    private static func write(_ database: Backup.Database, to writer: inout JSONWriter) {
        writer.beginObject()
        if let id = database.id {
            writer.key("project")
            writer.string(id.project.string)
            writer.key("database")
            writer.string(id.database.string)
        }
        writer.key("epoch")
        writer.string(database.epoch.description)
        writer.key("sequence")
        writer.integer(Int64(clamping: database.lastSequence.rawValue))
        writer.key("commitTime")
        if let time = database.lastCommitTime { writer.string(time.rfc3339) } else { writer.null() }
        writer.endObject()
    }
}

extension BackupManifest {
    /// Decodes the file.
    ///
    /// - Parameter name: The name of the backup's folder.
    /// - Throws: `.failedPrecondition` if a newer version of Hearth wrote it, `.dataLoss` if it is damaged.
    init(_ bytes: [UInt8], name: String) throws(StatusError) {
        let root: JSONNode
        do throws(JSONSyntaxError) {
            root = try JSONText(bytes).root
        } catch {
            throw Self.damaged("\(error.reason) at line \(error.line), column \(error.column)", name)
        }
        guard case .integer(let format) = root["format"]?.number else {
            throw Self.damaged("the format version is missing", name)
        }
        guard (1...Self.format).contains(format) else {
            throw StatusError(
                .failedPrecondition,
                "The backup \(Excerpt(name)) has format version \(format), but this version of Hearth reads versions up to "
                    + "\(Self.format). Use a newer version of Hearth."
            )
        }
        if format >= Self.firstFormatWithDigest || root["digest"] != nil {
            let length = Self.ending(of: []).count
            guard bytes.count > length, bytes.suffix(length).elementsEqual(Self.ending(of: Array(bytes.dropLast(length)))) else {
                throw Self.damaged("it differs from its SHA-256 digest", name)
            }
        }
        guard let version = root["version"]?.string, let startTime = Self.time(root["startTime"]),
            let endTime = Self.time(root["endTime"]), let files = Self.count(root["files"]),
            let bytes = Self.count(root["bytes"]),
            let includesKeys = root["keys"]?.boolean, let digest = root["list"]?.string,
            let databases = root["databases"]?.elements
        else { throw Self.damaged("a member is missing", name) }
        backup = Backup(
            name: name,
            startTime: startTime,
            endTime: endTime,
            version: version,
            databases: try databases.map { node throws(StatusError) in
                guard let database = Self.database(node) else { throw Self.damaged("a database is invalid", name) }
                return database
            },
            fileCount: files,
            byteCount: bytes,
            includesKeys: includesKeys
        )
        guard backup.databases.first.map({ $0.id == nil }) == true else {
            throw Self.damaged("the default database is missing", name)
        }
        listDigest = digest
    }

    private static func database(_ node: JSONNode) -> Backup.Database? {
        guard let epoch = node["epoch"]?.string.flatMap({ Epoch($0) }), let sequence = count(node["sequence"]),
            let commitTime = node["commitTime"]
        else { return nil }
        let time = Self.time(commitTime)
        guard time != nil || commitTime.isNull else { return nil }
        let project = node["project"]?.string
        let database = node["database"]?.string
        var id: DatabaseID?
        if let project, let database {
            guard let valid = try? DatabaseID(project: UTF8Key(project), database: UTF8Key(database)) else { return nil }
            id = valid
        } else {
            guard project == nil, database == nil else { return nil }
        }
        return Backup.Database(
            id: id,
            epoch: epoch,
            lastSequence: SequenceNumber(UInt64(sequence)),
            lastCommitTime: time
        )
    }

    private static func time(_ node: JSONNode?) -> Timestamp? {
        node?.string.flatMap { try? Timestamp(rfc3339: $0) }
    }

    private static func count(_ node: JSONNode?) -> Int? {
        guard case .integer(let number) = node?.number, number >= 0 else { return nil }
        return Int(number)
    }

    private static func damaged(_ reason: String, _ name: String) -> StatusError {
        StatusError(
            .dataLoss,
            "The manifest \(fileName) of the backup \(Excerpt(name)) is damaged: \(reason). Use another backup.",
            file: StatusError.FileLocation(path: fileName)
        )
    }
}
