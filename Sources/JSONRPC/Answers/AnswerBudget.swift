internal import Synchronization

/// The memory that all answers may take together, from before they are built until they have been sent.
///
/// A call that there is no room for waits in line for a short while, before it is executed. Answers beyond
/// ``smallAnswerBytes`` that wait to be sent get no more than three quarters, so that clients which do not read theirs can't
/// keep the small answers of others out.
package final class AnswerBudget: Sendable {
    /// An answer beyond this is large.
    package static let smallAnswerBytes = 32 << 10

    fileprivate struct State {
        /// What answers take and calls under way may come to take.
        var held = 0
        /// What large answers take of it.
        var large = 0
        var waiters: [Waiter] = []
        var lastID: UInt64 = 0
    }

    fileprivate struct Waiter {
        let id: UInt64
        let count: Int
        let grant: AsyncStream<Never>.Continuation
    }

    /// How many bytes there are for all answers.
    package let limit: Int
    private let state = Mutex(State())
    /// Returns when a call has waited for long enough.
    private let patience: @Sendable () async throws -> Void

    /// Makes a budget.
    ///
    /// - Parameters:
    ///   - wait: How long a call waits for room.
    ///   - clock: What that time is measured with.
    package init(limit: Int, wait: Duration, clock: some Clock<Duration> = ContinuousClock()) {
        self.limit = limit
        patience = { try await clock.sleep(for: wait) }
    }

    /// A budget that everything fits into.
    package static var unlimited: AnswerBudget {
        AnswerBudget(limit: .max / 2, wait: .zero)
    }

    /// How many bytes are taken now.
    package var held: Int {
        state.withLock { $0.held }
    }

    /// How many calls wait for room now.
    var waiting: Int {
        state.withLock { $0.waiters.count }
    }
}

extension AnswerBudget {
    /// Takes room, at once or when others have given enough back; false when that takes too long or the task is cancelled.
    fileprivate func take(_ count: Int) async -> Bool {
        guard !change(by: count, large: 0) else { return true }
        let (grants, grant) = AsyncStream<Never>.makeStream()
        let id: UInt64? = state.withLock { state in
            // Some may have been given back since.
            guard !state.take(count, large: 0, of: limit) else { return nil }
            state.lastID += 1
            state.waiters.append(Waiter(id: state.lastID, count: count, grant: grant))
            return state.lastID
        }
        guard let id else { return true }
        let timer = Task {
            try? await patience()
            grant.finish()
        }
        defer { timer.cancel() }
        // Ends when there is room, when it has taken too long, and when the task is cancelled.
        for await _ in grants {}
        return !leave(id)
    }

    /// Ends somebody's waiting; whether there had been no room until now.
    private func leave(_ id: UInt64) -> Bool {
        state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return false }
            state.waiters.remove(at: index)
            return true
        }
    }

    /// Changes at once what is taken; false, and nothing happens, when there is no room for it.
    fileprivate func change(by count: Int, large: Int) -> Bool {
        state.withLock { state in
            guard state.take(count, large: large, of: limit) else { return false }
            if count < 0 { state.grantRoom(of: limit) }
            return true
        }
    }
}

extension AnswerBudget.State {
    fileprivate mutating func take(_ count: Int, large: Int, of limit: Int) -> Bool {
        let fits = (count <= 0 || held + count <= limit) && (large <= 0 || self.large + large <= limit / 4 * 3)
        guard fits else { return false }
        held += count
        self.large += large
        return true
    }

    /// Lets everyone go on for whom there is room.
    fileprivate mutating func grantRoom(of limit: Int) {
        waiters.removeAll { waiter in
            guard held + waiter.count <= limit else { return false }
            held += waiter.count
            waiter.grant.finish()
            return true
        }
    }
}

extension AnswerBudget {
    /// What one answer takes of the budget, until nobody holds it.
    package final class Share: Sendable {
        private struct Size {
            var held = 0
            var large = 0
        }

        private let budget: AnswerBudget
        private let size = Mutex(Size())

        package init(of budget: AnswerBudget) {
            self.budget = budget
        }

        deinit {
            shrink(to: 0)
        }

        /// Takes room for so many bytes more, waiting for it where it must; false when there was none.
        ///
        /// No more is waited for than there is at all.
        package func reserve(_ count: Int) async -> Bool {
            let count = min(count, budget.limit - size.withLock { $0.held })
            guard await budget.take(count) else { return false }
            size.withLock { $0.held += count }
            return true
        }

        /// Keeps room for no more than what is left of an answer, and gives the rest back.
        func shrink(to answer: Int) {
            // There is always room for less.
            _ = resize(to: answer, answer: answer)
        }

        /// Takes room for `count` bytes in all, `answer` of which have been built; false, and nothing changes, when there is
        /// none.
        package func resize(to count: Int, answer: Int) -> Bool {
            let large = answer > AnswerBudget.smallAnswerBytes ? answer : 0
            return size.withLock { size in
                guard budget.change(by: count - size.held, large: large - size.large) else { return false }
                size = Size(held: count, large: large)
                return true
            }
        }
    }
}
