import Foundation
import HearthClient
import TestSupport
import Testing

@Suite("Client query listeners", .tags(.slow), .timeLimit(.minutes(10)))
struct ClientQueryListeningTests {
    /// Summarizes the changes of a snapshot: `-a@1`, `+b@0`, `~c@2>0`.
    private func summary(_ snapshot: QuerySnapshot?) -> [String] {
        (snapshot?.documentChanges ?? []).map { change in
            switch change.type {
            case .removed: "-\(change.document.documentID)@\(change.oldIndex)"
            case .added: "+\(change.document.documentID)@\(change.newIndex)"
            case .modified: "~\(change.document.documentID)@\(change.oldIndex)>\(change.newIndex)"
            }
        }
    }

    @Test func `Reports documents that enter and leave the result because of a limit`() async throws {
        try await withServer { server in
            let db = server.firestore
            let scores = db.collection("scores")
            for (id, points) in [("a", 1), ("b", 2), ("c", 3)] { try await scores.document(id).setData(["points": points]) }
            let best = scores.order(by: "points", descending: true).limit(to: 2)
            var snapshots = best.snapshots.makeAsyncIterator()
            #expect(summary(try await snapshots.next()) == ["+c@0", "+b@1"])
            try await scores.document("d").setData(["points": 9])
            #expect(summary(try await snapshots.next()) == ["-b@1", "+d@0"])
            try await scores.document("d").delete()
            #expect(summary(try await snapshots.next()) == ["-d@0", "+b@1"])
            try await scores.document("b").updateData(["points": 10])
            #expect(summary(try await snapshots.next()) == ["~b@1>0"])
            // Writes that do not affect the result are not reported.
            try await scores.document("a").updateData(["points": 0])
            try await scores.document("x").setData(["other": 1])
            let batch = db.batch()
            batch.deleteDocument(scores.document("c"))
            batch.setData(["points": 5], forDocument: scores.document("e"))
            batch.updateData(["points": 11], forDocument: scores.document("b"))
            try await batch.commit()
            #expect(summary(try await snapshots.next()) == ["-c@1", "+e@1", "~b@0>0"])

            var last = scores.order(by: "points").limit(toLast: 2).snapshots.makeAsyncIterator()
            #expect(summary(try await last.next()) == ["+e@0", "+b@1"])
            try await scores.document("f").setData(["points": 20])
            #expect(summary(try await last.next()) == ["-e@0", "+f@1"])
            try await db.terminate()
        }
    }

    @Test func `Reports documents that start or stop matching a filter`() async throws {
        try await withGuide { db in
            let books = db.collection("books")
            var snapshots = books.whereField("author", isEqualTo: "Peter").snapshots.makeAsyncIterator()
            let first = try await snapshots.next()
            #expect(summary(first) == ["+invalid-data@0"])
            #expect((try? first?.documents[0].data(as: Book.self)) == nil)
            try await books.document("hitchhiker").updateData(["author": "Peter"])
            let second = try #require(try await snapshots.next())
            #expect(summary(second) == ["+hitchhiker@0"])
            // A document that cannot be decoded does not affect the other.
            #expect(second.documents.compactMap { try? $0.data(as: Book.self) }.map(\.id) == ["hitchhiker"])
            try await books.document("invalid-data").updateData(["author": "Paul"])
            #expect(summary(try await snapshots.next()) == ["-invalid-data@1"])
            var nothing = books.whereField("author", isEqualTo: "Nobody").snapshots.makeAsyncIterator()
            #expect(try await nothing.next()?.isEmpty == true)
        }
    }

    @Test func `Listens to a collection group`() async throws {
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

    @Test func `Resumes after restarts of the server without missing or repeating changes`() async throws {
        try await withTemporaryFolder { folder in
            var server = try await EndToEndServer(data: folder)
            let port = try #require(server.address.split(separator: ":").last.map(String.init))
            let db = server.firestore
            let scores = db.collection("scores")
            for index in 0..<4 { try await scores.document("n\(index)").setData(["points": index]) }
            var snapshots = scores.order(by: "points", descending: true).limit(to: 3).snapshots.makeAsyncIterator()
            #expect(summary(try await snapshots.next()) == ["+n3@0", "+n2@1", "+n1@2"])
            for (round, signal) in [SIGTERM, SIGKILL].enumerated() {
                let next = 4 + round * 2
                _ = try await server.stop(with: signal)
                server = try await EndToEndServer(data: folder, port: port)
                for index in [next, next + 1] { try await scores.document("n\(index)").setData(["points": index]) }
                // Commits made while the client was away may be told at once.
                let expected = (0..<3).map { "n\(next + 1 - $0)" }
                var (shown, added, removed): ([String], [String], [String]) = ([], [], [])
                while shown != expected {
                    let snapshot = try #require(try await snapshots.next())
                    shown = snapshot.documents.map(\.documentID)
                    for change in snapshot.documentChanges {
                        let id = change.document.documentID
                        if change.type == .removed { removed.append(id) } else { added.append(id) }
                    }
                    try #require(added.count <= 2 && removed.count <= 2, "\(added) \(removed)")
                }
                #expect(Set(added) == ["n\(next)", "n\(next + 1)"])
                #expect(Set(removed) == ["n\(next - 3)", "n\(next - 2)"])
            }
            try await db.terminate()
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `Concurrent writes lead to the same result as a read`() async throws {
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
                            // A final write marks the end.
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
                    // Changes each result once more.
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
