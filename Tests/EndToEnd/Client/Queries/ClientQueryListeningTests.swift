import Foundation
import HearthClient
import TestSupport
import Testing

@Suite("Listening to queries", .timeLimit(.minutes(2)))
struct ClientQueryListeningTests {
    /// What a snapshot says has changed: `-a@1`, `+b@0`, `~c@2>0`.
    private func described(_ snapshot: QuerySnapshot?) -> [String] {
        (snapshot?.documentChanges ?? []).map { change in
            switch change.type {
            case .removed: "-\(change.document.documentID)@\(change.oldIndex)"
            case .added: "+\(change.document.documentID)@\(change.newIndex)"
            case .modified: "~\(change.document.documentID)@\(change.oldIndex)>\(change.newIndex)"
            }
        }
    }

    @Test func `tells what a limit pushes out and lets in, in the query's order`() async throws {
        try await withServer { server in
            let db = server.firestore
            let scores = db.collection("scores")
            for (id, points) in [("a", 1), ("b", 2), ("c", 3)] { try await scores.document(id).setData(["points": points]) }
            let best = scores.order(by: "points", descending: true).limit(to: 2)
            var snapshots = best.snapshots.makeAsyncIterator()
            #expect(described(try await snapshots.next()) == ["+c@0", "+b@1"])
            try await scores.document("d").setData(["points": 9])
            #expect(described(try await snapshots.next()) == ["-b@1", "+d@0"])
            try await scores.document("d").delete()
            #expect(described(try await snapshots.next()) == ["-d@0", "+b@1"])
            try await scores.document("b").updateData(["points": 10])
            #expect(described(try await snapshots.next()) == ["~b@1>0"])
            // What is not in the result is not told, and neither is what does not change it.
            try await scores.document("a").updateData(["points": 0])
            try await scores.document("x").setData(["other": 1])
            let batch = db.batch()
            batch.deleteDocument(scores.document("c"))
            batch.setData(["points": 5], forDocument: scores.document("e"))
            batch.updateData(["points": 11], forDocument: scores.document("b"))
            try await batch.commit()
            #expect(described(try await snapshots.next()) == ["-c@1", "+e@1", "~b@0>0"])

            var last = scores.order(by: "points").limit(toLast: 2).snapshots.makeAsyncIterator()
            #expect(described(try await last.next()) == ["+e@0", "+b@1"])
            try await scores.document("f").setData(["points": 20])
            #expect(described(try await last.next()) == ["-e@0", "+f@1"])
            try await db.terminate()
        }
    }

    @Test func `tells what comes to fulfil a condition, and what no longer does`() async throws {
        try await withGuide { db in
            let books = db.collection("books")
            var snapshots = books.whereField("author", isEqualTo: "Peter").snapshots.makeAsyncIterator()
            let first = try await snapshots.next()
            #expect(described(first) == ["+invalid-data@0"])
            #expect((try? first?.documents[0].data(as: Book.self)) == nil)
            try await books.document("hitchhiker").updateData(["author": "Peter"])
            let second = try #require(try await snapshots.next())
            #expect(described(second) == ["+hitchhiker@0"])
            // The one that doesn't decode does not disturb the other.
            #expect(second.documents.compactMap { try? $0.data(as: Book.self) }.map(\.id) == ["hitchhiker"])
            try await books.document("invalid-data").updateData(["author": "Paul"])
            #expect(described(try await snapshots.next()) == ["-invalid-data@1"])
            var nothing = books.whereField("author", isEqualTo: "Nobody").snapshots.makeAsyncIterator()
            #expect(try await nothing.next()?.isEmpty == true)
        }
    }

    @Test func `follows a collection group`() async throws {
        try await withServer { server in
            let db = server.firestore
            let reviews = db.collectionGroup("reviews")
            var snapshots = reviews.snapshots.makeAsyncIterator()
            #expect(try await snapshots.next()?.isEmpty == true)
            try await db.document("books/b/reviews/r").setData(["n": 1])
            #expect(try await snapshots.next()?.documents.map(\.reference.path) == ["books/b/reviews/r"])
            try await db.document("books/b/other/r").setData(["n": 1])
            try await db.document("books/a/reviews/r").setData(["n": 2])
            let both = try #require(try await snapshots.next())
            #expect(both.documents.map(\.reference.path) == ["books/a/reviews/r", "books/b/reviews/r"])
            #expect(both.documentChanges.map(\.newIndex) == [0])
            try await db.terminate()
        }
    }

