internal import DocumentModel

/// The options of a listener.
package struct ListenOptions: Hashable, Sendable {
    /// True to raise events for changes of the metadata alone.
    package var includesMetadataChanges: Bool
    /// True to hold back the first event until the server has answered, while the client may be online. For reads.
    package var waitsForSync: Bool
    /// True to listen to the cache alone, without a target.
    package var isCacheOnly: Bool
    /// True to hold back the first event until the server has answered on the stream that is open, also while the client is offline.
    package var requiresServer: Bool

    /// Creates options.
    package init(
        includesMetadataChanges: Bool = false,
        waitsForSync: Bool = false,
        isCacheOnly: Bool = false,
        requiresServer: Bool = false
    ) {
        self.includesMetadataChanges = includesMetadataChanges
        self.waitsForSync = waitsForSync
        self.isCacheOnly = isCacheOnly
        self.requiresServer = requiresServer
    }
}

/// The state of the connection for the listeners of a view.
struct ViewConnection {
    var onlineState: OnlineState
    /// True if the target has been up to date on the stream that is open.
    let hasAnswered: Bool
}

/// A listener to a view, which decides which snapshots become events.
struct QueryListener {
    let id: ListenerID
    let options: ListenOptions
    /// True until the first event.
    var isWaiting: Bool { !hasRaisedFirstEvent }

    private var hasRaisedFirstEvent = false
    private var hadPendingWrites = false

    init(id: ListenerID, options: ListenOptions) {
        self.id = id
        self.options = options
    }

    /// Returns the event for a snapshot; `nil` if the listener need not see it.
    mutating func event(for snapshot: ViewSnapshot, _ connection: ViewConnection) -> ViewSnapshot? {
        guard hasRaisedFirstEvent else { return firstEvent(for: snapshot, connection) }
        let event = options.includesMetadataChanges ? snapshot : snapshot.withoutMetadataChanges
        defer { hadPendingWrites = snapshot.hasPendingWrites }
        if !event.changes.isEmpty { return event }
        let isMetadataChange = event.isSyncStateChanged || event.hasPendingWrites != hadPendingWrites
        return isMetadataChange && options.includesMetadataChanges ? event : nil
    }

    /// Returns the first event, if it has not been raised yet and now may be.
    mutating func firstEvent(for snapshot: ViewSnapshot, _ connection: ViewConnection) -> ViewSnapshot? {
        guard !hasRaisedFirstEvent, isPresentable(snapshot, connection) else { return nil }
        hasRaisedFirstEvent = true
        hadPendingWrites = snapshot.hasPendingWrites
        return snapshot.initial
    }

    private func isPresentable(_ snapshot: ViewSnapshot, _ connection: ViewConnection) -> Bool {
        if options.requiresServer { return !snapshot.isFromCache && connection.hasAnswered }
        if !snapshot.isFromCache || options.isCacheOnly { return true }
        if connection.onlineState == .offline { return true }
        return !options.waitsForSync && (!snapshot.documents.isEmpty || snapshot.hasCachedResult)
    }
}
