internal import DocumentModel
internal import DocumentStore
internal import StrictJSON
internal import UTF8Text

/// The manifest of a data folder, `hearth.json`: the identity of the database, and the last checkpoint.
///
/// ```json
/// {"format":1,"epoch":"<32 digits>","names":"plain","sequence":42,"commitTime":"2024-01-02T03:04:05.000006Z","clean":true}
/// ```
///
/// The manifest of a database other than the default one has its ID as well: `"project":"shop","database":"tests"`.
struct DataFolderManifest: Hashable {
    /// The format version that is written, and the newest that is readable.
    static let format: Int64 = 1

    /// The epoch of the database's history.
    var epoch: Epoch
    /// The database; nil for the default database of the data folder.
    var database: DatabaseID?
    /// The mapping of IDs to file names.
    var naming: FileNaming
    /// The sequence number of the last checkpoint: all document files up to this commit are durable.
    var sequence: SequenceNumber
    /// The time of that commit; nil before the first commit.
    var commitTime: Timestamp?
    /// True if the database was shut down cleanly, so that recovery doesn't need the journal.
    var isClean: Bool
    /// True if there are ``QuarantinedDocuments``, whose files are stale although the journal may have been removed.
    var hasQuarantinedDocuments = false
    /// True if a temporary file could not be removed, so that the next start runs a ``TemporaryFileSweep``.
    var hasTemporaryFile = false
    /// The marker of an open index, set while the index is written; see ``IndexFile``. Nil if the index is durable.
    var openIndex: String?
    /// The edition of the last durable index; see ``IndexFile``.
    var indexEdition: String?
}

extension DataFolderManifest {
    /// Encodes the file.
    func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("format")
        writer.integer(Self.format)
        writer.key("epoch")
        writer.string(epoch.description)
        if let database {
            writer.key("project")
            writer.string(database.project.string)
            writer.key("database")
            writer.string(database.database.string)
        }
        writer.key("names")
        writer.string(naming.isStrict ? Self.strictNames : Self.plainNames)
        writer.key("sequence")
        writer.integer(Int64(clamping: sequence.rawValue))
        writer.key("commitTime")
        if let commitTime { writer.string(commitTime.rfc3339) } else { writer.null() }
        writer.key("clean")
        writer.boolean(isClean)
        if hasQuarantinedDocuments {
            writer.key("waiting")
            writer.boolean(true)
        }
        if hasTemporaryFile {
            writer.key("temporary")
            writer.boolean(true)
        }
        if let openIndex {
            writer.key("openIndex")
            writer.string(openIndex)
        }
        if let indexEdition {
            writer.key("indexEdition")
            writer.string(indexEdition)
        }
        writer.endObject()
        return writer.finish() + [UInt8(ascii: "\n")]
    }

    /// Decodes the file.
    ///
    /// - Throws: `.failedPrecondition` if a newer version of Hearth wrote it, `.dataLoss` if it is damaged.
    init(_ bytes: [UInt8]) throws(StatusError) {
        let text: JSONText
        do throws(JSONSyntaxError) {
            text = try JSONText(bytes)
        } catch {
            throw Self.damaged(
                "\(error.reason)",
                at: StatusError.FileLocation(path: DataFolder.manifestName, line: error.line, column: error.column)
            )
        }
        guard case .integer(let format) = text.root["format"]?.number else { throw Self.damaged("the format version is missing") }
        guard (1...Self.format).contains(format) else {
            throw StatusError(
                .failedPrecondition,
                "The data folder has the format version \(format), and this version of Hearth reads versions up to \(Self.format). "
                    + "Use a newer version of Hearth."
            )
        }
        guard let epoch = text.root["epoch"]?.string.flatMap({ Epoch($0) }) else { throw Self.damaged("the epoch is missing") }
        guard case .integer(let sequence) = text.root["sequence"]?.number, sequence >= 0 else {
            throw Self.damaged("the sequence number is missing")
        }
        guard let names = text.root["names"]?.string.map({ UTF8Key($0) }),
            names == UTF8Key(Self.plainNames) || names == UTF8Key(Self.strictNames)
        else { throw Self.damaged("the value of names is unknown") }
        guard let isClean = text.root["clean"]?.boolean, let commitTime = text.root["commitTime"] else {
            throw Self.damaged("a member is missing")
        }
        self.epoch = epoch
        database = try Self.database(text.root)
        self.naming = FileNaming(isStrict: names == UTF8Key(Self.strictNames))
        self.sequence = SequenceNumber(UInt64(sequence))
        self.commitTime = try commitTime.string.map { text throws(StatusError) in try Timestamp(rfc3339: text) }
        self.isClean = isClean
        hasQuarantinedDocuments = text.root["waiting"]?.boolean ?? false
        hasTemporaryFile = text.root["temporary"]?.boolean ?? false
        openIndex = text.root["openIndex"]?.string
        indexEdition = text.root["indexEdition"]?.string
    }

    private static func database(_ root: JSONNode) throws(StatusError) -> DatabaseID? {
        let (project, name) = (root["project"], root["database"])
        if project == nil, name == nil { return nil }
        guard let project = project?.string, let name = name?.string,
            let database = try? DatabaseID(project: UTF8Key(project), database: UTF8Key(name))
        else { throw damaged("the database ID is invalid") }
        return database
    }

    private static let plainNames = "plain"
    private static let strictNames = "strict"

    private static func damaged(
        _ reason: String,
        at location: StatusError.FileLocation = StatusError.FileLocation(path: DataFolder.manifestName)
    ) -> StatusError {
        StatusError(
            .dataLoss,
            "\(DataFolder.manifestName) is damaged: \(reason). Restore it from a backup of the data folder.",
            file: location
        )
    }
}
