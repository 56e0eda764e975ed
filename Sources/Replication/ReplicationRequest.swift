package import DocumentModel
package import DocumentStore
internal import StrictJSON
internal import UTF8Text

/// The request of a standby: the state of each of its databases.
///
/// ```json
/// {"version":1,"databases":[{"epoch":"<32 digits>","sequence":41,"checksum":2868372},{"database":"shop/tests","snapshot":true}]}
/// ```
package struct ReplicationRequest: Hashable, Sendable {
    /// A database of a standby.
    package struct Entry: Hashable, Sendable {
        /// The database; `nil` for the default one.
        package let database: DatabaseID?
        package let content: Content

        package init(_ database: DatabaseID?, _ content: Content) {
            self.database = database
            self.content = content
        }
    }

    /// The requested content of a database.
    package enum Content: Hashable, Sendable {
        /// The commits after its last one.
        case state(State)
        /// A snapshot.
        case snapshot
        /// Nothing for now, since it cannot follow it.
        case suspended
    }

    /// The last commit that a standby has.
    package struct State: Hashable, Sendable {
        package let epoch: Epoch
        package let sequence: SequenceNumber
        /// The checksum of that commit; `nil` if it is no longer retained.
        package let checksum: UInt32?

        package init(epoch: Epoch, sequence: SequenceNumber, checksum: UInt32?) {
            self.epoch = epoch
            self.sequence = sequence
            self.checksum = checksum
        }
    }

    package let entries: [Entry]

    package init(_ entries: [Entry]) {
        self.entries = entries
    }

    /// The maximum size of a request.
    package static let maximumBytes = 1 << 20

    /// Encodes the request.
    package func json() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("version")
        writer.integer(Int64(ReplicationMessage.version))
        writer.key("databases")
        writer.beginArray()
        for entry in entries {
            writer.beginObject()
            if let database = entry.database {
                writer.key("database")
                writer.string(database.description)
            }
            switch entry.content {
            case .state(let state):
                writer.key("epoch")
                writer.string(state.epoch.description)
                writer.key("sequence")
                writer.integer(Int64(clamping: state.sequence.rawValue))
                if let checksum = state.checksum {
                    writer.key("checksum")
                    writer.integer(Int64(checksum))
                }
            case .snapshot:
                writer.key("snapshot")
                writer.boolean(true)
            case .suspended:
                writer.key("suspended")
                writer.boolean(true)
            }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    /// Decodes a request.
    ///
    /// - Throws: `.invalidArgument` if it is none, or of another version.
    package init(json bytes: [UInt8]) throws(StatusError) {
        guard let root = (try? JSONText(bytes))?.root, case .integer(let version) = root["version"]?.number,
            let databases = root["databases"]?.elements
        else { throw Self.invalid("expected an object with version and databases") }
        guard version == Int64(ReplicationMessage.version) else {
            throw Self.invalid("this server replicates by version \(ReplicationMessage.version), and was asked for \(version)")
        }
        var entries: [Entry] = []
        var known: Set<DatabaseID?> = []
        for json in databases {
            let id = try json["database"]?.string.map { name throws(StatusError) in
                try DatabaseID(name, inProject: DatabaseID.standard.project)
            }
            guard known.insert(id).inserted else { throw Self.invalid("a database is named twice") }
            if json["snapshot"]?.boolean == true {
                entries.append(Entry(id, .snapshot))
                continue
            }
            if json["suspended"]?.boolean == true {
                entries.append(Entry(id, .suspended))
                continue
            }
            guard let epoch = json["epoch"]?.string.flatMap({ Epoch($0) }),
                case .integer(let sequence) = json["sequence"]?.number,
                sequence >= 0
            else { throw Self.invalid("a database has neither an epoch with a sequence, nor snapshot or suspended") }
            var checksum: UInt32?
            if case .integer(let number) = json["checksum"]?.number { checksum = UInt32(exactly: number) }
            let state = State(epoch: epoch, sequence: SequenceNumber(UInt64(sequence)), checksum: checksum)
            entries.append(Entry(id, .state(state)))
        }
        self.entries = entries
    }

    private static func invalid(_ reason: String) -> StatusError {
        StatusError(.invalidArgument, "Invalid request for replication: \(reason).")
    }
}
