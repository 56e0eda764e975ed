import HearthClient

// Examples of the documentation; see MappingSnippets.

enum ChangeSnippets {
    typealias Book = MappingSnippets.Book

    static func write(_ db: Firestore, _ reference: DocumentReference) async throws -> Int {
        var book = try await reference.getDocument(as: Book.self)
        book.numberOfPages += 1
        try reference.setData(from: book)

        let added = try db.collection("books").addDocument(
            from: Book(title: "Mostly Harmless", numberOfPages: 240, author: "Douglas Adams")
        )

        try reference.setData(from: book, merge: true)
        try reference.setData(from: book, mergeFields: ["title", "numberOfPages"])

        try await reference.updateData([
            "numberOfPages": FieldValue.increment(12),
            "cover.small": "https://example.org/small.jpg",
            "genres": FieldValue.arrayUnion(["Comedy"]),
            "subtitle": FieldValue.delete(),
            "changed": FieldValue.serverTimestamp(),
        ])

        let batch = db.batch()
        try batch.setData(from: book, forDocument: db.collection("books").document("copy"))
        batch.deleteDocument(added)
        try await batch.commit()

        let pages = try await db.runTransaction { transaction in
            let book = try await transaction.getDocument(reference).data(as: Book.self)
            transaction.updateData(["numberOfPages": book.numberOfPages + 1], forDocument: reference)
            return book.numberOfPages + 1
        }
        return pages
    }

    static func listen(_ db: Firestore) {
        let registration = db.collection("books").addSnapshotListener { snapshot, error in
            guard let snapshot else {
                print(error.map { "\($0)" } ?? "")
                return
            }
            for change in snapshot.documentChanges {
                print(change.type, change.document.documentID)
            }
        }
        registration.remove()
    }

    static func iterate(_ reference: DocumentReference) async throws {
        for try await snapshot in reference.snapshots {
            let book = try snapshot.data(as: Book?.self)
            print(book?.title ?? "gone")
        }
    }
}
