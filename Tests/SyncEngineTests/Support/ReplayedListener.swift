import DocumentModel
import SyncEngine
import Testing

/// The documents that result from replaying the events of a listener.
struct ReplayedListener {
    private(set) var snapshot: ViewSnapshot?
    private var documents: [LocalDocument] = []

    /// Replays the changes of an event. Expects the documents of the event, and that it has a reason.
    mutating func replay(_ event: ViewSnapshot, _ comment: Comment? = nil) {
        for change in event.changes {
            if let index = change.oldIndex {
                guard documents.indices.contains(index) else {
                    Issue.record("Expected an index in \(documents.indices), found \(index).")
                    return
                }
                documents.remove(at: index)
            }
            if let index = change.newIndex { documents.insert(change.document, at: min(index, documents.count)) }
        }
        #expect(documents.map(\.path) == event.documents.map(\.path), comment)
        #expect(documents.map(\.fields) == event.documents.map(\.fields), comment)
        if let snapshot {
            let isMetadataChange =
                event.isFromCache != snapshot.isFromCache || event.hasPendingWrites != snapshot.hasPendingWrites
            #expect(isMetadataChange || !event.changes.isEmpty, comment)
        }
        documents = event.documents
        snapshot = event
    }
}
