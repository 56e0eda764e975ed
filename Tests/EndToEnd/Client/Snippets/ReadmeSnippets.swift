import HearthClient

/// The example in README.md.
enum ReadmeSnippets {
    static func listen() -> any ListenerRegistration {
        struct Book: Codable {
            @DocumentID var id: String?
            var title: String
            var numberOfPages: Int
            @ServerTimestamp var lastUpdated: Timestamp?
        }

        let books = Firestore.firestore().collection("books")
        let long = books.whereField("numberOfPages", isGreaterThan: 500)
            .order(by: "numberOfPages", descending: true)
            .limit(to: 10)
        let listener = long.addSnapshotListener { snapshot, error in
            print(snapshot?.documents.compactMap { try? $0.data(as: Book.self).title } ?? [])
        }
        return listener
    }
}
