/// Who wants to know when something is over, such as that a caller is valid.
struct Endings<Key: Hashable & Sendable> {
    private var callbacks: [Key: [UInt64: EndingObservation.Callback]] = [:]
    private var lastID: UInt64 = 0

    /// A callback, by which it is removed.
    struct ID: Sendable {
        fileprivate let key: Key
        fileprivate let number: UInt64
    }

    /// What somebody wants to know of, each once however many do.
    var keys: [Key] {
        Array(callbacks.keys)
    }

    mutating func add(_ key: Key, _ callback: @escaping EndingObservation.Callback) -> ID {
        lastID += 1
        callbacks[key, default: [:]][lastID] = callback
        return ID(key: key, number: lastID)
    }

    mutating func remove(_ id: ID) {
        guard var rest = callbacks.removeValue(forKey: id.key) else { return }
        rest[id.number] = nil
        if !rest.isEmpty { callbacks[id.key] = rest }
    }

    /// Removes the callbacks of what is over, and gives them.
    mutating func take(_ key: Key) -> [EndingObservation.Callback] {
        callbacks.removeValue(forKey: key).map { Array($0.values) } ?? []
    }
}

/// Keeps the callback of ``AccessKeys/onEnd(of:_:)`` or ``Sessions/onEnd(of:_:)`` for as long as it is held.
package final class EndingObservation: Sendable {
    /// What is called once when it is over.
    package typealias Callback = @Sendable () -> Void

    private let remove: Callback

    init(_ remove: @escaping Callback) {
        self.remove = remove
    }

    deinit {
        remove()
    }
}
