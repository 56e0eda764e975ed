package import DocumentStore
import Testing

/// A requirement that every driver's store must fulfill, with its test.
///
/// ```swift
/// @Test(arguments: StoreRequirement.all)
/// func `The store conforms`(to requirement: StoreRequirement) async throws {
///     try await requirement.check(with: MyStoreFactory())
/// }
/// ```
package struct StoreRequirement: Sendable, CustomTestStringConvertible {
    /// The history that the test needs.
    enum History: Sendable {
        /// All commits of the test are retained.
        case complete
        /// Commits are discarded while the test runs.
        case short
    }

    /// The requirement, as a sentence.
    package let testDescription: String
    private let history: History
    private let body: @Sendable (any ClosableStore) async throws -> Void

    init(
        _ description: String,
        history: History = .complete,
        _ body: @escaping @Sendable (any ClosableStore) async throws -> Void
    ) {
        testDescription = description
        self.history = history
        self.body = body
    }

    /// All requirements.
    package static let all =
        commits + identities + authorization + validation + reads + listings + queries + indexes + versions + changes

    /// Checks the requirement on a new store, and records an issue for each violation.
    package func check(with factory: some StoreFactory) async throws {
        switch history {
        case .complete: try await factory.withStore(body)
        case .short: try await factory.withStoreOfShortHistory(body)
        }
    }
}

/// Creates the stores of one driver.
package protocol StoreFactory: Sendable {
    /// Runs `body` with an empty store, and closes and removes the store afterward.
    func withStore(_ body: (any ClosableStore) async throws -> Void) async throws

    /// Runs `body` with an empty store that retains fewer than the last 1,000 commits of 1 KiB each.
    func withStoreOfShortHistory(_ body: (any ClosableStore) async throws -> Void) async throws
}
