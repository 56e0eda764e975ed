import Synchronization

/// The memory that the bodies of all requests may take together.
///
/// A body beyond 64 KiB gets no more than three quarters of it, so that a few large ones that are slow to arrive do not keep
/// small ones out.
final class BodyBudget: Sendable {
    private let limit: Int
    private let taken = Mutex(0)

    private static let smallBodyBytes = 64 << 10

    init(limit: Int) {
        self.limit = limit
    }

    /// How many bytes are taken now.
    var held: Int {
        taken.withLock { $0 }
    }

    private func take(_ count: Int, smallBody isSmall: Bool) -> Bool {
        taken.withLock { taken in
            guard taken + count <= (isSmall ? limit : limit / 4 * 3) else { return false }
            taken += count
            return true
        }
    }

    private func giveBack(_ count: Int) {
        taken.withLock { $0 -= count }
    }
}

extension BodyBudget {
    /// What one request's body takes of the budget, until it is given back.
    final class Share: Sendable {
        private let budget: BodyBudget
        private let count = Mutex(0)

        init(of budget: BodyBudget) {
            self.budget = budget
        }

        /// Takes so many bytes more; false when there is no room for them.
        func take(_ more: Int) -> Bool {
            count.withLock { count in
                guard budget.take(more, smallBody: count + more <= BodyBudget.smallBodyBytes) else { return false }
                count += more
                return true
            }
        }

        /// Gives all of it back.
        func giveBack() {
            let taken = count.withLock { count in
                defer { count = 0 }
                return count
            }
            budget.giveBack(taken)
        }
    }
}
