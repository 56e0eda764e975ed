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
    /// The epochs from which the history has branched off, oldest first. The journal may have segments of theirs until it is opened.
    var lineage: [AncestorEpoch] = []
    /// The database; `nil` for the default database of the data folder.
    var database: DatabaseID?
    /// The mapping of IDs to file names.
    var naming: FileNaming
    /// The sequence number of the last checkpoint: all document files up to this commit are durable.
    var sequence: SequenceNumber
    /// The time of that commit; `nil` before the first commit.
    var commitTime: Timestamp?
    /// True if the database was shut down cleanly, so that recovery doesn't need the journal.
    var isClean: Bool
    /// True if there are ``QuarantinedDocuments``, whose files are stale although the journal may have been removed.
    var hasQuarantinedDocuments = false
    /// The last commit of the ``StoredReceipts``; `nil` without any. Their file may have later ones.
    var receiptsSequence: SequenceNumber?
    /// True if a temporary file could not be removed, so that the next startup runs a ``TemporaryFileSweep``.
    var hasTemporaryFile = false
    /// The number of document files that were removed at once, and wait until a person has accepted their deletion; see ``FolderEdits``.
    var removedFileCount = 0
    /// The time since which files may have been edited whose edits were not commits yet, in microseconds since 1970; `nil` if there were
    /// none. See ``UncommittedEdits``.
    var editsSince: Int64?
    /// The last commit at the last repair, which accepted the document files as they were: a check compares them with later
    /// commits only. `nil` before the first repair.
    var acceptedSequence: SequenceNumber?
    /// The files from whose modification times edits can be told; `nil` before a version that sets them has opened the folder.
    var datedFiles: DatedFiles?
    /// The marker of an open index, set while the index is written; see ``IndexFile``. `nil` if the index is durable.
    var openIndex: String?
    /// The edition of the last durable index; see ``IndexFile``.
    var indexEdition: String?
}

extension DataFolderManifest {
    /// The document files whose modification time is their document's update time, unless they were edited.
    struct DatedFiles: Hashable {
        /// The update time after which documents have such files.
        var after: Timestamp
        /// The inode number of the folder of the documents. That of a copy may be another one.
        var folder: UInt64
        /// The modification time that the manifest was given when it was written, in microseconds since 1970; `nil` before. A copy of
        /// the data folder that does not keep the times of its files has another one.
        var manifestTime: Int64?
    }

    /// Returns the dated files of a data folder that has just been recovered.
    ///
    /// - Parameters:
    ///   - folder: The inode number of its folder of documents.
    ///   - manifestTime: The modification time of its manifest, in microseconds since 1970.
    ///   - last: The latest commit time; `nil` before the first commit.
    func datedFiles(in folder: UInt64, manifestTime: Int64?, last: Timestamp?) -> DatedFiles {
        if let datedFiles, datedFiles.folder == folder, let manifestTime, datedFiles.manifestTime == manifestTime {
            return datedFiles
        }
        return DatedFiles(after: last ?? .minimum, folder: folder, manifestTime: nil)
    }

