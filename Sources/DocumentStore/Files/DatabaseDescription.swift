internal import DocumentModel
internal import StrictJSON

/// The file `hearth.json`: which database a data folder is, and up to where its document files are complete without the
/// journal.
///
/// ```json
/// {"format":1,"epoch":"<32 digits>","names":"plain","sequence":42,"commitTime":"2024-01-02T03:04:05.000006Z","clean":true}
/// ```
///
/// One of the databases beside the default one says its name too: `"project":"shop","database":"tests"`.
struct DatabaseDescription: Hashable {
    /// The version of the data folder's layout that this code writes, and the newest that it reads.
    static let format: Int64 = 1

    /// The database's history.
    var epoch: Epoch
    /// Which database it is; nil for the default one of the data folder.
    var database: DatabaseID?
    /// How IDs become file names here.
    var naming: FileNaming
    /// The last commit whose documents' files are on disk.
    var sequence: SequenceNumber
    /// That commit's time, or nil before the first.
    var commitTime: Timestamp?
    /// Whether nothing was written after that commit, so that the journal is not needed.
    var isClean: Bool
    /// Whether documents stand in ``WaitingDocuments``, whose files are behind although the journal may be gone.
    var hasWaitingDocuments = false
    /// Whether a temporary file could not be removed, which the next start looks for; see ``TemporarySweep``.
    var hasTemporaryFile = false
    /// Where and when the index is being written, or was when the database was not closed; see ``IndexFile``. Nil when it is on
    /// disk.
    var openIndex: String?
    /// The edition of the index that is on disk, or was before it was written; see ``IndexFile``.
    var indexEdition: String?
}

extension DatabaseDescription {
    /// The file's bytes.
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
        if hasWaitingDocuments {
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

    /// Reads the file.
    ///
    /// - Throws: `.failedPrecondition` when a newer Hearth wrote it, `.dataLoss` when it is damaged.
    init(_ bytes: [UInt8]) throws(StatusError) {
        let text: JSONText
        do throws(JSONSyntaxError) {
            text = try JSONText(bytes)
        } catch {
            throw Self.damaged(
                "\(error.reason)",
                at: StatusError.FileLocation(path: DataFolder.descriptionName, line: error.line, column: error.column)
            )
        }
        guard case .integer(let format) = text.root["format"]?.number else { throw Self.damaged("there is no format version") }
        guard (1...Self.format).contains(format) else {
            throw StatusError(
                .failedPrecondition,
                "The data folder has the format version \(format), and this Hearth reads versions up to \(Self.format). "
                    + "Use a newer Hearth."
            )
        }
        guard let epoch = text.root["epoch"]?.string.flatMap({ Epoch($0) }) else { throw Self.damaged("there is no epoch") }
        guard case .integer(let sequence) = text.root["sequence"]?.number, sequence >= 0 else {
            throw Self.damaged("there is no sequence number")
        }
        guard let names = text.root["names"]?.string.map({ UTF8Key($0) }),
            names == UTF8Key(Self.plainNames) || names == UTF8Key(Self.strictNames)
        else { throw Self.damaged("how files are named is not known") }
        guard let isClean = text.root["clean"]?.boolean, let commitTime = text.root["commitTime"] else {
            throw Self.damaged("a member is missing")
        }
        self.epoch = epoch
        database = try Self.database(text.root)
        self.naming = FileNaming(isStrict: names == UTF8Key(Self.strictNames))
        self.sequence = SequenceNumber(UInt64(sequence))
        self.commitTime = try commitTime.string.map { text throws(StatusError) in try Timestamp(rfc3339: text) }
        self.isClean = isClean
        hasWaitingDocuments = text.root["waiting"]?.boolean ?? false
        hasTemporaryFile = text.root["temporary"]?.boolean ?? false
        openIndex = text.root["openIndex"]?.string
        indexEdition = text.root["indexEdition"]?.string
    }

    private static func database(_ root: JSONNode) throws(StatusError) -> DatabaseID? {
        let (project, name) = (root["project"], root["database"])
        if project == nil, name == nil { return nil }
        guard let project = project?.string, let name = name?.string,
            let database = try? DatabaseID(project: UTF8Key(project), database: UTF8Key(name))
        else { throw damaged("which database it is can't be told") }
        return database
    }

    private static let plainNames = "plain"
    private static let strictNames = "strict"

    private static func damaged(
        _ fault: String,
        at place: StatusError.FileLocation = StatusError.FileLocation(path: DataFolder.descriptionName)
    ) -> StatusError {
        StatusError(
            .dataLoss,
            "\(DataFolder.descriptionName) is damaged: \(fault). Restore it from a backup of the data folder.",
            file: place
        )
    }
}