    @Test func `goes on over restarts of the server, without a gap and without telling anything twice`() async throws {
        try await withTemporaryFolder { folder in
            var server = try await TestServer(data: folder)
            let port = try #require(server.address.split(separator: ":").last.map(String.init))
            let db = server.firestore
            let scores = db.collection("scores")
            for index in 0..<4 { try await scores.document("n\(index)").setData(["points": index]) }
            var snapshots = scores.order(by: "points", descending: true).limit(to: 3).snapshots.makeAsyncIterator()
            #expect(described(try await snapshots.next()) == ["+n3@0", "+n2@1", "+n1@2"])
            for (round, signal) in [SIGTERM, SIGKILL].enumerated() {
                let next = 4 + round * 2
                _ = try await server.stop(with: signal)
                server = try await TestServer(data: folder, port: port)
                for index in [next, next + 1] { try await scores.document("n\(index)").setData(["points": index]) }
                #expect(described(try await snapshots.next()) == ["-n\(next - 3)@2", "+n\(next)@0"])
                #expect(described(try await snapshots.next()) == ["-n\(next - 2)@2", "+n\(next + 1)@0"])
            }
            try await db.terminate()
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `ends, under writes by many, with what reading gives`() async throws {
        try await withServer { server in
            let db = server.firestore
            let notes = db.collection("notes")
            let queries: [HearthClient.Query] = [
                notes, notes.whereField("n", isGreaterThan: 4), notes.order(by: "n", descending: true).limit(to: 5),
                notes.order(by: "n").limit(toLast: 4), notes.whereField("even", isEqualTo: true).order(by: "n").start(at: [2]),
                db.collectionGroup("notes").whereFilter(
                    .orFilter([.whereField("n", isLessThan: 3), .whereField("even", isEqualTo: false)])
                ),
            ]
            let seed = SeededGenerator.currentSeed
            try await withThrowingTaskGroup(of: Void.self) { group in
                for query in queries {
                    group.addTask {
                        var replayed: [QueryDocumentSnapshot] = []
                        for try await snapshot in query.snapshots {
                            for change in snapshot.documentChanges {
                                if change.oldIndex != UInt(NSNotFound) {
                                    #expect(replayed.remove(at: Int(change.oldIndex)).reference == change.document.reference)
                                }
                                if change.newIndex != UInt(NSNotFound) {
                                    replayed.insert(change.document, at: Int(change.newIndex))
                                }
                            }
                            #expect(replayed == snapshot.documents, "HEARTH_TEST_SEED=\(seed)")
                            // A last write that all queries see says that there is no more to come.
                            guard try await db.document("state/written").getDocument().exists else { continue }
                            if try await query.getDocuments().documents == snapshot.documents { return }
                        }
                    }
                }
                group.addTask {
                    try await withThrowingTaskGroup(of: Void.self) { writers in
                        for writer in 0..<4 {
                            writers.addTask {
                                var random = SeededGenerator(seed: seed &+ UInt64(writer))
                                for _ in 0..<15 {
                                    let n = Int.random(in: 0..<10, using: &random)
                                    let document = notes.document("d\(Int.random(in: 0..<12, using: &random))")
                                    if n == 0 {
                                        try await document.delete()
                                    } else {
                                        try await document.setData(["n": n, "even": n.isMultiple(of: 2)])
                                    }
                                }
                            }
                        }
                        try await writers.waitForAll()
                    }
                    try await db.document("state/written").setData([:])
                    // Whatever was last, each result changes once more.
                    for (id, n) in [("y", 20), ("z", 21)] {
                        try await notes.document(id).setData(["n": n, "even": n.isMultiple(of: 2)])
                    }
                }
                try await group.waitForAll()
            }
            try await db.terminate()
        }
    }
}
