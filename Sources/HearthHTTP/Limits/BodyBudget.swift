import Synchronization

/// The memory limit for the bodies of all requests together.
///
/// Bodies over 64 KiB may use at most three quarters of the budget, so that a few large, slow uploads cannot block small requests.
final class BodyBudget: Sendable {
    private let limit: Int
    private let reserved = Mutex(0)

    private static let smallBodyBytes = 64 << 10

    init(limit: Int) {
        self.limit = limit
    }

    /// The number of bytes reserved.
    var reservedBytes: Int {
        reserved.withLock { $0 }
    }

    private func reserve(_ count: Int, isSmallBody: Bool) -> Bool {
        reserved.withLock { reserved in
            guard reserved + count <= (isSmallBody ? limit : limit / 4 * 3) else { return false }
            reserved += count
            return true
        }
    }

    private func release(_ count: Int) {
        reserved.withLock { $0 -= count }
    }
}

extension BodyBudget {
    /// The bytes reserved for one request body.
    final class Reservation: Sendable {
        private let budget: BodyBudget
        private let count = Mutex(0)

        init(of budget: BodyBudget) {
            self.budget = budget
        }

        /// Reserves additional bytes. Returns false when the limit would be exceeded.
        func reserve(_ additionalBytes: Int) -> Bool {
            count.withLock { count in
                let isSmallBody = count + additionalBytes <= BodyBudget.smallBodyBytes
                guard budget.reserve(additionalBytes, isSmallBody: isSmallBody) else { return false }
                count += additionalBytes
                return true
            }
        }

        /// Releases all bytes.
        func release() {
            let reserved = count.withLock { count in
                defer { count = 0 }
                return count
            }
            budget.release(reserved)
        }
    }
}
