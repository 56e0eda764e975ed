package import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import StrictJSON
internal import UTF8Text

/// The record of a data folder that follows another server, or did: the file `standby/standby.json`.
///
/// ```json
/// {"format":1,"following":"https://data.example.org","state":"following"}
/// ```
///
/// A standby that has taken snapshots of the default database since it last had all commits of its primary has their number:
/// `"snapshots":2`.
package struct StandbyRecord: Hashable, Sendable {
    /// The state of following.
    package enum State: String, Sendable {
        /// The folder has the commits of the primary only.
        case following
        /// The folder begins branches of its histories when it is opened next.
        case promoting
        /// The folder has branches of its own.
        case promoted
    }

    /// The address of the primary, as it was configured.
    package var primary: String
    package var state: State
    /// The branches to be begun, with the epochs that they leave.
    var branches: [Branch] = []
    /// The additional databases of a promoted folder that could not be opened, and have no branches yet.
    package internal(set) var unpromoted: [DatabaseID] = []
    /// The number of snapshots of the default database since the standby last had all commits of the primary.
    var consecutiveSnapshotCount = 0

    /// A branch of a database's history.
    struct Branch: Hashable {
        /// The database; `nil` for the default one.
        let database: DatabaseID?
        let parent: Epoch
        let epoch: Epoch
    }

    package init(primary: String, state: State) {
        self.primary = primary
        self.state = state
    }

    /// The queue of all changes to records: one that was read is written before another one is.
    private static let queue = WorkQueue(label: "hearth.standby.record", width: 1)

    private static let fileName = "standby.json"
    private static let format: Int64 = 1

    /// Reads the record of the data folder at a path; `nil` if it never followed another server.
    ///
    /// - Throws: `.dataLoss` if it is damaged.
    package init?(ofFolder path: String) throws(StatusError) {
        guard let bytes = try Self.contents(inFolder: path) else { return nil }
        guard let text = try? JSONText(bytes), case .integer(Self.format) = text.root["format"]?.number,
            let primary = text.root["following"]?.string, let state = text.root["state"]?.string.flatMap(State.init(rawValue:))
        else { throw Self.damaged }
        self.init(primary: primary, state: state)
        if case .integer(let count)? = text.root["snapshots"]?.number { consecutiveSnapshotCount = max(0, Int(clamping: count)) }
        for json in text.root["unpromoted"]?.elements.map(Array.init) ?? [] {
            guard let name = json.string else { throw Self.damaged }
            unpromoted.append(try DatabaseID(name, inProject: DatabaseID.standard.project))
        }
        for json in text.root["branches"]?.elements.map(Array.init) ?? [] {
            guard let parent = json["parent"]?.string.flatMap({ Epoch($0) }),
                let epoch = json["epoch"]?.string.flatMap({ Epoch($0) })
            else { throw Self.damaged }
            let id = try json["database"]?.string.map { name throws(StatusError) in
                try DatabaseID(name, inProject: DatabaseID.standard.project)
            }
            branches.append(Branch(database: id, parent: parent, epoch: epoch))
        }
    }

    private static func contents(inFolder path: String) throws(StatusError) -> [UInt8]? {
        do throws(StatusError) {
            let root = try DataFolder.openExistingRoot(path)
            return try reporting("read", fileName) { () throws(FileSystemError) in
                guard let folder = try root.openFolderIfPresent(StandbyFolder.name) else { return nil }
                return try folder.contents(ofFile: fileName, maximumBytes: 1 << 20)
            }
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// Writes the record to a data folder, which is created if needed. Durable when this returns.
    package func write(toFolder path: String) throws(StatusError) {
        let root = try DataFolder.openRoot(path, creating: true)
        let folder = try StandbyFolder.open(in: root)
        let bytes = encoded()
        try reporting("write", Self.fileName) { () throws(FileSystemError) in
            try folder.descriptor.replaceFile(Self.fileName, with: bytes, through: TemporaryName.fixed("standby"))
        }
    }

    /// Changes the record of the data folder at a path. Durable when this returns.
    ///
    /// - Parameter body: Returns the record to be written, from the one that there is; `nil` to leave that as it is.
    static func update(
        ofFolder path: String,
        _ body: @escaping @Sendable (StandbyRecord?) throws(StatusError) -> StandbyRecord?
    ) async throws(StatusError) {
        try await queue.run { () throws(StatusError) in
            try body(try StandbyRecord(ofFolder: path))?.write(toFolder: path)
        }
    }

    private func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("format")
        writer.integer(Self.format)
        writer.key("following")
        writer.string(primary)
        writer.key("state")
        writer.string(state.rawValue)
        if consecutiveSnapshotCount > 0 {
            writer.key("snapshots")
            writer.integer(Int64(consecutiveSnapshotCount))
        }
        if !branches.isEmpty {
            writer.key("branches")
            writer.beginArray()
            for branch in branches {
                writer.beginObject()
                if let database = branch.database {
                    writer.key("database")
                    writer.string(database.description)
                }
                writer.key("parent")
                writer.string(branch.parent.description)
                writer.key("epoch")
                writer.string(branch.epoch.description)
                writer.endObject()
            }
            writer.endArray()
        }
        if !unpromoted.isEmpty {
            writer.key("unpromoted")
            writer.beginArray()
            for database in unpromoted { writer.string(database.description) }
            writer.endArray()
        }
        writer.endObject()
        return writer.finish() + [UInt8(ascii: "\n")]
    }

    private static let damaged = StatusError(
        .dataLoss,
        "\(StandbyFolder.name)/\(fileName) in the data folder is damaged. It says whether the folder follows another server: write it "
            + "again as the manual has it, or remove it from a folder that follows none.",
        file: StatusError.FileLocation(path: "\(StandbyFolder.name)/\(fileName)")
    )
}
