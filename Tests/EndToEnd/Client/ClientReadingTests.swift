import Foundation
import HearthClient
import Testing

@Suite("Client reads", .timeLimit(.minutes(10)))
struct ClientReadingTests {
    @Test func `Reads a document as a type, with await and with a completion handler`() async throws {
        try await withGuide { db in
            let expected = Book(
                id: "hitchhiker",
                title: "The Ultimate Hitchhiker's Guide to the Galaxy",
                numberOfPages: 816,
                author: "Douglas Adams"
            )
            let reference = db.collection("books").document("hitchhiker")
            #expect(try await reference.getDocument(as: Book.self) == expected)
            let book = try await withCheckedThrowingContinuation { continuation in
                reference.getDocument(as: Book.self) { result in
                    dispatchPrecondition(condition: .onQueue(.main))
                    continuation.resume(with: result)
                }
            }
            #expect(book == expected)
            let snapshot = try await withCheckedThrowingContinuation { continuation in
                reference.getDocument { snapshot, error in
                    continuation.resume(with: Result { try snapshot ?? { throw error ?? CancellationError() }() })
                }
            }
            #expect(try snapshot.data(as: Book.self) == expected)
        }
    }

    @Test func `Reads the fields of a snapshot`() async throws {
        try await withGuide { db in
            let snapshot = try await db.document("books/hitchhiker-image-urls").getDocument()
            #expect(snapshot.exists)
            #expect(snapshot.documentID == "hitchhiker-image-urls")
            #expect(snapshot.reference == db.collection("books").document("hitchhiker-image-urls"))
            #expect(snapshot.data()?["numberOfPages"] as? Int == 816)
            #expect(snapshot.get("cover.small") as? String == "https://covers.openlibrary.org/b/id/10555691-S.jpg")
            #expect(snapshot[FieldPath(["cover", "large"])] as? String == "https://covers.openlibrary.org/b/id/10555691-L.jpg")
            #expect(snapshot["nothing"] == nil)
            #expect(!snapshot.metadata.isFromCache && !snapshot.metadata.hasPendingWrites)
        }
    }

    @Test func `Reads a missing document`() async throws {
        try await withGuide { db in
            let reference = db.collection("books").document("does-not-exist")
            let snapshot = try await reference.getDocument()
            #expect(!snapshot.exists)
            #expect(snapshot.data() == nil)
            #expect(try await reference.getDocument(as: Book?.self) == nil)
            let error = await #expect(throws: DecodingError.self) { try await reference.getDocument(as: Book.self) }
            guard case .valueNotFound(_, let context) = error else { throw TestFailure("\(String(describing: error))") }
            #expect(context.debugDescription.contains("books/does-not-exist"))
        }
    }

