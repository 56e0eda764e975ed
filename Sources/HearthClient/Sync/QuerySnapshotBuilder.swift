internal import DocumentModel
internal import Foundation
internal import SyncEngine
internal import Synchronization

/// The converter of the snapshots of a listener to those of the API. Documents that have not changed keep their objects.
final class QuerySnapshotBuilder: Sendable {
    private let query: Query
    private let last = Mutex<[DocumentPath: Known]>([:])

    private struct Known {
        let document: LocalDocument
        let snapshot: QueryDocumentSnapshot
    }

    init(_ query: Query) {
        self.query = query
    }

    func snapshot(_ snapshot: SyncSnapshot) -> QuerySnapshot {
        let view = snapshot.view
        return last.withLock { last in
            var current: [DocumentPath: Known] = [:]
            current.reserveCapacity(view.documents.count)
            let documents = view.documents.map { document in
                let metadata = SnapshotMetadata(
                    hasPendingWrites: view.pendingPaths.contains(document.path),
                    isFromCache: view.isFromCache
                )
                let known = last[document.path]
                if let known, known.document.isIdentical(to: document), known.snapshot.metadata == metadata {
                    current[document.path] = known
                    return known.snapshot
                }
                let snapshot = QueryDocumentSnapshot(document, in: query.firestore, metadata)
                current[document.path] = Known(document: document, snapshot: snapshot)
                return snapshot
            }
            let changes = view.changes.map { change in
                let known = change.newIndex == nil ? last[change.document.path] : current[change.document.path]
                let metadata = SnapshotMetadata(isFromCache: view.isFromCache)
                return DocumentChange(
                    type: change.kind.type,
                    document: known?.snapshot ?? QueryDocumentSnapshot(change.document, in: query.firestore, metadata),
                    oldIndex: UInt(change.oldIndex ?? NSNotFound),
                    newIndex: UInt(change.newIndex ?? NSNotFound)
                )
            }
            last = current
            return QuerySnapshot(
                query,
                documents,
                changes: zip(view.changes, changes).filter { $0.0.kind != .metadata }.map(\.1),
                allChanges: changes,
                metadata: SnapshotMetadata(hasPendingWrites: view.hasPendingWrites, isFromCache: view.isFromCache),
                damaged: snapshot.damaged.map(FirestoreError.init)
            )
        }
    }
}

extension ViewSnapshot.Change.Kind {
    fileprivate var type: DocumentChangeType {
        switch self {
        case .added: .added
        case .modified, .metadata: .modified
        case .removed: .removed
        }
    }
}

extension DocumentReference {
    /// Returns the snapshot of the document in a view of it.
    func snapshot(_ snapshot: SyncSnapshot) -> DocumentSnapshot {
        let view = snapshot.view
        let metadata = SnapshotMetadata(hasPendingWrites: view.hasPendingWrites, isFromCache: view.isFromCache)
        return DocumentSnapshot(view.documents.first, of: self, metadata)
    }
}
