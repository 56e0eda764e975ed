internal import Synchronization

/// An event that occurs at most once, and for which any number of tasks can wait.
package final class OneTimeEvent: Sendable {
    private let state = Mutex(State())

    private struct State {
        var hasOccurred = false
        var observers: [Int: AsyncStream<Never>.Continuation] = [:]
        var observerCount = 0
    }

    package init() {}

    package var hasOccurred: Bool { state.withLock(\.hasOccurred) }

    /// Lets the event occur. Only the first call has an effect.
    package func signal() {
        let observers = state.withLock { state in
            state.hasOccurred = true
            defer { state.observers = [:] }
            return state.observers.values.map(\.self)
        }
        for observer in observers { observer.finish() }
    }

    /// Waits until the event has occurred, or until the task is cancelled.
    package func wait() async {
        let (end, observer) = AsyncStream.makeStream(of: Never.self)
        let number: Int? = state.withLock { state in
            guard !state.hasOccurred else { return nil }
            state.observerCount += 1
            state.observers[state.observerCount] = observer
            return state.observerCount
        }
        guard let number else { return }
        for await _ in end {}
        state.withLock { $0.observers[number] = nil }
    }

    /// Waits until the event has occurred, the time has passed, or the task is cancelled.
    package func wait(for duration: Duration) async {
        guard !hasOccurred, duration > .zero else { return }
        await withTaskGroup { group in
            group.addTask { await self.wait() }
            group.addTask { _ = try? await Task.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
    }
}