    @Test func `Reports a type mismatch with its location`() async throws {
        try await withGuide { db in
            let error = await #expect(throws: DecodingError.self) {
                try await db.collection("books").document("invalid-data").getDocument(as: Book.self)
            }
            guard case .typeMismatch(let type, let context) = error else { throw TestFailure("\(String(describing: error))") }
            #expect(ObjectIdentifier(type) == ObjectIdentifier(Int.self))
            #expect(context.codingPath.map(\.stringValue) == ["numberOfPages"])
            #expect(context.debugDescription == "Expected to decode Int, found a string. (document books/invalid-data)")

            let missing = await #expect(throws: DecodingError.self) {
                try await db.document("programming-languages/3yDHZpqFGBgXNRfdxVX6").getDocument(as: ProgrammingLanguage.self)
            }
            guard case .keyNotFound(let key, _) = missing else { throw TestFailure("\(String(describing: missing))") }
            #expect(key.stringValue == "language_name")
        }
    }

    @Test func `Decodes nested types, arrays and colors`() async throws {
        try await withGuide { db in
            let books = db.collection("books")
            let cover = try await books.document("hitchhiker-image-urls").getDocument(as: BookWithCoverImages.self)
            #expect(cover.cover?.medium == URL(string: "https://covers.openlibrary.org/b/id/10555691-M.jpg"))
            #expect(cover.color == HexColor(hex: "#fd1c48"))
            #expect(
                try await books.document("hitchhiker-genre").getDocument(as: BookWithGenre.self).genres == ["Sci-Fi", "Comedy"]
            )
            let tags = try await books.document("hitchhiker-tags").getDocument(as: BookWithTags.self).tags
            #expect(tags.map(\.title) == ["fun", "series"])
            #expect(tags.map(\.color.hex) == ["#ec4be9", "#b0f566"])
        }
    }

    @Test func `Reads a collection with a document that does not match the type`() async throws {
        try await withGuide { db in
            let languages = try await db.collection("programming-languages").getDocuments()
            #expect(languages.count == 4)
            #expect(!languages.isEmpty)
            #expect(languages.documentChanges.map(\.type) == [.added, .added, .added, .added])
            let results = languages.documents.map { document in Result { try document.data(as: ProgrammingLanguage.self) } }
            #expect(results.compactMap { try? $0.get().name } == ["BASIC", "Swift", "TypeScript"])
            #expect(languages.documents[0].data()["name"] as? String == "Ada")
            let swift = try results[2].get()
            #expect(swift.year == Date(timeIntervalSince1970: 1_410_249_647))
            #expect(swift.reasonWhyILoveThis == "")

            let offices = try await db.collection("locations").getDocuments().documents.map { try $0.data(as: Office.self) }
            #expect(offices.map(\.id) == ["googleHAM", "googleNYC", "googleSFO", "googleUK", "googleplex"])
            #expect(offices[0].location == GeoPoint(latitude: 53.553986, longitude: 9.9856482))
            let colors = try await db.collection("colors").getDocuments().documents.map { try $0.data(as: ColorEntry.self) }
            #expect(colors.map(\.color.hex) == ["#f05138", "#d52c67"])
            #expect(try await db.collection("nothing").getDocuments().isEmpty)
        }
    }

    @Test func `Reads many documents concurrently`() async throws {
        try await withServer { server in
            let db = server.firestore
            // Larger in total than the maximum response size.
            let text = String(repeating: "x", count: 900_000)
            for number in 0..<20 { try await db.document("large/\(number)").setData(["text": text, "number": number]) }
            try await withThrowingTaskGroup { group in
                for number in 0..<60 {
                    group.addTask {
                        let large = try await db.document("large/\(number)").getDocument()
                        #expect(large.exists == (number < 20))
                        #expect(large.get("number") as? Int == (number < 20 ? number : nil))
                        let missing = try await db.document("small/\(number)").getDocument(as: [String: Int]?.self)
                        #expect(missing == nil)
                    }
                }
                try await group.waitForAll()
            }
            try await db.terminate()
        }
    }

    @Test func `References have paths and parents`() async throws {
        let db = Firestore(settings: FirestoreSettings())
        let review = db.collection("books").document("a").collection("reviews").document("r")
        #expect(review.path == "books/a/reviews/r")
        #expect(review == db.document("books/a/reviews/r"))
        #expect(review.parent == db.collection("books/a/reviews"))
        #expect(review.parent.parent == db.collection("books").document("a"))
        #expect(review.parent.collectionID == "reviews")
        #expect(db.collection("books").parent == nil)
        #expect(db.collection("books").document("a/reviews/r") == review)
        let automatic = db.collection("books").document().documentID
        #expect(automatic.utf8.count == 20)
        #expect(automatic != db.collection("books").document().documentID)
        #expect(db.document("a/b") != Firestore(settings: FirestoreSettings()).document("a/b"))
    }

    @Test func `A released database closes its connections`() async throws {
        try await withServer { server in
            weak var dropped: Firestore?
            do {
                let db = server.firestore
                dropped = db
                let snapshot = try await db.document("a/b").getDocument()
                #expect(!snapshot.exists)
                for try await snapshot in db.collection("a").snapshots {
                    #expect(snapshot.isEmpty)
                    break
                }
            }
            // The last tasks that used it may still be finishing.
            while dropped != nil { await Task.yield() }
        }
    }

    @Test func `Errors have Firestore's codes`() async throws {
        let settings = FirestoreSettings()
        settings.host = "127.0.0.1:1"
        settings.isSSLEnabled = false
        let db = Firestore(settings: settings)
        var codes: [FirestoreErrorCode.Code] = []
        do {
            _ = try await db.document("a/b").getDocument()
        } catch FirestoreErrorCode.unavailable {
            codes.append(.unavailable)
        }
        do {
            _ = try await db.document("a/b").getDocument(source: .cache)
        } catch let error as NSError {
            #expect(error.domain == FirestoreErrorDomain)
            #expect(error.code == FirestoreErrorCode.unavailable.rawValue)
            codes.append(.unavailable)
        }
        #expect(codes.count == 2)
        try await db.terminate()
        let error = await #expect(throws: FirestoreError.self) { try await db.document("a/b").getDocument() }
        #expect(error?.code == FirestoreErrorCode.failedPrecondition.rawValue)
    }
}

struct TestFailure: Error {
    let text: String

    init(_ text: String) { self.text = text }
}
