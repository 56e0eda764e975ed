import DocumentModel
import DocumentStore
import HearthAPI
import TestSupport
import Testing

/// Concurrent transactions are serializable, and none starves.
@Suite("Serializability", .tags(.slow), .timeLimit(.minutes(10))) struct SerializabilityTests {
    private static func path(_ id: some CustomStringConvertible) throws -> DocumentPath {
        try DocumentPath("accounts/\(id)")
    }

    @Test
    func `Transfers preserve the sum, at the end and in concurrent reads`() async throws {
        try await withService { service in
            let client = TransactionClient(context: service.context)
            let accounts = try (0..<6).map { try Self.path($0) }
            let setup = try await client.begin()
            #expect(try await client.commit(accounts.map { ($0, 100) }, in: setup) == nil)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<12 {
                    group.addTask {
                        for round in 0..<5 {
                            let (from, to) = (accounts[(worker + round) % 6], accounts[(worker * 5 + round + 1) % 6])
                            guard from != to else { continue }
                            _ = try await client.run { transaction in
                                let balance = try await client.value(of: from, in: transaction)
                                let other = try await client.value(of: to, in: transaction)
                                return [(from, balance - 7), (to, other + 7)]
                            }
                        }
                    }
                }
                for _ in 0..<2 {
                    group.addTask {
                        for _ in 0..<20 {
                            let reader = try await BeginTransaction.call(.readOnly(readTime: nil), in: service.context)
                            var sum: Int64 = 0
                            for account in accounts { sum += try await client.value(of: account, in: reader) }
                            #expect(sum == 600)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let end = try await client.begin()
            var sum: Int64 = 0
            for account in accounts { sum += try await client.value(of: account, in: end) }
            #expect(sum == 600)
        }
    }

    @Test
    func `Of two transactions with write skew, one commits`() async throws {
        try await withService { service in
            let client = TransactionClient(context: service.context)
            let doctors = [try Self.path("a"), try Self.path("b")]
            let setup = try await client.begin()
            #expect(try await client.commit(doctors.map { ($0, 1) }, in: setup) == nil)
            for _ in 0..<10 {
                // Each doctor goes off duty if another one is on duty.
                let transactions = [try await client.begin(), try await client.begin()]
                for transaction in transactions {
                    var onDuty: Int64 = 0
                    for doctor in doctors { onDuty += try await client.value(of: doctor, in: transaction) }
                    #expect(onDuty == 2)
                }
                async let first = client.commit([(doctors[0], 0)], in: transactions[0])
                async let second = client.commit([(doctors[1], 0)], in: transactions[1])
                let aborts = [try await first, try await second].compactMap(\.self)
                #expect(aborts.count == 1)
                let reset = try await client.begin()
                #expect(try await client.commit(doctors.map { ($0, 1) }, in: reset) == nil)
            }
        }
    }

    @Test
    func `Of many transactions that add to an empty collection, one commits`() async throws {
        try await withService { service in
            let client = TransactionClient(context: service.context)
            let committed = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        let transaction = try await client.begin()
                        let list = ListDocuments.Params(
                            collection: try CollectionPath("accounts"),
                            consistency: ReadConsistency(transaction: transaction)
                        )
                        guard try await ListDocuments.call(list, in: service.context).documents.isEmpty else { return false }
                        return try await client.commit([(Self.path(number), 1)], in: transaction) == nil
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(committed == 1)
        }
    }

    @Test
    func `Of 50 clients that increment a counter, one commits immediately and all within their retry delays`() async throws {
        try await withService { service in
            let client = TransactionClient(context: service.context)
            let counter = try Self.path("counter")
            // All transactions read before the first commit.
            var transactions: [TransactionID] = []
            for _ in 0..<50 {
                let transaction = try await client.begin()
                #expect(try await client.value(of: counter, in: transaction) == 0)
                transactions.append(transaction)
            }
            let attempts = try await withThrowingTaskGroup(of: Int.self) { group in
                for transaction in transactions {
                    group.addTask {
                        guard let abort = try await client.commit([(counter, 1)], in: transaction) else { return 1 }
                        try await Task.sleep(for: try #require(abort.retryAfter))
                        return 1
                            + (try await client.run { transaction in
                                [(counter, try await client.value(of: counter, in: transaction) + 1)]
                            })
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(attempts.filter { $0 == 1 }.count == 1, "the first round has one winner")
            // Immediate retries by all clients would take 1,275 attempts.
            #expect(attempts.reduce(0, +) <= 500, "\(attempts)")
            let end = try await client.begin()
            #expect(try await client.value(of: counter, in: end) == 50)
        }
    }

    @Test
    func `Increment transforms need no second attempt`() async throws {
        try await withService { service in
            let counter = try Self.path("counter")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        let transaction = try await BeginTransaction.call(.readWrite, in: service.context)
                        let increment = FieldTransform(field: try FieldPath("value"), operation: .increment(.integer(1)))
                        let write = try Write.set(counter, [:], merge: .all, transforms: [increment])
                        _ = try await CommitWrites.call(.init(writes: [write], transaction: transaction), in: service.context)
                    }
                }
                try await group.waitForAll()
            }
            let client = TransactionClient(context: service.context)
            #expect(try await client.value(of: counter, in: try await client.begin()) == 50)
        }
    }
}
