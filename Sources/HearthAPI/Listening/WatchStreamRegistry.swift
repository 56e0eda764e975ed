import DocumentModel
import JSONRPC
import Synchronization
package import UTF8Text

/// The open watch streams with several targets, which calls find by their IDs to change their targets.
package final class WatchStreamRegistry: Sendable {
    private struct Entry {
        let changes: WatchTargetChanges
        let caller: Caller.Identity
    }

    private let entries = Mutex<[UTF8Key: Entry]>([:])

    package init() {}

    /// Adds the stream of a caller.
    package func add(_ changes: WatchTargetChanges, of caller: Caller.Identity) -> WatchStreamRegistration {
        let id = UTF8Key(Base64.url.encode(RandomBytes.make(16)))
        entries.withLock { $0[id] = Entry(changes: changes, caller: caller) }
        return WatchStreamRegistration(id: id, in: self)
    }

    fileprivate func remove(_ id: UTF8Key) {
        entries.withLock { _ = $0.removeValue(forKey: id) }
    }

    /// Adds changes to those that a stream has yet to carry out.
    ///
    /// - Throws: ``StatusCode/notFound`` if the caller has no open stream with this ID; ``StatusCode/resourceExhausted`` if too many
    ///   changes wait for it.
    func request(_ changes: [WatchTargetChange], of id: UTF8Key, for caller: Caller.Identity) throws(StatusError) {
        guard let entry = entries.withLock({ $0[id] }), entry.caller == caller else {
            throw StatusError(.notFound, "There is no such watch stream, or it has ended. Open another one with all targets.")
        }
        try entry.changes.add(changes)
    }
}

/// The entry of an open stream in a ``WatchStreamRegistry``, which ends with this object.
package final class WatchStreamRegistration: Sendable {
    /// The unguessable ID of the stream.
    package let id: UTF8Key
    private let registry: WatchStreamRegistry

    fileprivate init(id: UTF8Key, in registry: WatchStreamRegistry) {
        self.id = id
        self.registry = registry
    }

    deinit {
        registry.remove(id)
    }
}
