import Foundation
import HearthClient
import Testing

@Suite("Client transactions", .timeLimit(.minutes(10)))
struct ClientTransactionTests {
    @Test func `Concurrent transactions all succeed`() async throws {
        try await withServer { server in
            let db = server.firestore
            let counter = db.document("counters/a")
            try await counter.setData(["n": 0])
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        let options = TransactionOptions()
                        options.maxAttempts = 50
                        try await db.runTransaction(with: options) { transaction in
                            let number = try await transaction.getDocument(counter).get("n") as? Int ?? 0
                            transaction.updateData(["n": number + 1], forDocument: counter)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await counter.getDocument().get("n") as? Int == 8)
            try await db.terminate()
        }
    }

    @Test func `A transaction block runs on a separate thread`() async throws {
        try await withServer { server in
            let db = server.firestore
            let city = db.document("cities/SF")
            try await city.setData(["population": 860_000])
            let result = try await db.runTransaction { transaction, errorPointer in
                do {
                    let old = try transaction.getDocument(city).data()?["population"] as? Int ?? 0
                    transaction.updateData(["population": old + 1], forDocument: city)
                    return old + 1
                } catch let error as NSError {
                    errorPointer?.pointee = error
                    return nil
                }
            }
            #expect(result as? Int == 860_001)
            let failure = await withCheckedContinuation { continuation in
                db.runTransaction { _, errorPointer in
                    errorPointer?.pointee = NSError(domain: "AppErrorDomain", code: -1)
                    return nil
                } completion: { _, error in
                    continuation.resume(returning: (error as? NSError)?.code)
                }
            }
            #expect(failure == -1)
            #expect(try await city.getDocument().get("population") as? Int == 860_001)
            try await db.terminate()
        }
    }

    @Test func `A hundred transaction blocks at once don't hold up other tasks`() async throws {
        try await withServer { server in
            let db = server.firestore
            let start = ContinuousClock.now
            let longestPause = Task {
                var (last, longest) = (ContinuousClock.now, Duration.zero)
                while (try? await Task.sleep(for: .milliseconds(10))) != nil {
                    longest = max(longest, ContinuousClock.now - last)
                    last = .now
                }
                return longest
            }
            try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    group.addTask {
                        let document = db.document("counters/\(number)")
                        _ = try await db.runTransaction { transaction, errorPointer in
                            do {
                                let old = try transaction.getDocument(document).data()?["n"] as? Int ?? 0
                                transaction.setData(["n": old + 1], forDocument: document)
                            } catch let error as NSError {
                                errorPointer?.pointee = error
                            }
                            return nil
                        }
                    }
                }
                try await group.waitForAll()
            }
            // With threads of a pool for blocks, each would wait about a second for the next one.
            #expect(ContinuousClock.now - start < .seconds(45))
            longestPause.cancel()
            #expect(await longestPause.value < .seconds(15))
            #expect(try await db.collection("counters").getDocuments().count == 100)
            try await db.terminate()
        }
    }

    @Test func `Twenty clients that change one document all succeed`() async throws {
        try await withServer { server in
            let clients = (0..<20).map { _ in server.firestore }
            try await withThrowingTaskGroup { group in
                for db in clients {
                    group.addTask {
                        let counter = db.document("counters/a")
                        // Five attempts suffice unless other work makes the duration of each a matter of chance.
                        let options = TransactionOptions()
                        options.maxAttempts = 10
                        try await db.runTransaction(with: options) { transaction in
                            let number = try await transaction.getDocument(counter).get("n") as? Int ?? 0
                            transaction.setData(["n": number + 1], forDocument: counter)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await clients[0].document("counters/a").getDocument().get("n") as? Int == 20)
            for db in clients { try await db.terminate() }
        }
    }

    @Test func `A transaction is aborted after five attempts`() async throws {
        try await withServer { server in
            let db = server.firestore
            let document = db.document("a/b")
            try await document.setData(["n": 0])
            var attempts = 0
            let error = await #expect(throws: FirestoreError.self) {
                try await db.runTransaction { transaction in
                    attempts += 1
                    _ = try await transaction.getDocument(document)
                    try await document.setData(["n": attempts])
                    transaction.setData(["n": -1], forDocument: document)
                }
            }
            #expect(error.map { FirestoreErrorCode.aborted ~= $0 } == true)
            #expect(attempts == 5)
            #expect(try await document.getDocument().get("n") as? Int == 5)
            try await db.terminate()
        }
    }

    @Test func `Reads must precede writes, and an error rolls back the transaction`() async throws {
        struct CustomError: Error {}
        try await withServer { server in
            let db = server.firestore
            let document = db.document("a/b")
            let late = await #expect(throws: FirestoreError.self) {
                try await db.runTransaction { transaction in
                    transaction.setData(["n": 1], forDocument: document)
                    _ = try await transaction.getDocument(document)
                }
            }
            #expect(late.map { FirestoreErrorCode.invalidArgument ~= $0 } == true)
            var attempts = 0
            await #expect(throws: CustomError.self) {
                try await db.runTransaction { transaction in
                    attempts += 1
                    #expect(try await !transaction.getDocument(document).exists)
                    transaction.setData(["n": 1], forDocument: document)
                    throw CustomError()
                }
            }
            #expect(attempts == 1)
            #expect(try await !document.getDocument().exists)
            let title = try await db.runTransaction { transaction in
                try transaction.setData(from: Book(title: "x", numberOfPages: 1, author: "y"), forDocument: document)
                return "x"
            }
            #expect(try await document.getDocument(as: Book.self).title == title)
            try await db.terminate()
        }
    }
}