    /// Encodes the file.
    func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("format")
        writer.integer(Self.format)
        writer.key("epoch")
        writer.string(epoch.description)
        if !lineage.isEmpty { write(lineage, to: &writer) }
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
        if let receiptsSequence {
            writer.key("receipts")
            writer.integer(Int64(clamping: receiptsSequence.rawValue))
        }
        if hasTemporaryFile {
            writer.key("temporary")
            writer.boolean(true)
        }
        if removedFileCount > 0 {
            writer.key("removedFiles")
            writer.integer(Int64(removedFileCount))
        }
        if let editsSince {
            writer.key("editsSince")
            writer.integer(editsSince)
        }
        if let acceptedSequence {
            writer.key("accepted")
            writer.integer(Int64(clamping: acceptedSequence.rawValue))
        }
        if let datedFiles {
            writer.key("datedFiles")
            writer.beginObject()
            writer.key("after")
            writer.string(datedFiles.after.rfc3339)
            writer.key("folder")
            writer.integer(Int64(bitPattern: datedFiles.folder))
            if let time = datedFiles.manifestTime {
                writer.key("manifestTime")
                writer.integer(time)
            }
            writer.endObject()
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

    private func write(_ lineage: [AncestorEpoch], to writer: inout JSONWriter) {
        writer.key("lineage")
        writer.beginArray()
        for ancestor in lineage {
            writer.beginObject()
            writer.key("epoch")
            writer.string(ancestor.epoch.description)
            writer.key("through")
            writer.integer(Int64(clamping: ancestor.lastSequence.rawValue))
            writer.endObject()
        }
        writer.endArray()
    }

    private static func lineage(_ node: JSONNode?) throws(StatusError) -> [AncestorEpoch] {
        var lineage: [AncestorEpoch] = []
        for json in node?.elements.map(Array.init) ?? [] {
            guard let epoch = json["epoch"]?.string.flatMap({ Epoch($0) }), case .integer(let last) = json["through"]?.number,
                last >= 0
            else { throw damaged("the lineage is invalid") }
            lineage.append(AncestorEpoch(epoch, through: SequenceNumber(UInt64(last))))
        }
        return lineage
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
                "The data folder has format version \(format), but this version of Hearth reads versions up to \(Self.format). "
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
        lineage = try Self.lineage(text.root["lineage"])
        database = try Self.database(text.root)
        self.naming = FileNaming(isStrict: names == UTF8Key(Self.strictNames))
        self.sequence = SequenceNumber(UInt64(sequence))
        self.commitTime = try commitTime.string.map { text throws(StatusError) in
            guard let time = try? Timestamp(rfc3339: text) else { throw Self.damaged("the commit time is invalid") }
            return time
        }
        self.isClean = isClean
        hasQuarantinedDocuments = text.root["waiting"]?.boolean ?? false
        if case .integer(let receipts) = text.root["receipts"]?.number, receipts >= 0 {
            receiptsSequence = SequenceNumber(UInt64(receipts))
        }
        hasTemporaryFile = text.root["temporary"]?.boolean ?? false
        if case .integer(let removed) = text.root["removedFiles"]?.number, removed >= 0 { removedFileCount = Int(removed) }
        if case .integer(let time) = text.root["editsSince"]?.number { editsSince = time }
        if case .integer(let accepted) = text.root["accepted"]?.number, accepted >= 0 {
            acceptedSequence = SequenceNumber(UInt64(accepted))
        }
        datedFiles = Self.datedFiles(text.root["datedFiles"])
        openIndex = text.root["openIndex"]?.string
        indexEdition = text.root["indexEdition"]?.string
    }

    /// Returns the dated files; `nil` if they are unknown, so that all files count as those of a copy.
    private static func datedFiles(_ node: JSONNode?) -> DatedFiles? {
        guard let after = node?["after"]?.string.flatMap({ try? Timestamp(rfc3339: $0) }),
            case .integer(let folder) = node?["folder"]?.number
        else { return nil }
        let manifestTime: Int64? = if case .integer(let time) = node?["manifestTime"]?.number { time } else { nil }
        return DatedFiles(after: after, folder: UInt64(bitPattern: folder), manifestTime: manifestTime)
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

extension DataFolderManifest {
    /// Checks that the folder contains a database.
    ///
    /// - Throws: `.failedPrecondition` when it contains another one.
    func check(_ identity: DatabaseIdentity) throws(StatusError) {
        guard database != identity.id else { return }
        let found = database.map { "database \(Excerpt($0.description))" } ?? "the default database"
        let expected = identity.id.map { Excerpt($0.description).description } ?? "the default database"
        throw StatusError(
            .failedPrecondition,
            "The folder of \(expected) contains \(found), according to its \(DataFolder.manifestName). Move it back to where it "
                + "was. To copy a database, export its documents and import them into the other one."
        )
    }
}
