import DocumentModel
import HearthClient

/// All that a store shows at one moment at which nobody writes.
struct StoreSnapshot: Sendable {
    /// A document that exists.
    struct Version: Hashable, Sendable {
        let fields: MapValue
        let updateTime: Timestamp
    }

    /// Where the log of commits stands.
    struct Position: Hashable, Sendable {
        let epoch: String
        let sequence: Int64
        /// The last commit's time; nil before the first.
        let time: Timestamp?
    }

    var documents: [DocumentPath: Version]
    var position: Position
}

extension StoreSnapshot.Version {
    init(_ document: Document) {
        self.init(fields: document.fields, updateTime: document.updateTime)
    }
}

extension StoreSnapshot {
    /// Reads everything over the API: all collections, at any depth, page by page.
    ///
    /// - Throws: Also when a document can't be read: what the store itself has written must be readable.
    init(_ connection: HearthConnection) async throws {
        let information = try await connection.serverInformation()
        position = Position(
            epoch: information.epoch,
            sequence: Int64(clamping: information.sequence),
            time: information.commitTime
        )
        documents = [:]
        var parents: [DocumentPath?] = [nil]
        while let parent = parents.popLast() {
            for collection in try await Self.collections(under: parent, connection) {
                for entry in try await Self.entries(of: collection, connection) {
                    parents.append(entry.path)
                    guard case .document(let document) = entry else { continue }
                    documents[entry.path] = Version(try document.decoded())
                }
            }
        }
    }

    private static func collections(
        under parent: DocumentPath?,
        _ connection: HearthConnection
    ) async throws -> [CollectionPath] {
        var ids: [CollectionID] = []
        var token: String?
        repeat {
            let page = try await connection.collections(under: parent, pageToken: token)
            ids += page.collections
            token = page.nextPageToken
        } while token != nil
        return ids.map { CollectionPath(parent: parent, id: $0) }
    }

    private static func entries(
        of collection: CollectionPath,
        _ connection: HearthConnection
    ) async throws -> [ListedDocument] {
        var entries: [ListedDocument] = []
        var token: String?
        repeat {
            let page = try await connection.documents(in: collection, pageToken: token, showMissing: true)
            if let damaged = page.damaged.first { throw damaged }
            entries += page.documents
            token = page.nextPageToken
        } while token != nil
        return entries
    }
}
