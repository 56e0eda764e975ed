internal import DocumentModel
internal import DocumentStore
internal import QueryEngine
internal import StrictJSON
internal import UTF8Text

/// The completeness of a database's index, as the column `builds` has it: null if all is complete and no policies are defined.
///
/// ```json
/// {"fill":{"name":"02617200","count":128,"total":5000},
///  "builds":[{"collection":"books","maintained":"…","readable":"…","desired":"…","progress":{"name":"","count":0,"total":90}}]}
/// ```
struct IndexProgress: Sendable {
    /// The position of a backfill.
    struct Position: Hashable, Sendable {
        /// The stored name of the last document that was processed.
        var name: [UInt8] = []
        /// The number of documents processed.
        var count: Int64 = 0
        /// The number of documents when the backfill began.
        let total: Int64
    }

    /// The build of the indexes of the collections with one ID.
    struct Build: Sendable {
        var state: IndexBuildState
        /// The position of the backfill; `nil` if none is needed.
        var position: Position?
    }

    /// The position in the database, whose documents were written before there was an index; `nil` if all have entries.
    var fill: Position?
    /// The builds by collection ID, of those that have a policy, or had one whose entries are still being removed.
    var builds: [CollectionID: Build] = [:]

    /// True if documents are left to process.
    var isComplete: Bool { fill == nil && builds.values.allSatisfy { $0.position == nil } }

    /// Changes the policy of the collections with an ID.
    ///
    /// - Parameter total: The number of their documents.
    mutating func setDesired(_ policy: IndexingPolicy, of collection: CollectionID, total: Int64) {
        var build = builds[collection] ?? Build(state: IndexBuildState())
        build.state.setDesired(policy)
        build.position = build.state.isBackfilled ? nil : Position(total: total)
        builds[collection] = build.position == nil && policy == IndexingPolicy() ? nil : build
    }

    /// Ends the backfill of the collections with an ID.
    mutating func finish(_ collection: CollectionID) {
        guard var build = builds[collection] else { return }
        build.state.markBackfilled()
        build.position = nil
        builds[collection] = build.state.desired == IndexingPolicy() ? nil : build
    }
}

extension IndexProgress {
    /// Decodes the column.
    init(_ bytes: [UInt8]?) throws(StatusError) {
        guard let bytes else { return }
        guard let root = try? JSONText(bytes).root else { throw Self.damaged }
        if let fill = root["fill"] { self.fill = try Self.position(fill) }
        for json in root["builds"]?.elements.map(Array.init) ?? [] {
            guard let name = json["collection"]?.string, let collection = try? CollectionID(name),
                let maintained = json["maintained"]?.string.flatMap({ IndexingPolicy(text: $0) }),
                let readable = json["readable"]?.string.flatMap({ IndexingPolicy(text: $0) }),
                let desired = json["desired"]?.string.flatMap({ IndexingPolicy(text: $0) })
            else { throw Self.damaged }
            builds[collection] = Build(
                state: IndexBuildState(maintained: maintained, readable: readable, desired: desired),
                position: try json["progress"].map { json throws(StatusError) in try Self.position(json) }
            )
        }
    }

    private static func position(_ json: JSONNode) throws(StatusError) -> Position {
        guard let name = json["name"]?.string.flatMap({ Hexadecimal.decode($0.utf8) }),
            case .integer(let count)? = json["count"]?.number, case .integer(let total)? = json["total"]?.number
        else { throw damaged }
        return Position(name: name, count: count, total: total)
    }

    private static let damaged = StatusError.damagedRow("the progress of the index cannot be decoded")

    /// The column; `nil` for null.
    var encoded: [UInt8]? {
        guard fill != nil || !builds.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        if let fill {
            writer.key("fill")
            Self.write(fill, &writer)
        }
        writer.key("builds")
        writer.beginArray()
        for (collection, build) in builds.sorted(by: { $0.key < $1.key }) {
            writer.beginObject()
            writer.key("collection")
            writer.string(collection.key.string)
            writer.key("maintained")
            writer.string(build.state.maintained.text)
            writer.key("readable")
            writer.string(build.state.readable.text)
            writer.key("desired")
            writer.string(build.state.desired.text)
            if let position = build.position {
                writer.key("progress")
                Self.write(position, &writer)
            }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    private static func write(_ position: Position, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("name")
        writer.string(Hexadecimal.encode(position.name))
        writer.key("count")
        writer.integer(position.count)
        writer.key("total")
        writer.integer(position.total)
        writer.endObject()
    }
}
