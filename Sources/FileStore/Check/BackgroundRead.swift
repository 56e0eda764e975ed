internal import Dispatch
internal import Synchronization

/// A value that is read on a thread of its own.
final class BackgroundRead<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isReady = DispatchSemaphore(value: 0)

    /// Starts reading.
    init(label: String, _ read: @escaping @Sendable () -> Value) {
        DispatchQueue(label: label).async {
            let result = read()
            self.value.withLock { $0 = result }
            self.isReady.signal()
        }
    }

    /// Waits for the value, and calls `onWaiting` every second. May be called again.
    func wait(onWaiting: () -> Void = {}) -> Value {
        while true {
            if let value = value.withLock({ $0 }) { return value }
            if isReady.wait(timeout: .now() + .seconds(1)) == .timedOut { onWaiting() }
        }
    }
}
