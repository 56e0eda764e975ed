/// Callbacks that run once when a credential becomes invalid, keyed by the credential.
struct RevocationObservers<Key: Hashable & Sendable> {
    private var callbacks: [Key: [UInt64: RevocationObservation.Callback]] = [:]
    private var lastID: UInt64 = 0

    /// The identifier of a callback, with which it can be removed.
    struct ID: Sendable {
        fileprivate let key: Key
        fileprivate let number: UInt64
    }

    /// The observed credentials, each once.
    var keys: [Key] {
        Array(callbacks.keys)
    }

    mutating func add(_ key: Key, _ callback: @escaping RevocationObservation.Callback) -> ID {
        lastID += 1
        callbacks[key, default: [:]][lastID] = callback
        return ID(key: key, number: lastID)
    }

    mutating func remove(_ id: ID) {
        guard var rest = callbacks.removeValue(forKey: id.key) else { return }
        rest[id.number] = nil
        if !rest.isEmpty { callbacks[id.key] = rest }
    }

    /// Removes and returns the callbacks of a credential.
    mutating func removeAll(for key: Key) -> [RevocationObservation.Callback] {
        callbacks.removeValue(forKey: key).map { Array($0.values) } ?? []
    }
}

/// A registration with ``APIKeyRegistry/onRevocation(of:_:)`` or ``SessionRegistry/onRevocation(of:_:)``. The callback is
/// removed when the registration is released.
package final class RevocationObservation: Sendable {
    /// Runs once, when the observed credential becomes invalid.
    package typealias Callback = @Sendable () -> Void

    private let remove: Callback

    init(_ remove: @escaping Callback) {
        self.remove = remove
    }

    deinit {
        remove()
    }
}
