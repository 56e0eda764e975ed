import Foundation
import Synchronization

/// A gate that holds the threads that pass it while it is closed.
package final class ScanGate: Sendable {
    private struct State {
        /// The number of passes until the gate closes; `nil` for an open gate.
        var remaining: Int?
        var heldCount = 0
    }

    private let state = Mutex(State())

    /// Creates an open gate.
    package init() {}

    /// Closes the gate after a number of further passes.
    package func close(after passes: Int = 0) {
        state.withLock { $0.remaining = passes }
    }

    /// Opens the gate.
    package func open() {
        state.withLock { $0.remaining = nil }
    }

    /// True if a thread waits for the gate to open.
    package var isHolding: Bool { state.withLock { $0.heldCount > 0 } }

    /// Passes the gate, or blocks until it is open.
    package func pass() {
        var isHeld = false
        while true {
            let passes = state.withLock { state in
                if let remaining = state.remaining, remaining <= 0 {
                    if !isHeld { state.heldCount += 1 }
                    isHeld = true
                    return false
                }
                state.remaining = state.remaining.map { $0 - 1 }
                if isHeld { state.heldCount -= 1 }
                return true
            }
            if passes { return }
            Thread.sleep(forTimeInterval: 0.002)
        }
    }
}
