import Foundation
import HearthClient
import Testing

@Suite("Client writes", .timeLimit(.minutes(10)))
struct ClientWritingTests {
    @Test func `Updates and adds documents of a type`() async throws {
        try await withGuide { db in
            let books = db.collection("books")
            var book = try await books.document("hitchhiker").getDocument(as: Book.self)
            book.numberOfPages = 817
            try books.document(book.id ?? "").setData(from: book)
            #expect(try await books.document("hitchhiker").getDocument(as: Book.self) == book)

            let added = try books.addDocument(from: Book(title: "New", numberOfPages: 1, author: "Me"))
            let read = try await added.getDocument(as: Book.self)
            #expect(read == Book(id: added.documentID, title: "New", numberOfPages: 1, author: "Me"))
            #expect(try await added.getDocument().data()?["id"] == nil)
        }
    }

    @Test func `Writes without await are committed in order and call back`() async throws {
        try await withServer { server in
            let db = server.firestore
            let document = db.document("notes/a")
            let errors = try await withCheckedThrowingContinuation { continuation in
                for number in 0..<20 { document.setData(["n": number]) }
                document.updateData(["m": 1])
                document.setData(["k": FieldValue.increment(1)], merge: true) { continuation.resume(returning: $0) }
            }
            #expect(errors == nil)
            let data = try await document.getDocument().data()
            #expect(data as? [String: Int] == ["n": 19, "m": 1, "k": 1])

            let error = await withCheckedContinuation { continuation in
                document.delete()
                document.updateData(["n": 1]) { continuation.resume(returning: $0) }
            }
            #expect(error.map { FirestoreErrorCode.notFound ~= $0 } == true)
            // A synchronous closure selects the overload without async.
            _ = { db.document("notes/b").setData(["n": 1]) }()
            try await db.waitForPendingWrites()
            #expect(try await db.document("notes/b").getDocument().exists)
            let invalid = await withCheckedContinuation { continuation in
                document.setData(["n": URL(filePath: "/")]) { continuation.resume(returning: $0) }
            }
            #expect(invalid.map { FirestoreErrorCode.invalidArgument ~= $0 } == true)
            try await db.terminate()
        }
    }

    @Test func `Supports all field values and sentinels`() async throws {
        try await withServer { server in
            let db = server.firestore
            let document = db.document("things/a")
            try await document.setData([
                "list": [1, 2], "count": 5, "gone": true, "inner": ["a": 1, "b": 2], "high": 5, "low": 5, "text": "x",
            ])
            try await document.updateData([
                "list": FieldValue.arrayUnion([2, 3]), "count": FieldValue.increment(2), "gone": FieldValue.delete(),
                "inner.a": FieldValue.increment(0.5), "high": FieldValue.maximum(7), "low": FieldValue.minimum(1),
                "time": FieldValue.serverTimestamp(), FieldPath(["dotted.name"]): "y", "vector": FieldValue.vector([1.0, 2.0]),
            ])
            let data = try #require(try await document.getDocument().data())
            #expect(data["list"] as? [Int] == [1, 2, 3])
            #expect(data["count"] as? Int == 7)
            #expect(data["gone"] == nil)
            #expect(data["high"] as? Int == 7)
            #expect(data["low"] as? Int == 1)
            #expect((data["inner"] as? [String: Any])?["a"] as? Double == 1.5)
            #expect(data["dotted.name"] as? String == "y")
            #expect(data["vector"] as? VectorValue == VectorValue([1, 2]))
            let time = try #require(data["time"] as? Timestamp)
            #expect(abs(time.dateValue().timeIntervalSinceNow) < 60)

            try await document.setData(["inner": ["b": 3], "list": FieldValue.arrayRemove([1, 3])], merge: true)
            try await document.setData(["text": "z", "count": 0], mergeFields: ["text"])
            let merged = try #require(try await document.getDocument().data())
            #expect((merged["inner"] as? [String: Any])?["a"] as? Double == 1.5)
            #expect((merged["inner"] as? [String: Any])?["b"] as? Int == 3)
            #expect(merged["list"] as? [Int] == [2])
            #expect(merged["text"] as? String == "z")
            #expect(merged["count"] as? Int == 7)
            try await document.delete()
            #expect(try await !document.getDocument().exists)
            try await db.terminate()
        }
    }

    @Test func `Supports explicit null, enums and server timestamps`() async throws {
        try await withServer { server in
            let db = server.firestore
            let reference = try await db.collection("articles").addDocument(data: ["title": "Draft", "status": "draft"])
            try reference.setData(from: Article(title: "Codable", status: .inReview))
            let data = try #require(try await reference.getDocument().data())
            #expect(data["status"] as? String == "in review")
            #expect(data["subtitle"] is NSNull)
            #expect(data["written"] is Timestamp)
            let article = try await reference.getDocument(as: Article.self)
            #expect(article.id == reference.documentID)
            #expect(article.status == .inReview)
            #expect(article.subtitle == nil)
            #expect(try abs(#require(article.written).timeIntervalSinceNow) < 60)

            struct Partial: Encodable {
                var title: String
                var note: String?
            }
            try reference.setData(from: Partial(title: "Changed"), merge: true)
            try reference.setData(from: Partial(title: "Ignored", note: "kept"), mergeFields: ["note"])
            let merged = try #require(try await reference.getDocument().data())
            #expect(merged["title"] as? String == "Changed")
            #expect(merged["note"] as? String == "kept")
            #expect(merged["status"] as? String == "in review")
            try await db.terminate()
        }
    }

    @Test func `A batch is atomic`() async throws {
        try await withServer { server in
            let db = server.firestore
            let (first, second) = (db.document("b/1"), db.document("b/2"))
            try await db.batch().setData(["n": 1], forDocument: first).setData(["n": 1], forDocument: second).commit()
            let batch = db.batch()
            batch.updateData(["n": 2], forDocument: first)
            batch.deleteDocument(second)
            batch.updateData(["n": 2], forDocument: db.document("b/3"))
            let error = await #expect(throws: FirestoreError.self) { try await batch.commit() }
            #expect(error?.path == "b/3")
            #expect(try await first.getDocument().data() as? [String: Int] == ["n": 1])
            #expect(try await second.getDocument().exists)

            let third = db.batch()
            try third.setData(from: Book(title: "x", numberOfPages: 1, author: "y"), forDocument: db.document("b/3"))
            third.setData(["bad": URL(filePath: "/")], forDocument: first)
            await #expect(throws: FirestoreError.self) { try await third.commit() }
            #expect(try await !db.document("b/3").getDocument().exists)
            try await db.terminate()
        }
    }
}
