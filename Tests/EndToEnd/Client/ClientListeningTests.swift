import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing

@Suite("Client listeners", .tags(.slow), .timeLimit(.minutes(10)))
struct ClientListeningTests {
    @Test func `A document listener receives the current state and every change`() async throws {
        try await withServer { server in
            let db = server.firestore
            let document = db.document("notes/a")
            var snapshots = document.snapshots.makeAsyncIterator()
            #expect(try await snapshots.next()?.exists == false)
            try await document.setData(["n": 1])
            #expect(try await snapshots.next()?.get("n") as? Int == 1)
            try await document.setData(["n": 1])
            try await document.setData(["n": 2])
            #expect(try await snapshots.next()?.get("n") as? Int == 2)
            try await document.delete()
            #expect(try await snapshots.next()?.exists == false)
            try await db.terminate()
        }
    }

    @Test func `A collection listener receives changes with indexes`() async throws {
        try await withGuide { db in
            let languages = db.collection("programming-languages")
            var snapshots = languages.snapshots.makeAsyncIterator()
            let first = try #require(try await snapshots.next())
            #expect(first.count == 4)
            #expect(first.documentChanges.map(\.newIndex) == [0, 1, 2, 3])
            let errors = first.documents.filter { (try? $0.data(as: ProgrammingLanguage.self)) == nil }
            #expect(errors.map(\.documentID) == ["3yDHZpqFGBgXNRfdxVX6"])

            let batch = db.batch()
            batch.updateData(["language_name": "Ada"], forDocument: languages.document("3yDHZpqFGBgXNRfdxVX6"))
            batch.deleteDocument(languages.document("JijOBVSn706HzXjbpTVD"))
            batch.setData(["language_name": "Zig", "year": Timestamp()], forDocument: languages.document("zig"))
            try await batch.commit()
            let second = try #require(try await snapshots.next())
            #expect(second.documentChanges.map(\.type) == [.removed, .added, .modified])
            #expect(second.documentChanges.map(\.oldIndex) == [1, UInt(NSNotFound), 0])
            #expect(second.documentChanges.map(\.newIndex) == [UInt(NSNotFound), 3, 0])
            #expect(
                try second.documents.map { try $0.data(as: ProgrammingLanguage.self).name } == [
                    "Ada", "Swift", "TypeScript", "Zig",
                ]
            )
        }
    }

    @Test func `The first snapshot includes queued writes`() async throws {
        try await withServer { server in
            let db = server.firestore
            for number in 0..<20 {
                let document = db.document("notes/\(number)")
                document.setData(["n": number], completion: nil)
                for try await snapshot in document.snapshots {
                    #expect(snapshot.get("n") as? Int == number)
                    break
                }
            }
            try await db.terminate()
        }
    }

    @Test func `A listener receives an empty result`() async throws {
        try await withServer { server in
            let db = server.firestore
            for try await snapshot in db.collection("nothing").snapshots {
                #expect(snapshot.isEmpty && snapshot.documentChanges.isEmpty)
                break
            }
            try await db.terminate()
        }
    }

    @Test func `A listener is called on the main queue, and not after its removal`() async throws {
        try await withServer { server in
            let db = server.firestore
            let document = db.document("notes/a")
            let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
            let registration = await MainActor.run {
                document.addSnapshotListener { snapshot, _ in
                    dispatchPrecondition(condition: .onQueue(.main))
                    continuation.yield(snapshot?.get("n") as? Int ?? 0)
                }
            }
            var iterator = numbers.makeAsyncIterator()
            #expect(await iterator.next() == 0)
            try await document.setData(["n": 1])
            #expect(await iterator.next() == 1)
            await MainActor.run {
                registration.remove()
                registration.remove()
            }
            try await document.setData(["n": 2])
            // By the time another listener receives the change, the removed one would have received it, too.
            for try await snapshot in document.snapshots where snapshot.get("n") as? Int == 2 { break }
            await MainActor.run { continuation.finish() }
            #expect(await iterator.next() == nil)
            try await db.terminate()
        }
    }

    @Test func `A listener resumes after restarts of the server without missing or repeating changes`() async throws {
        try await withTemporaryFolder { folder in
            var server = try await EndToEndServer(data: folder)
            let port = try #require(server.address.split(separator: ":").last.map(String.init))
            let db = server.firestore
            let collection = db.collection("notes")
            try await collection.document("n0").setData(["n": 0])
            var snapshots = collection.snapshots.makeAsyncIterator()
            #expect(try await snapshots.next()?.count == 1)
            for (round, signal) in [SIGTERM, SIGKILL, SIGTERM].enumerated() {
                let before = round * 3
                try await collection.document("n\(before + 1)").setData(["n": before + 1])
                let live = try #require(try await snapshots.next())
                #expect(live.documentChanges.map(\.document.documentID) == ["n\(before + 1)"])
                try await collection.document("n\(before + 2)").setData(["n": before + 2])
                _ = try await server.stop(with: signal)
                server = try await EndToEndServer(data: folder, port: port)
                try await collection.document("n\(before + 3)").setData(["n": before + 3])
                var changes: [String] = []
                while changes.count < 2 {
                    let snapshot = try #require(try await snapshots.next())
                    changes += snapshot.documentChanges.map { "\($0.type) \($0.document.documentID)" }
                }
                #expect(changes == ["added n\(before + 2)", "added n\(before + 3)"])
            }
            try await db.terminate()
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `A listener ends with an error`() async throws {
        try await withServer { server in
            let db = server.firestore
            for id in ["b", "bad"] { try await db.document("a/\(id)").setData([:]) }
            try Data("{".utf8).write(to: server.file("a/bad"))
            await #expect(throws: FirestoreError.self) {
                for try await _ in db.document("a/bad").snapshots {}
            }
            // In a collection, the damaged document is reported separately.
            for try await snapshot in db.collection("a").snapshots {
                #expect(snapshot.documents.map(\.documentID) == ["b"])
                #expect(snapshot.damaged.map(\.path) == ["a/bad"])
                break
            }
            try await db.terminate()
        }
    }
}
