/// Who wants to know when a caller is not valid any more.
struct CallerEndings {
    typealias Callback = @Sendable () -> Void

    private var callbacks: [Caller: [UInt64: Callback]] = [:]
    private var lastID: UInt64 = 0

    /// A callback of a caller, by which it is removed.
    struct ID {
        fileprivate let caller: Caller
        fileprivate let number: UInt64
    }

    /// Those of whom somebody wants to know, each once however many do.
    var callers: [Caller] {
        Array(callbacks.keys)
    }

    mutating func add(_ caller: Caller, _ callback: @escaping Callback) -> ID {
        lastID += 1
        callbacks[caller, default: [:]][lastID] = callback
        return ID(caller: caller, number: lastID)
    }

    mutating func remove(_ id: ID) {
        guard var rest = callbacks.removeValue(forKey: id.caller) else { return }
        rest[id.number] = nil
        if !rest.isEmpty { callbacks[id.caller] = rest }
    }

    /// Removes the callbacks of a caller, and gives them.
    mutating func take(_ caller: Caller) -> [Callback] {
        Array(callbacks.removeValue(forKey: caller).map { $0.values.map(\.self) } ?? [])
    }
}

/// Keeps the callback of ``AccessKeys/onEnd(of:_:)`` for as long as it is held.
package final class CallerObservation: Sendable {
    private let remove: @Sendable () -> Void

    init(_ remove: @escaping @Sendable () -> Void) {
        self.remove = remove
    }

    deinit {
        remove()
    }
}
