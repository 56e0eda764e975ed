import DocumentModel
import HearthClient

/// The complete state of a store, read without concurrent writes.
struct StoreSnapshot: Sendable {
    /// The state of an existing document.
    struct Version: Hashable, Sendable {
        let fields: MapValue
        let updateTime: Timestamp
    }

    /// The position in the commit history.
    struct Position: Hashable, Sendable {
        let epoch: String
        let sequence: Int64
        /// The time of the last commit; `nil` before the first one.
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
    /// Reads all collections at any depth by the API.
    ///
    /// - Throws: An error if a document is damaged, which must not occur.
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
