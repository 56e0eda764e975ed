import DocumentModel
import DocumentStoreConformance
import HearthAPI
import Synchronization
import Testing
import UTF8Text

@Suite("Transaction limits") struct TransactionLimitTests {
    /// A manual clock.
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { time.withLock { $0 } }

        func advance(by duration: Duration) {
            time.withLock { $0 += duration }
        }
    }

    private let clock = Clock()

    private func context(_ limits: TransactionLimits = TransactionLimits()) -> ServiceContext {
        let clock = clock
        return ServiceContext(store: MemoryStore(), transactions: TransactionRegistry(limits: limits) { clock.now })
    }

    private func read(_ path: String, in transaction: TransactionID, _ context: ServiceContext) async -> StatusCode? {
        do {
            let params = BatchGetDocuments.Params(
                paths: [try DocumentPath(path)],
                consistency: ReadConsistency(transaction: transaction)
            )
            _ = try await BatchGetDocuments.call(params, in: context)
            return nil
        } catch {
            return error.code
        }
    }

    @Test
    func `A transaction expires after a minute without use`() async throws {
        let context = context()
        let transaction = try await BeginTransaction.call(.readWrite, in: context)
        for _ in 1...3 {
            clock.advance(by: .milliseconds(59_999))
            #expect(await read("a/1", in: transaction, context) == nil)
        }
        clock.advance(by: .seconds(60))
        #expect(await read("a/1", in: transaction, context) == .invalidArgument)
        let error = await #expect(throws: StatusError.self) {
            try await CommitWrites.call(.init(writes: [], transaction: transaction), in: context)
        }
        #expect(error?.code == .invalidArgument)
        #expect(context.transactions.count == 0)
    }

    @Test
    func `A transaction expires after four and a half minutes even if used`() async throws {
        let context = context()
        let transaction = try await BeginTransaction.call(.readOnly(readTime: nil), in: context)
        for _ in 1...8 {
            clock.advance(by: .seconds(30))
            #expect(await read("a/1", in: transaction, context) == nil)
        }
        clock.advance(by: .seconds(30))
        #expect(await read("a/1", in: transaction, context) == .invalidArgument)
    }

    @Test
    func `The number of open transactions is limited, without expired ones`() async throws {
        let context = context(TransactionLimits(maximumCount: 3))
        for _ in 1...3 { _ = try await BeginTransaction.call(.readWrite, in: context) }
        let error = await #expect(throws: StatusError.self) { try await BeginTransaction.call(.readWrite, in: context) }
        #expect(error?.code == .resourceExhausted)
        clock.advance(by: .seconds(60))
        let transaction = try await BeginTransaction.call(.readWrite, in: context)
        #expect(context.transactions.count == 1)
        await RollbackTransaction.call(transaction, in: context)
        #expect(context.transactions.count == 0)
    }

    @Test
    func `A transaction is closed when it exceeds its read limit; repeated reads do not count`() async throws {
        let context = context(TransactionLimits(maximumReads: 3))
        let transaction = try await BeginTransaction.call(.readWrite, in: context)
        for path in ["a/1", "a/2", "a/3", "a/1", "a/2"] { #expect(await read(path, in: transaction, context) == nil) }
        #expect(await read("a/4", in: transaction, context) == .resourceExhausted)
        #expect(await read("a/1", in: transaction, context) == .invalidArgument)
        let reader = try await BeginTransaction.call(.readOnly(readTime: nil), in: context)
        for number in 1...10 { #expect(await read("a/\(number)", in: reader, context) == nil) }
    }

    @Test
    func `The total number of reads is limited, without those of ended and expired transactions`() async throws {
        let context = context(TransactionLimits(maximumTotalReads: 3))
        let first = try await BeginTransaction.call(.readWrite, in: context)
        let second = try await BeginTransaction.call(.readWrite, in: context)
        for path in ["a/1", "a/2", "a/3"] { #expect(await read(path, in: first, context) == nil) }
        #expect(await read("a/1", in: second, context) == .resourceExhausted)
        await RollbackTransaction.call(first, in: context)
        let third = try await BeginTransaction.call(.readWrite, in: context)
        for path in ["a/1", "a/2", "a/3"] { #expect(await read(path, in: third, context) == nil) }
        clock.advance(by: .seconds(60))
        let fourth = try await BeginTransaction.call(.readWrite, in: context)
        for path in ["a/1", "a/2", "a/3"] { #expect(await read(path, in: fourth, context) == nil) }
    }

    @Test
    func `IDs have 87 characters and are unique`() async throws {
        let context = context()
        var ids: Set<TransactionID> = []
        for _ in 1...1_000 {
            let transaction = try await BeginTransaction.call(.readWrite, in: context)
            #expect(transaction.key.byteCount == 87)
            #expect(ids.insert(transaction).inserted)
        }
    }
}
